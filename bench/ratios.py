# SPDX-License-Identifier: MIT
"""Prints ratios between the benchmarks of one run.

Usage: mopvm-bench --benchmark_format=json … > results.json; python3 ratios.py results.json

Of repetitions the fastest counts. The first table divides each execution by the same loop run
natively, the second divides loading by copying the same bytes.
"""

import json
import math
import sys


def fastest(path):
    """Nanoseconds by name: CPU time, or real time of what measures itself."""
    times = {}
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["benchmarks"]
    for run in runs:
        if run["run_type"] != "iteration" or run.get("error_occurred"):
            continue
        name, manual, _ = run["run_name"].partition("/manual_time")
        time = run["real_time" if manual else "cpu_time"]
        times[name] = min(time, times.get(name, math.inf))
    return times


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def executions(times):
    """How many times slower than native each kernel is on each engine, and the geometric mean."""
    prefix = "native/execute/"
    kernels = sorted(name[len(prefix):] for name in times if name.startswith(prefix))
    engines = sorted({
        name.split("/")[0] for name in times
        if name.split("/")[1] == "execute" and not name.startswith(prefix)})
    ratios = {
        engine: [times[f"{engine}/execute/{kernel}"] / times[prefix + kernel] for kernel in kernels]
        for engine in engines
    }
    rows = [[kernel, *(f"{ratios[engine][i]:.1f}" for engine in engines)]
            for i, kernel in enumerate(kernels)]
    rows.append(["geometric mean", *(f"{math.exp(sum(map(math.log, r)) / len(r)):.1f}"
                                     for r in ratios.values())])
    table(["native = 1", *engines], rows)


def loads(times):
    """Each stage of loading by the copy of the same name, creation by that of a whole program."""
    rows = []
    for name, time in times.items():
        engine, stage, program = name.split("/")
        copy = times.get(f"memcpy/load/{program}", times["memcpy/load/100KiB"])
        if engine != "memcpy" and stage in ("create", "load", "create+load+destroy"):
            rows.append([name, f"{time / copy:.2f}"])
    table(["memcpy = 1", "ratio"], sorted(rows))


measured = fastest(sys.argv[1])
if any(name.startswith("native/execute/") for name in measured):
    executions(measured)
if "memcpy/load/100KiB" in measured:
    loads(measured)
