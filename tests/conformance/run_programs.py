#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a folder of ELF programs in every configuration and compares with what a manifest states.

The manifest is a JSON object:

  "configurations"  objects with "version", "isa", "mop" ("on" or "off") and a name; each runs on
                    every backend
  "programs"        by name, the file's without .elf:
      "exit"        status of the guest, 0 if not given
      "output"      SHA-256 of what it writes; not compared if not given
      "cycles"      by name of the configuration; those not given are not compared
      "fails"       by name of the configuration, or "all": why the program cannot pass there.
                    A program that passes nevertheless is a failure, too.

A program without an entry, and an entry without a program, are failures.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_SECONDS = 60
NO_OUTPUT = hashlib.sha256(b"").hexdigest()


def arguments():
    parser = argparse.ArgumentParser(
        description="Runs a folder of ELF programs in every configuration of a manifest.",
        epilog="Example: run_programs.py --mopvm build/release/tools/mopvm/mopvm "
               "--manifest suite.json programs/")
    parser.add_argument("programs", type=pathlib.Path, help="folder of *.elf")
    parser.add_argument("--manifest", type=pathlib.Path, required=True)
    parser.add_argument("--mopvm", required=True, help="the command")
    parser.add_argument("--backends", default="interpreter,asm", metavar="NAME,…",
                        help="(interpreter,asm)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (2)")
    parser.add_argument("--record", action="store_true",
                        help="write cycles and output of what passes into the manifest; look at the "
                             "difference before you keep it")
    return parser.parse_args()


def run(mopvm, path, backend, configuration):
    """What one run came to: exit, cycles, output, and a text if the machine stopped it."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run(
            [mopvm, "run", "--backend", backend, "--mop", configuration["mop"], "--vm-version",
             str(configuration["version"]), "--isa", configuration["isa"], "--json", report.name,
             str(path)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        told = report.read()
    made = json.loads(told) if told else {}
    stopped = made.get("status") != "exited"
    return {
        "exit": None if stopped else made["exit_code"],
        "cycles": made.get("cycles"),
        "output": hashlib.sha256(done.stdout).hexdigest(),
        "error": done.stderr.decode(errors="replace").partition("\n")[0] if stopped else "",
    }


def difference(wanted, name, got):
    """Why @p got is not what the manifest states; empty if it is."""
    if got["error"]:
        return got["error"]
    if got["exit"] != wanted.get("exit", 0):
        return f"exit {got['exit']}, not {wanted.get('exit', 0)}"
    if "output" in wanted and got["output"] != wanted["output"]:
        return "another output"
    cycles = wanted.get("cycles", {}).get(name)
    if cycles is not None and got["cycles"] != cycles:
        return f"{got['cycles']} cycles, not {cycles}"
    return ""


def text_of(manifest):
    """A line for each configuration and each program."""
    def lines(items):
        return ",\n".join(f"  {item}" for item in items)

    configurations = lines(json.dumps(each) for each in manifest["configurations"])
    programs = lines(f"{json.dumps(name)}: {json.dumps(stated)}"
                     for name, stated in sorted(manifest["programs"].items()))
    return (f'{{\n "configurations": [\n{configurations}\n ],\n'
            f' "programs": {{\n{programs}\n }}\n}}\n')


def main():
    options = arguments()
    manifest = json.loads(options.manifest.read_text(encoding="utf8"))
    programs = {path.stem: path for path in sorted(options.programs.glob("*.elf"))}
    stated = manifest["programs"]
    failures = [f"{name}: not in the manifest" for name in programs if name not in stated]
    failures += [f"{name}: no such program" for name in stated if name not in programs]

    runs = [(program, backend, configuration)
            for program in programs if program in stated
            for configuration in manifest["configurations"]
            for backend in options.backends.split(",")]
    passed = 0
    excused = 0
    cycles = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda each: run(options.mopvm, programs[each[0]], *each[1:]), runs)
        for done, ((program, backend, configuration), got) in enumerate(zip(runs, results), 1):
            name = configuration["name"]
            wanted = stated[program]
            if options.record:
                wanted = {key: wanted[key] for key in ("exit", "fails") if key in wanted}
            problem = difference(wanted, name, got)
            reasons = wanted.get("fails", {})
            excuse = reasons.get(name) or reasons.get("all")
            if excuse and problem:
                excused += 1
            elif excuse:
                failures.append(f"{program}, {name}, {backend}: passed, but the manifest says why "
                                f"it cannot: {excuse}")
            elif problem:
                failures.append(f"{program}, {name}, {backend}: {problem}")
            else:
                passed += 1
            if not problem:
                if cycles.setdefault((program, name), got["cycles"]) != got["cycles"]:
                    failures.append(f"{program}, {name}: backends differ in cycles")
                if options.record:
                    if got["output"] != NO_OUTPUT:
                        stated[program]["output"] = got["output"]
                    stated[program].setdefault("cycles", {})[name] = got["cycles"]
            if sys.stderr.isatty():
                print(f"\r{done} of {len(runs)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)

    if options.record:
        options.manifest.write_text(text_of(manifest), encoding="utf8")
    for failure in failures:
        print(failure)
    print(f"{len(programs)} programs, {len(runs)} runs: {passed} passed, {excused} failed as stated, "
          f"{len(failures)} problems")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
