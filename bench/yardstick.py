#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the engines against the same C code run natively and by QEMU, all in one run.

Builds nothing: mopvm-bench, mopvm and the kernels come from a finished build, the guests from
bench/guests/build. All tools take turns, round after round, and of each the fastest round counts.
Every result is checked; a wrong one ends the run.
"""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ratios import fastest, ratio_table, table

HERE = Path(__file__).resolve().parent
SECTIONS = ("micro", "straight", "guests", "costs")
QEMU = "qemu-riscv64"
SHORT, LONG = "sha256_loop", "sha256_straight"


class Kernels:
    """The rows of kernels.inc."""

    def __init__(self):
        rows = re.findall(r"^MOPVM_KERNEL\((\w+), (\d+), (\w+)\)$",
                          (HERE / "kernels/kernels.inc").read_text("utf-8"), re.M)
        self.size = {name: size for name, size, _ in rows}
        self.yardstick = [name for name, _, role in rows if role == "yardstick"]


def fail(text):
    sys.exit(f"yardstick.py: {text}")


def finished(command):
    """Output, wall time and CPU time in ns of a process that must exit with 0."""
    start = time.perf_counter_ns()
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        output = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter_ns() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        fail(f"ended with {process.returncode}: {shlex.join(process.args)}")
    return output, wall, round((usage.ru_utime + usage.ru_stime) * 1e9)


class Repeated:
    """The CPU time of one of many equal pieces of work of a process: start-up and translation fall
    out as the difference of a run with many and a run with one."""

    LONG_ENOUGH = 60_000_000  # ns

    def __init__(self, command, is_right):
        self.command = command
        self.is_right = is_right
        self.times = {}
        self.many = 1
        while self.measure(self.many) - self.times[1] < self.LONG_ENOUGH:
            self.many *= 4

    def measure(self, repeats):
        output, _, cpu = finished([*self.command, repeats])
        if not self.is_right(output, repeats):
            fail(f"{shlex.join(map(str, self.command))} {repeats} printed {output.strip()}")
        self.times[repeats] = min(cpu, self.times.get(repeats, math.inf))
        return cpu

    def round(self):
        self.measure(1)
        self.measure(self.many)

    @property
    def time(self):
        return (self.times[self.many] - self.times[1]) / (self.many - 1)


class Bench:
    """mopvm-bench, run again and again."""

    def __init__(self, options):
        self.command = [options.build / "bench/mopvm-bench",
                        f"--benchmark_min_time={options.min_time}"]
        self.runs = []

    def round(self, pattern, *words):
        """Runs the benchmarks whose whole names match the pattern."""
        output, _, _ = finished(
            [*self.command, "--benchmark_format=json", f"--benchmark_filter=^{pattern}$", *words])
        self.runs += json.loads(output)["benchmarks"]

    def times(self, stage):
        """By what runs, by program."""
        found = {}
        for name, nanoseconds in fastest(self.runs).items():
            what, its_stage, program = name.split("/")
            if its_stage == stage:
                found.setdefault(what, {})[program] = nanoseconds
        return found

    def counter(self, stage, counter):
        """By what runs, by program."""
        found = {}
        for run in self.runs:
            what, its_stage, program = run["run_name"].split("/")
            if its_stage == stage and counter in run:
                found.setdefault(what, {})[program] = run[counter]
        return found


def one_of(names):
    return "(" + "|".join(name.replace("+", "[+]") for name in names) + ")"


def engines_of(options):
    """All that mopvm-bench knows, or those that the user names."""
    listed, _, _ = finished([options.build / "bench/mopvm-bench", "--benchmark_list_tests"])
    known = sorted({line.split("/")[0] for line in listed.split()
                    if "/create/" in line})
    for engine in options.engines or []:
        if engine not in known:
            fail(f"there is no engine {engine}; there are: {' '.join(known)}")
    return options.engines or known


def tools_of(options):
    """What is compared with native code."""
    return options.engines + ([QEMU] if options.qemu else [])


def report_building(bench, engines):
    """What the blocks of whole programs cost."""
    print("Fetching, decoding, fusing and linking, ns (and bytes kept) per instruction of the whole "
          "program:\n")
    times, sizes = bench.times("build"), bench.counter("build", "bytes")
    counts = bench.counter("build", "instructions")[engines[0]]
    table(["ns (bytes)", *engines], [
        [program, *(f"{times[engine][program] / count:.1f} ({sizes[engine][program] / count:.0f})"
                    for engine in engines)] for program, count in counts.items()])


class KernelRuns:
    """Kernels on the engines, natively and under QEMU."""

    def __init__(self, options, names):
        kernels = Kernels()
        self.names = names
        self.engines = options.engines
        self.tools = tools_of(options)
        self.bench = Bench(options)
        self.pattern = f"{one_of(['native', *options.engines])}/execute/{one_of(names)}"
        self.emulated = {}
        elf = options.build / "bench/kernels.elf"
        for name in names if options.qemu else []:
            words = [elf, name, kernels.size[name]]
            one = int(finished([options.build / "tools/mopvm/mopvm", "run", *words, 1])[0])
            self.emulated[name] = Repeated(
                [options.qemu, *words],
                lambda output, repeats, one=one: int(output) == one * repeats % 2**64)

    def round(self):
        self.bench.round(self.pattern)
        for run in self.emulated.values():
            run.round()

    def times(self):
        """By what runs, by program."""
        times = self.bench.times("execute")
        if self.emulated:
            times[QEMU] = {name: run.time for name, run in self.emulated.items()}
        return times


class Micro(KernelRuns):
    """The seven micro programs."""

    def __init__(self, options):
        super().__init__(options, Kernels().yardstick)

    def report(self):
        times = self.times()
        native = {name: times["native"][name] for name in self.names}
        print("Micro programs, steady state, CPU time of a run relative to native code:\n")
        ratio_table("native", times, native, self.tools)
        if QEMU in self.tools:
            print(f"The same relative to {QEMU}:\n")
            ratio_table(QEMU, times, times[QEMU], self.engines)
        pairs = [engine for engine in self.engines if f"{engine}+mop" in self.engines]
        if pairs:
            print("Fusion on relative to off:\n")
            table(["off = 1", *pairs], [
                [name, *(f"{times[engine + '+mop'][name] / times[engine][name]:.3f}"
                         for engine in pairs)] for name in self.names])
        return times


class Straight(KernelRuns):
    """The same hash in a loop and in one line."""

    def __init__(self, options):
        super().__init__(options, [SHORT, LONG])

    def report(self):
        times = self.times()
        instructions = self.bench.counter("execute", "instructions")[self.engines[0]]
        each = {tool: [times[tool][name] / instructions[name] for name in self.names]
                for tool in self.tools}
        print("Straight-line code, steady state, ns of CPU time per guest instruction:\n")
        table(["ns", *self.tools], [
            *([name, *(f"{each[tool][i]:.2f}" for tool in self.tools)]
              for i, name in enumerate(self.names)),
            ["ratio", *(f"{each[tool][1] / each[tool][0]:.2f}" for tool in self.tools)]])
        return times


class Guests:
    """Real programs: as whole processes, and one check of many or of a fresh machine."""

    def __init__(self, options):
        self.engines = options.engines
        self.tools = tools_of(options)
        self.folder = options.guests
        self.bench = Bench(options)
        self.pattern = f"{one_of(self.engines)}/(execute|cold|build)/.*"
        self.processes, self.repeated = {}, {}
        guests = sorted(path.stem for path in self.folder.glob("*.elf"))
        if not guests:
            fail(f"{self.folder} has no guests; bench/guests/build makes them")
        mopvm = options.build / "tools/mopvm/mopvm"
        for guest in guests:
            elf = self.folder / f"{guest}.elf"
            commands = {"native": [self.folder / f"{guest}.native"]}
            if options.qemu:
                commands[QEMU] = [options.qemu, elf]
            for tool, command in commands.items():
                self.repeated[tool, guest] = Repeated(command, lambda output, _: output == "")
            for engine in self.engines:
                backend, plus, _ = engine.partition("+")
                commands[engine] = [mopvm, "run", "--backend", backend, "--mop",
                                    "on" if plus else "off", elf]
            for tool, command in commands.items():
                self.processes.setdefault(tool, {})[guest] = command
        self.wall = {tool: dict.fromkeys(guests, math.inf) for tool in self.processes}
        self.cpu = {tool: dict.fromkeys(guests, math.inf) for tool in self.processes}

    def round(self):
        for guest in self.wall["native"]:
            for tool, commands in self.processes.items():
                output, wall, cpu = finished(commands[guest])
                if output != "":
                    fail(f"{guest} by {tool} printed {output.strip()}")
                self.wall[tool][guest] = min(wall, self.wall[tool][guest])
                self.cpu[tool][guest] = min(cpu, self.cpu[tool][guest])
        for run in self.repeated.values():
            run.round()
        self.bench.round(self.pattern, f"--guests={self.folder}")

    def report(self):
        tools = list(self.processes)
        print("Guests, whole processes, wall time in ms (CPU time in ms):\n")
        table(["ms", *tools], [
            [guest, *(f"{self.wall[tool][guest] / 1e6:.1f} ({self.cpu[tool][guest] / 1e6:.1f})"
                      for tool in tools)] for guest in self.wall["native"]])
        if QEMU in self.tools:
            print(f"Guests, whole processes, wall time relative to {QEMU}:\n")
            ratio_table(QEMU, self.wall, self.wall[QEMU], self.engines)
        steady, cold = self.bench.times("execute"), self.bench.times("cold")
        for (tool, guest), run in self.repeated.items():
            steady.setdefault(tool, {})[guest] = run.time
        print("Guests, steady state, CPU time of a check relative to native code:\n")
        ratio_table("native", steady, steady["native"], self.tools)
        print("Guests, one cold run (create, load, decode, run) relative to a native check:\n")
        ratio_table("native", cold, steady["native"], self.engines)
        report_building(self.bench, self.engines)
        return {"wall": self.wall, "cpu": self.cpu, "steady": steady, "cold": cold}


class Costs:
    """What is paid before anything runs."""

    def __init__(self, options):
        self.engines = options.engines
        self.bench = Bench(options)
        self.pattern = f"{one_of(self.engines)}/(create[+]load[+]run|build)/.*"

    def round(self):
        self.bench.round(self.pattern)

    def report(self):
        exits = self.bench.times("create+load+run")
        print("Creating, loading and running a program that exits at once, µs:\n")
        table(["µs", *self.engines],
              [["exit", *(f"{exits[engine]['exit'] / 1e3:.1f}" for engine in self.engines)]])
        report_building(self.bench, self.engines)
        return {"exit": exits, "build": self.bench.times("build")}


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Examples:\n  bench/yardstick.py\n"
               "  bench/yardstick.py --build build/release --engines asm asm+mop --rounds 11\n"
               "  bench/yardstick.py --only guests --guests build/guests/bin --json results.json")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build/release",
                        help="folder of a finished Release build (build/release)")
    parser.add_argument("--guests", type=Path, default=HERE.parent / "build/guests/bin",
                        help="folder of GUEST.elf and GUEST.native (build/guests/bin)")
    parser.add_argument("--qemu", default=shutil.which(QEMU),
                        help=f"the emulator ({QEMU} of the path; without it its columns are left out)")
    parser.add_argument("--engines", nargs="+", metavar="ENGINE",
                        help="such as interpreter or interpreter+mop (all that can run here)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION",
                        help=f"some of {', '.join(SECTIONS)} (all; guests if their folder is there)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of every tool (5)")
    parser.add_argument("--min-time", type=float, default=0.02,
                        help="seconds for each benchmark of mopvm-bench in a round (0.02)")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write all times in ns there, too")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    for path, advice in (("bench/mopvm-bench", "build the preset release first"),
                         ("tools/mopvm/mopvm", "build the preset release first"),
                         ("bench/kernels.elf", "its build found no RISC-V compiler")):
        if not (options.build / path).exists():
            fail(f"{options.build} has no {path}; {advice}")
    options.only = options.only or [section for section in SECTIONS
                                    if section != "guests" or options.guests.is_dir()]
    options.engines = engines_of(options)
    return options


def main():
    options = parsed()
    made = {"micro": Micro, "straight": Straight, "guests": Guests, "costs": Costs}
    sections = {name: made[name](options) for name in options.only}
    for number in range(options.rounds):
        print(f"Round {number + 1} of {options.rounds}", file=sys.stderr)
        for section in sections.values():
            section.round()
    times = {name: section.report() for name, section in sections.items()}
    if options.json:
        options.json.write_text(json.dumps(times, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
