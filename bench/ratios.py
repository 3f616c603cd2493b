# SPDX-License-Identifier: MIT
"""Prints ratios between the benchmarks of one run.

Usage: mopvm-bench --benchmark_format=json … > results.json; python3 ratios.py results.json

Of repetitions the fastest counts. The first table divides each execution by the same loop run
natively, the second divides loading by copying the same bytes. The third has no ratios, but the
nanoseconds that adversarial guests take for each cycle.
"""

import json
import math
import sys


def fastest(runs):
    """Nanoseconds by name: CPU time, or real time of what measures itself."""
    times = {}
    for run in runs:
        if run["run_type"] != "iteration" or run.get("error_occurred"):
            continue
        name, manual, _ = run["run_name"].partition("/manual_time")
        time = run["real_time" if manual else "cpu_time"]
        times[name] = min(time, times.get(name, math.inf))
    return times


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def ratio_table(title, times, base, tools):
    """The times by program of every tool divided by those of the base, and the geometric means."""
    ratios = {tool: [times[tool][program] / base[program] for program in base] for tool in tools}
    rows = [[program, *(f"{ratios[tool][i]:.2f}" for tool in tools)]
            for i, program in enumerate(base)]
    rows.append(["geometric mean", *(f"{geometric_mean(ratios[tool]):.2f}" for tool in tools)])
    table([f"{title} = 1", *tools], rows)


def executions(times):
    """How many times slower than native each kernel is on each engine."""
    prefix = "native/execute/"
    native = {name[len(prefix):]: times[name] for name in sorted(times) if name.startswith(prefix)}
    engines = sorted({
        name.split("/")[0] for name in times
        if name.split("/")[1] == "execute" and not name.startswith(prefix)})
    by_engine = {engine: {kernel: times[f"{engine}/execute/{kernel}"] for kernel in native}
                 for engine in engines}
    ratio_table("native", by_engine, native, engines)


def loads(times):
    """Each stage of loading by the copy of the same name, creation by that of a whole program."""
    rows = []
    for name, time in times.items():
        engine, stage, program = name.split("/")
        copy = times.get(f"memcpy/load/{program}", times["memcpy/load/100KiB"])
        if engine != "memcpy" and stage in ("create", "load", "create+load+destroy"):
            rows.append([name, f"{time / copy:.2f}"])
    table(["memcpy = 1", "ratio"], sorted(rows))


def adversaries(runs):
    """Nanoseconds per cycle of each adversary on each engine."""
    costs = {}
    for run in runs:
        parts = run["run_name"].split("/")
        if parts[1] == "adversarial" and run["run_type"] == "iteration" and "per_cycle" in run:
            row = costs.setdefault(parts[2], {})
            row[parts[0]] = min(run["per_cycle"] * 1e9, row.get(parts[0], math.inf))
    if costs:
        engines = sorted({engine for row in costs.values() for engine in row})
        table(["ns per cycle", *engines],
              [[name, *(f"{row[engine]:.3g}" for engine in engines)] for name, row in costs.items()])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = json.load(file)["benchmarks"]
    measured = fastest(runs)
    if any(name.startswith("native/execute/") for name in measured):
        executions(measured)
    if "memcpy/load/100KiB" in measured:
        loads(measured)
    adversaries(runs)


if __name__ == "__main__":
    main()
