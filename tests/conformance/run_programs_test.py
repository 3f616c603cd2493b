#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What run_programs.py passes and what it does not.

usage: run_programs_test.py MOPVM PROGRAM
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("run_programs.py")
MOPVM, PROGRAM = sys.argv[1:3]
CONFIGURATION = {"name": "v2", "version": 2, "isa": "imcb", "mop": "off"}


class RunPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(PROGRAM, self.folder / "one.elf")
        self.manifest = self.folder / "manifest.json"

    def run_with(self, programs, *options):
        self.manifest.write_text(json.dumps(
            {"configurations": [CONFIGURATION], "programs": programs}), encoding="utf8")
        done = subprocess.run(
            [sys.executable, "-B", RUNNER, "--mopvm", MOPVM, "--manifest", self.manifest,
             "--backends", "interpreter", *options, self.folder],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def recorded(self):
        self.assertEqual(self.run_with({"one": {}}, "--record")[0], 0)
        return json.loads(self.manifest.read_text(encoding="utf8"))["programs"]["one"]

    def test_passes_what_it_recorded(self):
        status, text = self.run_with({"one": self.recorded()})
        self.assertEqual((status, text), (
            0, "1 programs, 1 runs: 1 passed, 0 failed as stated, 0 problems\n"))

    def test_finds_other_cycles(self):
        stated = self.recorded()
        stated["cycles"]["v2"] += 1
        status, text = self.run_with({"one": stated})
        self.assertEqual(status, 1)
        self.assertIn(f"cycles, not {stated['cycles']['v2']}", text)

    def test_finds_another_exit(self):
        status, text = self.run_with({"one": {"exit": 77}})
        self.assertEqual(status, 1)
        self.assertIn("exit 0, not 77", text)

    def test_finds_another_output(self):
        status, text = self.run_with({"one": {"output": "0" * 64}})
        self.assertEqual(status, 1)
        self.assertIn("another output", text)

    def test_finds_a_program_that_the_machine_stops(self):
        (self.folder / "one.elf").write_bytes(b"no program")
        self.assertEqual(self.run_with({"one": {}})[0], 1)

    def test_lets_fail_what_is_stated_to_fail(self):
        (self.folder / "one.elf").write_bytes(b"no program")
        status, text = self.run_with({"one": {"fails": {"v2": "it is no program"}}})
        self.assertEqual(status, 0)
        self.assertIn("1 failed as stated", text)

    def test_finds_an_unexpected_pass(self):
        for where in ("v2", "all"):
            status, text = self.run_with({"one": {"fails": {where: "it should"}}})
            self.assertEqual(status, 1)
            self.assertIn("passed, but the manifest says why it cannot: it should", text)

    def test_finds_what_is_only_on_one_side(self):
        status, text = self.run_with({"other": {}})
        self.assertEqual(status, 1)
        self.assertIn("one: not in the manifest", text)
        self.assertIn("other: no such program", text)

    def test_does_not_pass_without_a_run(self):
        (self.folder / "one.elf").unlink()
        self.assertEqual(self.run_with({})[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
