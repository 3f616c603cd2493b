# SPDX-License-Identifier: MIT
"""The JSON of a run: its keys, their order and their types, for every status and error."""

import unittest

import cli
from guest import *

KEYS = ["status", "exit_code", "error", "error_detail", "error_address", "message", "cycles", "operations", "instructions", "pc",
        "registers", "fused", "config", "host"]
RULES = ["adc", "sbb", "wide_mul", "wide_mulu", "wide_mulsu", "wide_div", "wide_divu", "far_jump_rel", "far_jump_abs",
         "load_const_lui", "load_const_auipc", "adcs", "sbbs", "add3a", "add3b", "add3c"]


class RunJson(cli.CliTest):
    def check(self, result):
        """What holds for every status."""
        self.assertEqual(list(result), KEYS)
        self.assertIsInstance(result["message"], str)
        self.assertNotEqual(result["message"], "")
        self.assertIsInstance(result["cycles"], int)
        self.assertEqual(len(result["registers"]), 32)
        for number in (result["pc"], *result["registers"]):
            self.assertRegex(number, r"^0x(0|[1-9a-f][0-9a-f]*)$")
        self.assertEqual(result["registers"][0], "0x0")
        self.assertEqual(list(result["host"]), ["load_ns", "run_ns", "tsc_cycles"])
        self.assertIsInstance(result["host"]["load_ns"], int)
        self.assertIsInstance(result["host"]["run_ns"], int)
        self.assertIsInstance(result["host"]["tsc_cycles"], (int, type(None)))
        self.assertEqual(list(result["config"]), ["elf", "backend", "mop", "vm_version", "isa", "cost", "max_cycles", "memory",
                                                  "argv0", "syscalls", "host_time", "stats"])

    def check_error(self, result, error, detail, address):
        self.check(result)
        self.assertEqual((result["status"], result["exit_code"], result["error"]), ("error", None, error))
        self.assertEqual(result["error_detail"], detail)
        self.assertEqual(result["error_address"], address)
        self.assertIn(error, result["message"])
        self.assertEqual(self.process.returncode, cli.STATUS_VM_ERROR)

    def run_code(self, code, *options, **elf_options):
        return self.run_json(*options, self.file("guest.elf", elf(code, **elf_options)))

    def test_exited(self):
        result = self.run_code(exit_with(200))
        self.check(result)
        self.assertEqual((result["status"], result["exit_code"]), ("exited", 200 - 256))
        for key in ("error", "error_detail", "error_address", "operations", "instructions", "fused"):
            self.assertIsNone(result[key])
        self.assertEqual(result["cycles"], 502)
        self.assertEqual(result["pc"], hex(CODE + 12))
        self.assertEqual(result["registers"][A0], "0xc8")
        self.assertEqual(result["config"], {
            "elf": self.path("guest.elf"), "backend": result["config"]["backend"], "mop": "on", "vm_version": 2, "isa": "imcb",
            "cost": "standard", "max_cycles": 2**64 - 1, "memory": cli.DEFAULT_MEMORY, "argv0": self.path("guest.elf"),
            "syscalls": "posix", "host_time": False, "stats": False})

    def test_counts(self):
        code = mulhu(A1, A0, A2) + mul(A2, A0, A2) + exit_with(0)
        result = self.run_code(code, "--stats")
        self.check(result)
        self.assertEqual((result["operations"], result["instructions"], result["cycles"]), (4, 5, 507))
        self.assertEqual(list(result["fused"]), RULES)
        self.assertEqual({rule: count for rule, count in result["fused"].items() if count}, {"wide_mulu": 1})
        self.assertIn(b"wide_mulu 1\n", self.process.stderr)
        self.assertIn(b"507 cycles, 4 operations, 5 instructions", self.process.stderr)
        result = self.run_code(code, "--stats", "--mop", "off")
        self.assertEqual((result["operations"], result["instructions"], result["cycles"]), (5, 5, 512))

    def test_errors_of_the_run(self):
        self.check_error(self.run_code(li(A1, -8) + load(A0, 0, A1)), "mem_out_of_bound",
                         {"address": "0xfffffffffffffff8", "kind": "memory"}, "0xfffffffffffffff8")
        self.check_error(self.run_code(li(A1, CODE) + store(A0, 0, A1)), "mem_write_on_executable_page", {"page": 16}, "0x10")
        self.check_error(self.run_code(word(0xFFFFFFFF)), "invalid_instruction", {"pc": "0x10000", "bits": 0xFFFFFFFF}, "0x10000")
        self.check_error(self.run_code(call(1234)), "invalid_ecall", {"number": 1234}, "0x4d2")
        self.check_error(self.run_code(call(-1)), "invalid_ecall", {"number": "0xffffffffffffffff"}, "0xffffffffffffffff")
        self.check_error(self.run_code(jal(ZERO, 0), "--max-cycles", "10"), "cycles_exceeded", {}, None)
        self.check_error(self.run_code(call(DEBUG_PRINT, DATA), data=b"\x80\0"), "external",
                         self.last_detail("text"), None)

    def last_detail(self, key):
        """An object that equals any with just `key`, a text."""
        class Any:
            def __eq__(self, other):
                return list(other) == [key] and isinstance(other[key], str) and other[key] != ""
        return Any()

    def test_errors_of_loading(self):
        def segment(flags, address=CODE, size=4):
            return [(address, flags, b"\x13\0\0\0", size)]
        cases = [
            (b"", "elf_parse_error", self.last_detail("text"), None),
            (elf(b"", segments=segment(EXECUTABLE)), "elf_segment_unreadable", {"address": "0x10000"}, "0x10000"),
            (elf(b"", segments=segment(7)), "elf_segment_writable_and_executable", {"address": "0x10000"}, "0x10000"),
            (elf(b"", segments=segment(5))[:-1], "elf_segment_addr_or_size_error", {"address": "0x10000"}, "0x10000"),
            (elf(b"", segments=segment(5, address=0x1100000000)), "mem_out_of_bound", {"address": "0x1100000000", "kind": "memory"},
             "0x1100000000"),
            (elf(b"", segments=segment(5, address=0x10001, size=2**64 - 2)), "mem_out_of_bound",
             {"address": "0x1", "kind": "external_data"}, "0x1"),
            (elf(b"", segments=segment(5) * 2), "mem_write_on_frozen_page", {"page": 16}, "0x10"),
        ]
        for content, error, detail, address in cases:
            with self.subTest(error=error):
                result = self.run_json(self.file("guest.elf", content))
                self.check_error(result, error, detail, address)
                self.assertEqual((result["cycles"], result["pc"], set(result["registers"])), (0, "0x0", {"0x0"}))

    def test_invalid_version_executes_nothing(self):
        result = self.run_code(exit_with(0), "--vm-version", "0", "--mop", "on")
        self.check_error(result, "invalid_version", {}, None)
        self.assertEqual((result["cycles"], set(result["registers"])), (0, {"0x0"}))

    def test_an_error_of_a_system_call_names_the_call(self):
        code = call(1234)
        result = self.run_code(code, symbols=[(b"main", CODE, 64)])
        self.assertEqual(result["pc"], hex(CODE + len(code)))
        self.assertIn("<main+" + hex(len(code) - 4) + ">", result["message"])
        self.assertIn("`ecall`", result["message"])

    def test_names_that_are_no_text_are_still_json(self):
        name = self.folder.encode() + b"/\xff.elf"
        with open(name, "wb") as out:
            out.write(elf(exit_with(0)))
        self.check(self.run_json(name))
        self.assertIn("\ufffd", self.run_json(name)["config"]["elf"])

    def test_to_a_file(self):
        guest = self.file("guest.elf", elf(exit_with(4)))
        done = self.mopvm("run", "--json", self.path("out.json"), guest)
        self.assertEqual((done.returncode, done.stdout), (4, b""))
        with open(self.path("out.json")) as result:
            self.assertTrue(result.read().startswith('{"status":"exited","exit_code":4,'))


if __name__ == "__main__":
    cli.main()
