# SPDX-License-Identifier: MIT
"""Comparisons: what is run, what is reported, what it takes to agree, and Ctrl-C."""

import json
import os
import pty
import re
import signal
import subprocess
import unittest

import cli
from guest import *

RULES = ["adc", "sbb", "wide_mul", "wide_mulu", "wide_mulsu", "wide_div", "wide_divu", "far_jump_rel", "far_jump_abs",
         "load_const_lui", "load_const_auipc", "adcs", "sbbs", "add3a", "add3b", "add3c"]

# One wide_mulu: 5 cycles for both halves, or 10.
FUSED = mulhu(A1, A0, A2) + mul(A2, A0, A2)
CYCLES_OFF, CYCLES_ON = 512, 507
SPIN = jal(ZERO, 0)


class CompareTest(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.guest = self.file("guest.elf", elf(FUSED + exit_with(0)))

    def compare(self, *words, status=0, **options):
        """The JSON object of a comparison, with `process` beside it."""
        done = self.mopvm("compare", "--repeat", "2", "--json", "-", *words, **options)
        self.process = done
        self.assertEqual(done.returncode, status, done)
        return json.loads(done.stdout)

    def backends(self):
        """The engines that can run here, as the command lists them."""
        done = self.mopvm("compare", "--backend", "none", self.guest)
        return re.search(r"there is: (.*)", done.stderr.decode())[1].split(", ")


class Figures(CompareTest):
    def test_counts_of_both_settings(self):
        fusion = self.compare(self.guest)["fusion"]
        off, on = fusion["off"], fusion["on"]
        self.assertEqual((off["cycles"], off["operations"], off["instructions"]), (CYCLES_OFF, 5, 5))
        self.assertEqual((on["cycles"], on["operations"], on["instructions"]), (CYCLES_ON, 4, 5))
        for counted, setting in ((off, "off"), (on, "on")):
            self.assertEqual((counted["status"], counted["exit_code"]), ("exited", 0))
            self.assertEqual((counted["config"]["mop"], counted["config"]["stats"]), (setting, True))
            self.assertEqual(list(counted["fused"]), RULES)
        self.assertEqual((off["fused_operations"], off["fused_percent"], sum(off["fused"].values())), (0, 0, 0))
        self.assertEqual((on["fused_operations"], on["fused_percent"]), (1, 25))
        self.assertEqual({rule: count for rule, count in on["fused"].items() if count}, {"wide_mulu": 1})

    def test_the_counted_runs_are_those_of_run(self):
        fusion = self.compare(self.guest)["fusion"]
        for setting in ("off", "on"):
            expected = self.run_json("--stats", "--mop", setting, "--backend", fusion[setting]["config"]["backend"], self.guest)
            del expected["host"]
            self.assertEqual({key: fusion[setting][key] for key in expected}, expected)

    def test_keys(self):
        result = self.compare(self.guest)
        self.assertEqual(list(result), ["status", "problems", "repeat", "fusion", "change_percent", "series"])
        self.assertEqual((result["status"], result["problems"], result["repeat"]), ("agreed", [], 2))
        self.assertEqual(self.process.stderr, b"")

    def test_series_of_every_engine(self):
        guest = self.file("loop.elf", elf(li(A1, 10_000) + addi(A1, A1, -1) + bne(A1, ZERO, -4) + exit_with(0)))
        series = self.compare(guest)["series"]
        expected = [(backend + mop, backend, setting) for backend in self.backends() for mop, setting in (("", "off"), ("+mop", "on"))]
        self.assertEqual([(name, one["backend"], one["mop"]) for name, one in series.items()], expected)
        for one in series.values():
            for temperature in ("cold", "warm"):
                self.assertGreater(one[temperature]["run_ns"], 0)
                self.assertIsInstance(one[temperature]["tsc_cycles"], (int, type(None)))

    def test_one_engine(self):
        result = self.compare("--backend", "interpreter", self.guest)
        self.assertEqual(list(result["series"]), ["interpreter", "interpreter+mop"])
        self.assertEqual(result["fusion"]["on"]["config"]["backend"], "interpreter")
        self.assert_problem(self.mopvm("compare", "--backend", "jit", self.guest), "'jit'", "not built in")

    def test_changes_in_percent(self):
        result = self.compare(self.guest)
        changes, series = result["change_percent"], result["series"]
        self.assertAlmostEqual(changes["cycles"], 100 * (CYCLES_ON - CYCLES_OFF) / CYCLES_OFF)
        self.assertAlmostEqual(changes["operations"], -20)
        for backend in self.backends():
            for figure in ("run_ns", "tsc_cycles"):
                off, on = (series[name]["warm"][figure] for name in (backend, backend + "+mop"))
                if off:
                    self.assertAlmostEqual(changes[figure][backend], 100 * (on - off) / off)
                else:
                    self.assertIsNone(changes[figure][backend])

    def test_no_change_of_nothing(self):
        changes = self.compare("--cost", "zero", self.guest)["change_percent"]
        self.assertIsNone(changes["cycles"])
        self.assertAlmostEqual(changes["operations"], -20)

    def test_warm_runs_find_the_code_decoded(self):
        """Thousands of instructions that are run once: nearly all of a cold run is decoding."""
        guest = self.file("long.elf", elf(addi(A0, A0, 1) * 5000 + exit_with(0)))
        for one in self.compare("--repeat", "5", guest)["series"].values():
            self.assertLess(one["warm"]["run_ns"], one["cold"]["run_ns"])

    def test_options_of_run_hold(self):
        for words, key, value in ((("--vm-version", "1"), "vm_version", 1), (("--isa", "imcab"), "isa", "imcab"),
                                  (("--cost", "constant"), "cost", "constant"), (("--memory", "8M"), "memory", 8 << 20),
                                  (("--argv0", "x"), "argv0", "x"), (("--no-argv0",), "argv0", None),
                                  (("--syscalls", "ckb"), "syscalls", "ckb"), (("--max-cycles", "600"), "max_cycles", 600)):
            self.assertEqual(self.compare(*words, self.guest)["fusion"]["on"]["config"][key], value)


class Tables(CompareTest):
    def tables(self, *words, status=0):
        """The rows of the output, split at wide gaps."""
        done = self.mopvm("compare", *words)
        self.assertEqual(done.returncode, status, done)
        self.text = done.stdout.decode()
        return [re.split(r"  +", line.strip()) for line in self.text.splitlines()]

    def test_figures_stand_side_by_side(self):
        rows = self.tables(self.guest)
        self.assertEqual(rows[0], [self.guest + ", VM version 2, fastest of 5 runs each"])
        for row in (["fusion off", "fusion on", "change"], ["end", "exit code 0", "exit code 0"], ["VM cycles", "512", "507", "-0.98 %"],
                    ["instructions", "5", "5", "0.00 %"], ["operations", "5", "4", "-20.00 %"], ["fused operations", "0", "1"],
                    ["host time, warm"], ["host time, cold"],
                    ["fused operation", "executed", "of all operations"], ["wide_mulu", "1", "25.00 %"], ["all of them", "1", "25.00 %"]):
            self.assertIn(row, rows)
        self.assertEqual(rows[-1][0], "all of them")
        for heading in ("host time, warm", "host time, cold"):
            at = rows.index([heading]) + 1
            self.assertEqual([row[0] for row in rows[at:at + len(self.backends())]], self.backends())
            for _, off, on, change in rows[at:at + len(self.backends())]:
                self.assertRegex(off, r"^\d+ ns$")
                self.assertRegex(on, r"^\d+ ns$")
                self.assertRegex(change, r"^[+-]?\d+\.\d\d %$")

    def test_columns_are_aligned(self):
        self.tables(self.guest)
        first = self.text.split("\n\n")[1].splitlines()
        end = first[0].index("fusion off") + len("fusion off")
        for line in first:
            self.assertEqual(line, line.rstrip())
            if len(line) > end:
                self.assertNotEqual(line[end - 1], " ", line)
                self.assertEqual(line[end:end + 2], "  ", line)

    def test_rules_without_executions_are_left_out(self):
        self.tables(self.guest)
        for rule in set(RULES) - {"wide_mulu"}:
            self.assertNotIn(rule + " ", self.text)
        self.tables(self.file("plain.elf", elf(exit_with(0))))
        self.assertTrue(self.text.endswith("\n\nNo operation was fused.\n"))

    def test_long_times_are_in_milliseconds(self):
        loop = li(A1, 3_000_000) + addi(A1, A1, -1) + bne(A1, ZERO, -4)
        rows = self.tables("--repeat", "1", "--backend", "interpreter", self.file("loop.elf", elf(loop + exit_with(0))))
        at = rows.index(["host time, warm"]) + 1
        self.assertRegex(rows[at][1], r"^\d+\.\d{3} ms$")

    def test_names_cannot_write_to_the_terminal(self):
        self.tables(self.file("x\x1b[31m.elf", elf(exit_with(0))))
        self.assertNotIn("\x1b", self.text)

    def test_json_to_a_file_beside_the_tables(self):
        self.tables("--json", self.path("out.json"), self.guest)
        self.assertIn("VM cycles", self.text)
        with open(self.path("out.json")) as result:
            self.assertEqual(json.load(result)["status"], "agreed")

    def test_a_reader_that_goes_away_is_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with open(write_end, "wb") as nobody:
            done = self.mopvm("compare", "--json", self.path("out.json"), self.guest, stdout=nobody, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(self.path("out.json")) as result:
            self.assertEqual(json.load(result)["status"], "agreed")

    def test_what_cannot_be_written_is_said(self):
        self.assert_problem(self.mopvm("compare", "--json", "/dev/full", self.guest), "/dev/full")
        self.assert_problem(self.mopvm("compare", "--json", self.path("no/folder"), self.guest), "no/folder")
        with open("/dev/full", "wb") as full:
            self.assert_problem(self.mopvm("compare", self.guest, stdout=full, stderr=subprocess.PIPE), "stdout")


class Guests(CompareTest):
    def test_exit_codes_are_no_failures(self):
        for code in (1, 7, 125, 255):
            result = self.compare(self.file("exit.elf", elf(FUSED + exit_with(code))))
            self.assertEqual(result["fusion"]["on"]["exit_code"], code - (code >> 7 << 8))

    def test_words_behind_elf_go_to_the_guest(self):
        argc = self.file("argc.elf", elf(load(A0, 0, SP) + EXIT_A0))
        result = self.compare(argc, "--", "--help", "", "--repeat=0")
        self.assertEqual(result["fusion"]["off"]["exit_code"], 5)

    def test_output_is_not_shown(self):
        guest = self.file("loud.elf", elf(call(WRITE, 1, DATA, 3) + call(WRITE, 2, DATA, 3) + exit_with(0), b"@@@"))
        done = self.mopvm("compare", guest)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"@", done.stdout)

    # Exits with the last byte of the longest input that it takes.
    LAST_BYTE = call(READ, 0, DATA, 200_000) + li(A1, DATA - 1) + add(A1, A1, A0) + load(A0, 0, A1, width=0) + EXIT_A0

    def test_every_run_gets_the_same_input(self):
        guest = self.file("read.elf", elf(self.LAST_BYTE, bss=200_000))
        for length, more in ((1, 0), (65536, 0), (65537, 0), (199_999, 0), (200_000, 0), (200_000, 1), (200_000, 100_000)):
            given = bytes(length - 1) + b"\x2a" + bytes(more)
            self.assertEqual(self.compare(guest, input=given)["fusion"]["on"]["exit_code"], 42)
            text = self.file("input", given)
            self.assertEqual(self.compare("--stdin", text, guest)["fusion"]["on"]["exit_code"], 42)

    def test_input_that_is_read_in_pieces(self):
        code = b"".join(call(READ, 0, DATA + 8 * i, 2) for i in range(3)) + li(A1, DATA + 16) + load(A0, 0, A1, width=1) + EXIT_A0
        guest = self.file("pieces.elf", elf(code, bss=64))
        self.assertEqual(self.compare(guest, input=b"....\x11\0..")["fusion"]["on"]["exit_code"], 17)
        self.assertEqual(self.compare(guest, input=b"....\x12")["fusion"]["on"]["exit_code"], 18)
        self.assertEqual(self.compare(guest, input=b"...")["fusion"]["on"]["exit_code"], 0)

    def test_input_that_nobody_wants_is_not_waited_for(self):
        process = self.start("compare", "--repeat", "2", self.guest, stdin=subprocess.PIPE)
        try:
            self.assertEqual(process.wait(timeout=cli.TIMEOUT), 0)
        finally:
            process.communicate()

    def test_input_that_cannot_be_read(self):
        self.assert_problem(self.mopvm("compare", "--stdin", self.path("missing"), self.guest), "missing")
        guest = self.file("read.elf", elf(self.LAST_BYTE, bss=200_000))
        with open(self.path("write-only"), "wb") as unreadable:
            done = subprocess.run([cli.command, "compare", guest], stdin=unreadable, capture_output=True, timeout=cli.TIMEOUT)
        self.assert_problem(done, "io", "input")


class Disagreement(CompareTest):
    def test_an_exit_code_that_depends_on_fusion(self):
        result = self.compare(self.file("cycles.elf", elf(FUSED + call(CURRENT_CYCLES) + EXIT_A0)), status=cli.STATUS_VM_ERROR)
        problem, = result["problems"]
        self.assertEqual(result["status"], "disagreed")
        codes = [result["fusion"][setting]["exit_code"] for setting in ("off", "on")]
        self.assertEqual(codes[0] - codes[1], 5)
        self.assertIn(f"exit code {codes[1]} instead of exit code {codes[0]}", problem)
        self.assertEqual(self.process.stderr.decode(), f"mopvm: {problem}\n")
        # The figures are right all the same.
        self.assertIsNotNone(result["series"]["interpreter+mop"]["warm"])

    def test_output_that_depends_on_fusion(self):
        cycles = FUSED + call(CURRENT_CYCLES) + li(A1, DATA) + store(A0, 2, A1)
        for fd, stream in ((1, "stdout"), (2, "stderr")):
            guest = self.file("cycles.elf", elf(cycles + call(WRITE, fd, DATA, 8) + exit_with(0), bss=16))
            result = self.compare(guest, status=cli.STATUS_VM_ERROR)
            self.assertEqual(result["status"], "disagreed")
            self.assertIn(f"{stream} differs at byte 2", result["problems"][0])
            cut = self.file("cut.elf", elf(cycles + call(WRITE, fd, DATA, 2) + exit_with(0), bss=16))
            self.assertEqual(self.compare(cut)["status"], "agreed")

    def test_the_length_of_output_that_is_too_long_to_be_kept(self):
        size = 2 << 20
        code = FUSED + call(CURRENT_CYCLES) + add(A2, A0, ZERO) + call(WRITE, 1, DATA, None) + call(WRITE, 1, DATA, size)
        guest = self.file("flood.elf", elf(code + exit_with(0), bss=size))
        result = self.compare(guest, status=cli.STATUS_VM_ERROR)
        self.assertRegex(result["problems"][0], r": \d{7} bytes of stdout instead of \d{7}")

    def test_an_error_in_one_setting(self):
        """A limit that the program keeps only when it is fused."""
        for limit, status in ((CYCLES_ON - 1, "error"), (CYCLES_ON, "exited"), (CYCLES_OFF - 1, "exited")):
            result = self.compare("--max-cycles", str(limit), self.guest, status=cli.STATUS_VM_ERROR)
            self.assertEqual((result["status"], len(result["problems"])), ("error", 2))
            self.assertEqual((result["fusion"]["off"]["error"], result["fusion"]["on"]["status"]), ("cycles_exceeded", status))
            lines = self.process.stderr.decode().splitlines()
            self.assertTrue(lines[0].startswith("mopvm: fusion off: cycles_exceeded at pc 0x"), lines)
            self.assertTrue(lines[1].startswith("mopvm: fusion on: "), lines)
        self.assertIn("fusion on: the guest exited with code 0", result["problems"])
        self.assertEqual(self.compare("--max-cycles", str(CYCLES_OFF), self.guest)["status"], "agreed")

    def test_an_error_in_both_settings(self):
        guest = self.file("bad.elf", elf(FUSED + word(0xFFFFFFFF)))
        result = self.compare(guest, status=cli.STATUS_VM_ERROR)
        self.assertEqual([result["fusion"][setting]["error"] for setting in ("off", "on")], ["invalid_instruction"] * 2)
        self.assertEqual(result["fusion"]["on"]["fused"]["wide_mulu"], 1)
        self.assertIsNotNone(result["series"]["interpreter"]["warm"])
        done = self.mopvm("compare", guest)
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertRegex(done.stdout.decode(), r"end +invalid_instruction +invalid_instruction\n")

    def test_a_program_that_is_refused(self):
        far = elf(b"", segments=[(0x500000, 5, FUSED, len(FUSED))], entry=0x500000)
        for content, error in ((b"\x7fELF", "elf_parse_error"), (far, "mem_out_of_bound")):
            guest = self.file("bad.elf", content)
            result = self.compare(guest, status=cli.STATUS_VM_ERROR)
            self.assertEqual((result["status"], len(result["problems"])), ("error", 2))
            self.assertEqual(result["fusion"]["on"]["error"], error)
            for one in result["series"].values():
                self.assertEqual((one["cold"], one["warm"]), (None, None))
            done = self.mopvm("compare", guest)
            self.assertEqual((done.returncode, done.stdout), (cli.STATUS_VM_ERROR, b""))
            self.assertIn(error.encode(), done.stderr)


class Words(CompareTest):
    def test_how_often(self):
        for value, said in (("1", "one run each"), ("3", "fastest of 3 runs each"), ("0002", "fastest of 2 runs each")):
            self.assertIn(said, self.mopvm("compare", "--repeat", value, self.guest).stdout.decode())
        for value in ("", "0", "-1", "+1", "1.5", "many", "1000001", "9" * 100):
            done = self.mopvm("compare", "--repeat", value, self.guest)
            self.assert_problem(done, "--repeat")
            self.assertEqual(done.stdout, b"")

    def test_options_that_leave_nothing_to_compare(self):
        for value in ("on", "off"):
            self.assert_problem(self.mopvm("compare", "--mop", value, self.guest), "--mop", "off and on")
            self.assert_problem(self.mopvm("compare", "--mop=" + value, self.guest), "--mop", "off and on")
        self.assert_problem(self.mopvm("compare", "--host-time", self.guest), "--host-time", "time")
        self.assert_problem(self.mopvm("compare", "--vm-version", "0", self.guest), "version 0", "fusion")
        for option in ("--stats", "--batch"):
            self.assert_problem(self.mopvm("compare", option, self.guest), option)
        self.assertNotIn("--mop ", self.mopvm("compare", "--help").stdout.decode())

    def test_elf_is_needed(self):
        self.assert_problem(self.mopvm("compare"), "ELF")
        self.assert_problem(self.mopvm("compare", self.folder), "directory")
        self.assert_problem(self.mopvm("compare", self.path("missing")), "missing")


class Terminal(CompareTest):
    """A terminal on stderr shows the progress, which tells when it is time for Ctrl-C."""

    def start_on_terminal(self, *words, stdin=subprocess.DEVNULL):
        self.terminal, terminal = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.process = subprocess.Popen([cli.command, "compare", *words], stdin=stdin, stdout=subprocess.PIPE, stderr=terminal,
                                        preexec_fn=cli.restore_signals)
        os.close(terminal)

    def read_terminal(self, until=None):
        """What is shown until that text, or until the command ends."""
        shown = b""
        while until is None or until not in shown:
            try:
                shown += os.read(self.terminal, 4096)
            except OSError:  # nobody has the other end any more
                break
        return shown

    def interrupt(self, at):
        """Sends Ctrl-C once `at` is shown. Returns stdout and the rest of what is shown."""
        self.read_terminal(until=at)
        self.process.send_signal(signal.SIGINT)
        shown = self.read_terminal()
        out, _ = self.process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(self.process.returncode, cli.STATUS_INTERRUPTED, shown)
        self.assertTrue(shown.endswith(b"mopvm: Ctrl-C came before all runs were done\r\n"), shown)
        return out.decode()

    def written_json(self):
        with open(self.path("out.json")) as file:
            return json.load(file)

    def test_progress(self):
        self.start_on_terminal("--repeat", "1", "--backend", "interpreter", self.guest)
        steps = self.read_terminal().decode().split("\r\x1b[K")
        self.process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(self.process.returncode, 0)
        self.assertEqual(steps, ["",
            "mopvm: run 1 of 6: interpreter, counting", "mopvm: run 2 of 6: interpreter+mop, counting",
            "mopvm: run 3 of 6: interpreter, cold run 1", "mopvm: run 4 of 6: interpreter, warm run 1",
            "mopvm: run 5 of 6: interpreter+mop, cold run 1", "mopvm: run 6 of 6: interpreter+mop, warm run 1", ""])
        self.assertEqual(self.mopvm("compare", self.guest).stderr, b"")

    def test_interrupt_before_anything_is_known(self):
        self.start_on_terminal("--json", self.path("out.json"), self.file("spin.elf", elf(SPIN)))
        self.assertEqual(self.interrupt(at=b"counting"), "")
        result = self.written_json()
        self.assertEqual((result["status"], result["fusion"]), ("paused", {"off": None, "on": None}))
        self.assertEqual(result["change_percent"]["cycles"], None)

    def test_interrupt_while_a_guest_waits_for_input(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        self.start_on_terminal(self.file("read.elf", elf(call(READ, 0, DATA, 16) + exit_with(0), bss=16)), stdin=reader)
        os.close(reader)
        self.assertEqual(self.interrupt(at=b"counting"), "")

    def test_interrupt_while_the_time_is_taken(self):
        """Between the runs as well as in them; what is known by then is reported."""
        self.start_on_terminal("--repeat", "1000000", "--json", self.path("out.json"), self.guest)
        out = self.interrupt(at=b"warm run 3")
        self.assertIn("VM cycles", out)
        self.assertIn("host time, warm", out)
        result = self.written_json()
        self.assertEqual((result["status"], result["fusion"]["on"]["cycles"]), ("paused", CYCLES_ON))
        self.assertIsNotNone(result["series"]["interpreter"]["warm"])


if __name__ == "__main__":
    cli.main()
