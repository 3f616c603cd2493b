# SPDX-License-Identifier: MIT
"""Option values, good and bad, of all subcommands; help and version."""

import subprocess
import unittest

import cli
from guest import *

GOOD = {
    "--backend": ["interpreter"],
    "--mop": ["on", "off"],
    "--vm-version": ["0", "1", "2"],
    "--isa": ["imc", "imcb", "imca", "imcab"],
    "--cost": ["standard", "constant", "zero"],
    "--max-cycles": ["503", "18446744073709551615"],
    "--memory": ["256K", "262144", "4M", "4194304", "1024K", "1024M", "1073741824"],
    "--argv0": ["name", "", "-x"],
    "--syscalls": ["ckb", "posix"],
    "--log-level": ["trace", "debug", "info", "warn", "error", "critical", "off"],
}
BAD = {
    "--backend": ["", "jit", "Interpreter", "auto", "\x1b[2J"],
    "--mop": ["", "ON", "true", "1"],
    "--vm-version": ["", "3", "-1", "+1", "01", "two", "4294967296"],
    "--isa": ["", "imac", "gc", "IMC", "imcba"],
    "--cost": ["", "free"],
    "--max-cycles": ["", "-1", "+1", "1.5", "1e6", "0x10", " 1", "1 ", "18446744073709551616", "9" * 1000],
    "--memory": ["", "0", "0K", "-4M", "1", "4095", "262143", "262145", "255K", "300K", "4", "4G", "4MB", "M", "K", "4 M",
                 "1025M", "2048M", "18446744073709551616", "17592186044416M", "18014398509481984K", "0x400000", "99999999999999999999M"],
    "--syscalls": ["", "linux", "CKB"],
    "--json": [""],
    "--stdin": [""],
    "--batch": [""],
    "--log-level": ["", "loud", "WARN"],
}


class RunOptions(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.guest = self.file("guest.elf", elf(exit_with(5)))

    def test_good_values(self):
        for option, values in GOOD.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assertEqual(self.mopvm("run", option, value, self.guest).returncode, 5)
                    self.assertEqual(self.mopvm("run", option + "=" + value, self.guest).returncode, 5)

    def test_bad_values_are_named(self):
        for option, values in BAD.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    done = self.mopvm("run", option, value, self.guest)
                    said = option.strip("-") if option != "--backend" else "backend"
                    self.assert_problem(done, said)
                    self.assertNotIn(b"\x1b", done.stderr)
                    self.assertEqual(done.stdout, b"")

    def test_options_without_their_value(self):
        for option in GOOD:
            self.assert_problem(self.mopvm("run", option), option)

    def test_unknown_options_and_values_for_flags(self):
        for words in (["--bogus"], ["-x"], ["--stats=yes"], ["--no-argv0=1"], ["--host-time=no"], ["--jso", "-"], ["--=", "x"], ["---"]):
            self.assert_problem(self.mopvm("run", *words, self.guest))

    def test_the_last_of_several_values_counts(self):
        self.assertEqual(self.run_json("--memory", "8M", "--memory=1M", self.guest)["config"]["memory"], 1 << 20)

    def test_elf_is_needed(self):
        for words in ([], ["--stats"], ["--"]):
            self.assert_problem(self.mopvm("run", *words), "ELF")
        self.assert_problem(self.mopvm("run", "--batch", "/dev/null", self.guest), "--batch")

    def test_an_engine_that_is_not_built_in_is_refused(self):
        done = self.mopvm("run", "--backend", "jit", self.guest)
        self.assert_problem(done, "'jit'", "not built in", "interpreter")

    def test_fusion_defaults_to_off_in_version_0(self):
        for version, mop, isa in (("0", "off", "imc"), ("1", "on", "imcb"), ("2", "on", "imcb")):
            config = self.run_json("--vm-version", version, self.guest)["config"]
            self.assertEqual((config["mop"], config["isa"]), (mop, isa))

    def test_limits_of_the_cycle_limit(self):
        cycles = self.run_json(self.guest)["cycles"]
        self.assertEqual(self.mopvm("run", "--max-cycles", str(cycles), self.guest).returncode, 5)
        result = self.run_json("--max-cycles", str(cycles - 1), self.guest)
        self.assertEqual((result["error"], result["cycles"]), ("cycles_exceeded", 2))
        self.assertEqual(self.run_json("--max-cycles", "0", self.guest)["cycles"], 0)

    def test_the_log_is_on_stderr(self):
        done = self.mopvm("run", "--log-level", "info", self.guest)
        self.assertIn(b"loaded", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_host_time_is_opt_in(self):
        guest = self.file("time.elf", elf(call(113, 0, DATA) + EXIT_A0, bss=16))
        self.assertEqual(self.run_json(guest)["error_detail"], {"number": 113})
        self.assertEqual(self.mopvm("run", "--host-time", guest).returncode, 0)


class OtherCommands(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.guest = self.file("guest.elf", elf(exit_with(5)))

    def test_help_has_examples_everywhere(self):
        for words in (["--help"], ["-h"], ["run", "--help"], ["compare", "--help"], ["info", "--help"], ["disasm", "-h"]):
            done = self.mopvm(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"Usage: mopvm ", done.stdout)
            self.assertIn(b"Examples:", done.stdout)
        for option in (*GOOD, "--no-argv0", "--stats", "--json", "--batch", "--stdin", "--host-time"):
            self.assertIn(option.encode(), self.mopvm("run", "--help").stdout)

    def test_version(self):
        done = self.mopvm("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rb"^mopvm \d+\.\d+\.\d+\n$")

    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            self.assert_problem(self.mopvm("--help", stdout=full, stderr=subprocess.PIPE), "stdout")

    def test_unknown_subcommands(self):
        self.assert_problem(self.mopvm(), "subcommand")
        for name in ("trace", "profile", "advise", "coverage", "debug", "snapshot", "Run", "", "--bogus"):
            self.assert_problem(self.mopvm(name), "subcommand")

    def test_bad_options_of_info_and_disasm(self):
        for command in ("info", "disasm"):
            for words in (["--vm-version", "3"], ["--isa", "x"], ["--bogus"], ["--stats"], [self.guest]):
                self.assert_problem(self.mopvm(command, *words, self.guest))
            self.assert_problem(self.mopvm(command), "ELF")
            self.assert_problem(self.mopvm(command, self.folder), "directory")
            self.assert_problem(self.mopvm(command, self.path("missing")), "missing")
        self.assert_problem(self.mopvm("info", "--memory", "0", self.guest), "memory")

    def test_options_of_info_and_disasm_may_follow_elf(self):
        for command in ("info", "disasm"):
            for words in ((self.guest, "--json"), ("--json", self.guest), ("--json", "-", self.guest)):
                done = self.mopvm(command, *words)
                self.assertEqual(done.returncode, 0, done)
                self.assertTrue(done.stdout.startswith(b'{"elf":'))


if __name__ == "__main__":
    cli.main()
