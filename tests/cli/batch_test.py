# SPDX-License-Identifier: MIT
"""Batches: one case a line, one JSON object a line."""

import base64
import json
import shlex
import subprocess
import unittest

import cli
from guest import *


class Batch(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.exit = self.file("exit.elf", elf(exit_with(5)))

    def writer(self, name, data, *calls):
        """A guest that writes the data as `calls` (descriptor, offset, length) say."""
        code = b"".join(call(WRITE, fd, DATA + offset, length) for fd, offset, length in calls)
        return self.file(name, elf(code + exit_with(0), data))

    def test_one_object_a_line_in_order(self):
        lines = [f"--memory {size}M {self.exit}" for size in (1, 2, 4, 8)]
        results = self.batch(*lines)
        self.assertEqual([result["config"]["memory"] >> 20 for result in results], [1, 2, 4, 8])
        self.assertEqual({result["exit_code"] for result in results}, {5})
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(list(results[0])[-3:], ["stdout", "stderr", "truncated"])

    def test_results_come_as_soon_as_they_are_known(self):
        process = self.start("run", "--batch", "-", stdin=subprocess.PIPE)
        for _ in range(3):
            process.stdin.write(self.exit.encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["exit_code"], 5)
        process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(process.returncode, 0)

    def test_words_are_quoted_as_in_the_shell(self):
        printer = self.file("print.elf", elf(b"".join(
            load(A0, 8 * (i + 1), SP) + call(DEBUG_PRINT, None) for i in range(1, 6)) + exit_with(0)))
        words = ["--", "a b", "", "it's", '"\\$x']
        result, = self.batch(shlex.join([printer, *words]))
        self.assertEqual(result["stderr"].split("\n")[:-1], words)
        result, = self.batch(printer + r""" -- "a b" '' it\'s "\"\\\$x" """)
        self.assertEqual(result["stderr"].split("\n")[:-1], words)

    def test_bad_lines_do_not_end_it(self):
        lines = ["", "   ", "'open", self.exit + " 'open", "--bogus " + self.exit, "--memory 5 " + self.exit, "--stats", "--help",
                 self.path("missing.elf"), self.folder, "--batch x", "--stdin - " + self.exit,
                 "--stdin " + self.path("missing") + " " + self.exit, "--backend jit " + self.exit, self.exit + "\0", self.exit]
        results = self.batch(*lines)
        self.assertEqual(len(results), len(lines))
        for number, result in enumerate(results[:-1], 1):
            self.assertEqual(list(result), ["status", "line", "message"], lines[number - 1])
            self.assertEqual((result["status"], result["line"]), ("usage_error", number))
            self.assertNotEqual(result["message"], "")
        self.assertEqual(results[-1]["exit_code"], 5)
        self.assertEqual(self.process.returncode, cli.STATUS_PROBLEM)

    def test_errors_of_guests_are_processed_lines(self):
        broken = self.file("broken.elf", b"")
        results = self.batch(broken, "--vm-version 0 --mop on " + self.exit, "--max-cycles 1 " + self.exit)
        self.assertEqual([result["error"] for result in results], ["elf_parse_error", "invalid_version", "cycles_exceeded"])
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(self.process.stderr, b"")

    def test_output_is_captured(self):
        guest = self.writer("w.elf", "out, ärr\0".encode(), (1, 0, 5), (2, 5, 5), (1, 0, 4))
        result, = self.batch(guest)
        self.assertEqual((result["stdout"], result["stderr"], result["truncated"]), ("out, out,", "ärr\0", False))

    def test_output_that_is_no_text(self):
        guest = self.writer("w.elf", b"\xff\0ab", (1, 0, 4))
        result, = self.batch(guest)
        self.assertNotIn("stdout", result)
        self.assertEqual(base64.b64decode(result["stdout_base64"]), b"\xff\0ab")
        self.assertEqual(result["stderr"], "")

    def test_output_is_cut_at_one_mebibyte(self):
        # Two-byte characters, of which the limit cuts one in the middle.
        data = b"x" + "ä".encode() * 32767 + b"y"
        exact = self.writer("exact.elf", b"z" * 65536, *[(1, 0, 65536)] * 16)
        more = self.writer("more.elf", b"z" * 65536, *[(2, 0, 65536)] * 16, (2, 0, 1))
        cut = self.writer("cut.elf", data, (1, 65535, 1), *[(1, 1, 65534)] * 17)
        results = self.batch(exact, more, cut)
        self.assertEqual((len(results[0]["stdout"]), results[0]["truncated"]), (1 << 20, False))
        self.assertEqual((len(results[1]["stderr"]), results[1]["truncated"]), (1 << 20, True))
        self.assertEqual(results[2]["truncated"], True)
        self.assertEqual(len(results[2]["stdout"].encode()), (1 << 20) - 1)

    def test_input_is_empty_unless_a_line_names_a_file(self):
        copy = self.file("copy.elf", elf(call(READ, 0, DATA, 64) + add(A2, A0, ZERO) + call(WRITE, 1, DATA) + exit_with(0), bss=64))
        text = self.file("a text", b"some input")
        results = self.batch(copy, f"--stdin '{text}' {copy}", copy)
        self.assertEqual([result["stdout"] for result in results], ["", "some input", ""])

    def test_options_in_front_hold_for_every_line(self):
        results = self.batch(self.exit, "--vm-version 2 " + self.exit, words=("--vm-version", "1", "--stats"))
        self.assertEqual([result["config"]["vm_version"] for result in results], [1, 2])
        self.assertEqual([result["operations"] for result in results], [3, 3])

    def test_from_a_file(self):
        cases = self.file("cases", f"{self.exit}\n{self.exit}\n".encode())
        done = self.mopvm("run", "--batch", cases)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))
        self.assert_problem(self.mopvm("run", "--batch", self.path("missing")), "missing")
        self.assert_problem(self.mopvm("run", "--batch", self.folder), "directory")
        self.assertEqual(self.mopvm("run", "--batch", "/dev/null").returncode, 0)
        self.assertEqual(self.batch(), [])

    def test_a_line_may_ask_for_a_copy(self):
        result, = self.batch(f"--json {self.path('copy.json')} {self.exit}")
        with open(self.path("copy.json")) as copy:
            self.assertEqual(json.load(copy), result)
        self.assertEqual(len(self.batch(f"--json - {self.exit}")), 1)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = self.mopvm("run", "--batch", "-", input=self.exit.encode(), stdout=full, stderr=subprocess.PIPE)
        self.assert_problem(done, "stdout")

    def test_lines_do_not_see_each_other(self):
        grow = self.file("brk.elf", elf(call(BRK, DATA + 8192) + call(EXIT, 0), bss=8))
        count = self.file("zero.elf", elf(li(A1, DATA) + load(A0, 0, A1) + addi(T0, A0, 1) + store(T0, 0, A1) + EXIT_A0, bss=8))
        results = self.batch(grow, count, count, grow, count)
        self.assertEqual([result["exit_code"] for result in results], [0] * 5)
        self.assertEqual(results[0]["registers"], results[3]["registers"])


if __name__ == "__main__":
    cli.main()
