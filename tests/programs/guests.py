#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the example guests.

usage: guests.py run COMMAND [OPTION…] [--without=GUEST,…] GUESTS
                                               every line of expected.tsv, with mopvm or qemu-riscv64
       guests.py fusion MOPVM GUESTS            the fused operations of fusion/expected.tsv
       guests.py rebuild GUESTS                 sources and committed programs agree, byte for byte
"""
import filecmp
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def rows(path):
    with open(path, encoding="utf8") as file:
        names = file.readline().rstrip("\n").split("\t")
        return [dict(zip(names, line.rstrip("\n").split("\t"))) for line in file]


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


def expect(failures, what, wanted, got):
    if wanted != got:
        failures.append(f"{what}: want {wanted!r}, got {got!r}")


def run(words, guests):
    command, options = words[0], words[1:]
    left_out = []
    if options and options[-1].startswith("--without="):
        left_out = options.pop().removeprefix("--without=").split(",")
    if shutil.which(command) is None:
        print(f"{command} is not installed")
        return SKIPPED
    prefix = [command] + (["run"] + options if "qemu" not in os.path.basename(command) else [])
    failures = []
    lines = [row for row in rows(f"{guests}/expected.tsv") if row["guest"] not in left_out]
    for row in lines:
        arguments = [] if row["arguments"] == "-" else shlex.split(row["arguments"])
        stdin = os.devnull if row["stdin"] == "-" else f"{guests}/{row['stdin']}"
        what = f"{row['guest']} {row['arguments']}"
        with open(stdin, "rb") as given:
            done = subprocess.run(prefix + [f"{guests}/{row['guest']}.elf"] + arguments,
                                  stdin=given, capture_output=True, timeout=120, check=False)
        expect(failures, f"{what}: exit status", int(row["exit_code"]) & 255, done.returncode)
        expect(failures, f"{what}: output", unescape(row["stdout"]), done.stdout)
    return report(failures, len(lines))


def fusion(words, guests):
    failures = []
    lines = rows(f"{guests}/fusion/expected.tsv")
    for row in lines:
        for version in (1, 2):
            done = subprocess.run([words[0], "run", "--json", "-", "--stats", "--vm-version",
                                   str(version), f"{guests}/fusion/{row['guest']}.elf"],
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            fused = {rule: count for rule, count in json.loads(done.stdout)["fused"].items() if count}
            count = int(row["fused"]) if version >= int(row["since_version"]) else 0
            expect(failures, f"{row['guest']}, version {version}",
                   {row["guest"]: count} if count else {}, fused)
    return report(failures, 2 * len(lines))


def rebuild(_, guests):
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        print("riscv64-unknown-elf-gcc is not installed")
        return SKIPPED
    failures = []
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([f"{guests}/build", made], check=True)
        programs = [os.path.relpath(os.path.join(folder, name), made)
                    for folder, _, names in os.walk(made) for name in names if name.endswith(".elf")]
        for program in programs:
            committed = f"{guests}/{program}"
            if not (os.path.exists(committed)
                    and filecmp.cmp(committed, f"{made}/{program}", shallow=False)):
                failures.append(f"{program} is not what its source makes; run {guests}/build")
            if os.path.getsize(f"{made}/{program}") > 64 << 10:
                failures.append(f"{program} is larger than 64 KiB")
    return report(failures, len(programs))


def report(failures, count):
    for failure in failures:
        print("FAIL", failure)
    print(f"{count} checked, {len(failures)} failed")
    return 1 if failures or not count else 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "fusion", "rebuild"):
        print(__doc__)
        return 2
    return {"run": run, "fusion": fusion, "rebuild": rebuild}[sys.argv[1]](sys.argv[2:-1],
                                                                          sys.argv[-1])


if __name__ == "__main__":
    sys.exit(main())
