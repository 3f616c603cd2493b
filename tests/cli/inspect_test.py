# SPDX-License-Identifier: MIT
"""mopvm info and mopvm disasm."""

import json
import os
import random
import signal
import struct
import subprocess
import unittest

import cli
from guest import *

MULTIPLY = mulhu(A1, A0, A2) + mul(A2, A0, A2)
PROGRAM = MULTIPLY + bne(A0, A1, -8) + exit_with(0)
SYMBOLS = [(b"_start", CODE, len(PROGRAM)), (b"odd\x1bname", CODE + 8, 0), (b"data", DATA, 8)]


class Info(cli.CliTest):
    def info(self, content, *words, status=0):
        done = self.mopvm("info", "--json", *words, self.file("guest.elf", content))
        self.assertEqual(done.returncode, status, done)
        self.text = self.mopvm("info", *words, self.path("guest.elf")).stdout.decode()
        return json.loads(done.stdout)

    def test_of_an_ordinary_program(self):
        report = self.info(elf(PROGRAM, b"data", bss=100, symbols=SYMBOLS), "--argv0", "name")
        self.assertEqual((report["entry"], report["entry_symbol"], report["loads"], report["warnings"]), ("0x10000", "_start", True, []))
        code, data = report["segments"]
        self.assertEqual((code["address"], code["permissions"], code["file_size"], code["size"]), ("0x10000", "r-x", len(PROGRAM), 4096))
        self.assertEqual((data["address"], data["permissions"], data["file_size"]), ("0x20000", "rw-", 4))
        # argc, argv[0], NULL and "name", at a multiple of 16.
        self.assertEqual(report["loaded_bytes"], len(PROGRAM) + 4 + 32)
        self.assertEqual(report["load_cycles"], -(-report["loaded_bytes"] // 4))
        for part in ("<_start>", "r-x 0x10000", "rw- 0x20000", "yes"):
            self.assertIn(part, self.text)

    def test_cycles_are_rounded_up(self):
        report = self.info(elf(PROGRAM + b"\0"), "--no-argv0")
        self.assertEqual(report["loaded_bytes"], len(PROGRAM) + 1 + 16)
        self.assertEqual(report["load_cycles"], len(PROGRAM) // 4 + 1 + 4)

    def test_of_what_does_not_load(self):
        far = elf(b"", segments=[(0x500000, 5, PROGRAM, len(PROGRAM))], entry=0x500000)
        report = self.info(far, status=cli.STATUS_VM_ERROR)
        self.assertEqual((report["loads"], report["error"], report["load_cycles"]), (False, "mem_out_of_bound", None))
        self.assertIn("mem_out_of_bound", self.text)
        self.assertTrue(self.info(far, "--memory", "8M")["loads"])
        report = self.info(b"", status=cli.STATUS_VM_ERROR)
        self.assertEqual((report["loads"], report["error"], report["entry"], report["segments"]), (False, "elf_parse_error", None, []))
        report = self.info(elf(PROGRAM), "--vm-version", "0", "--mop", "on", status=cli.STATUS_VM_ERROR)
        self.assertEqual(report["error"], "invalid_version")

    def test_oddities_are_warned_about(self):
        plain = elf(PROGRAM)
        self.assertEqual(self.info(plain)["warnings"], [])
        def patched(offset, content):
            return plain[:offset] + content + plain[offset + len(content):]
        cases = [
            ("RISC-V", patched(18, struct.pack("<H", 62)), 0),
            ("floating-point", patched(48, struct.pack("<I", 4)), 0),
            ("position-independent", patched(16, struct.pack("<H", 3)), 0),
            ("e_phentsize is 57", patched(54, struct.pack("<H", 57)), 0),
            ("no executable segment", patched(24, struct.pack("<Q", DATA)), 0),
            ("is odd", patched(24, struct.pack("<Q", CODE + 1)), 0),
            ("dynamic loader", elf(PROGRAM, b"x")[:64 + 56] + struct.pack("<I", 3) + elf(PROGRAM, b"x")[64 + 60:], 0),
            ("nothing to load", patched(56, struct.pack("<H", 0)), 0),
            ("more bytes in the file", patched(64 + 40, struct.pack("<Q", 1)), 0),
            ("share a page", elf(b"", segments=[(CODE, 5, PROGRAM, 100), (CODE + 0x800, 6, b"x", 1)]), cli.STATUS_VM_ERROR),
        ]
        for said, content, status in cases:
            with self.subTest(said=said):
                warnings = self.info(content, status=status)["warnings"]
                self.assertEqual(len([warning for warning in warnings if said in warning]), 1, warnings)
                self.assertIn("warning   ", self.text)

    def test_big_endian_headers_load(self):
        head = struct.pack(">HHIQQQIHHHHHH", 2, 243, 1, CODE, 64, 0, 0, 64, 56, 1, 64, 0, 0)
        segment = struct.pack(">IIQQQQQQ", 1, 5, 120, CODE, CODE, len(PROGRAM), len(PROGRAM), 4096)
        report = self.info(b"\x7fELF\x02\x02\x01" + bytes(9) + head + segment + PROGRAM)
        self.assertEqual((report["loads"], report["entry"]), (True, "0x10000"))
        self.assertEqual(len(report["warnings"]), 1)
        self.assertIn("big-endian", report["warnings"][0])


class Disasm(cli.CliTest):
    def disasm(self, *words, content=elf(PROGRAM, symbols=SYMBOLS)):
        done = self.mopvm("disasm", *words, self.file("guest.elf", content))
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.decode()

    def test_text(self):
        text = self.disasm()
        for part in ("0000000000010000 <_start>:\n", "0000000000010008 <odd\\x1bname>:\n", "  10000:\t02c535b3    mulhu a1,a0,a2\n",
                     "bne a0,a1,10000 <_start>\n", "  10014:\t00000073    ecall\n"):
            self.assertIn(part, text)
        self.assertIn("li a0,0", text)
        self.assertIn("addi a0,zero,0", self.disasm("--no-aliases"))

    def test_fused_sequences_are_groups(self):
        text = self.disasm("--mop")
        self.assertIn("02c535b3  / mulhu a1,a0,a2\t# wide_mulu\n", text)
        self.assertIn("02c50633  \\ mul a2,a0,a2\n", text)
        operations = json.loads(self.disasm("--mop", "--json"))["segments"][0]["operations"]
        self.assertEqual((operations[0]["rule"], [part["text"] for part in operations[0]["parts"]]),
                         ("wide_mulu", ["mulhu a1,a0,a2", "mul a2,a0,a2"]))
        self.assertNotIn("rule", operations[1])

    def test_json(self):
        listing = json.loads(self.disasm("--json"))
        segment, = listing["segments"]
        self.assertEqual((listing["entry"], segment["address"], segment["length"]), ("0x10000", "0x10000", len(PROGRAM)))
        first = segment["operations"][0]
        self.assertEqual(first, {"address": "0x10000", "length": 4, "bits": "0x02c535b3", "text": "mulhu a1,a0,a2", "labels": ["_start"]})
        self.assertEqual(len(segment["operations"]), len(PROGRAM) // 4)

    def test_what_cannot_be_decoded(self):
        text = self.disasm(content=elf(b"\0\0" + word(0xFFFFFFFF) + b"\x13\x05" + b"\x01"))
        for part in (".half 0x0000", "0xffff", ".half 0x513", ".byte 0x1"):
            self.assertIn(part, text)

    def test_extensions_and_versions(self):
        sh1add = word(0x20B52533)
        amoadd = word(0x00B5252F)
        def codes(isa):
            return [operation["text"].split()[0]
                    for operation in json.loads(self.disasm("--json", "--isa", isa, content=elf(sh1add + amoadd)))["segments"][0]["operations"]]
        self.assertEqual(codes("imcab"), ["sh1add", "amoadd.w"])
        self.assertEqual(codes("imc"), [".half", ".half"])
        done = self.mopvm("disasm", "--mop", "--vm-version", "0", self.file("guest.elf", elf(PROGRAM)))
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertIn(b"invalid_version", done.stderr)

    def test_of_what_is_no_program(self):
        done = self.mopvm("disasm", self.file("guest.elf", b"\x7fELF"))
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertIn(b"elf_parse_error", done.stderr)

    def test_a_reader_that_goes_away_is_no_error(self):
        process = self.start("disasm", self.file("guest.elf", elf(PROGRAM * 20000)))
        process.stdout.read(100)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(timeout=cli.TIMEOUT), 0)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = self.mopvm("disasm", self.file("guest.elf", elf(PROGRAM)), stdout=full, stderr=subprocess.PIPE)
        self.assert_problem(done, "stdout")


class HostileFiles(cli.CliTest):
    SEED = 20240611

    def test_damaged_files_never_crash(self):
        """Every command on files with random damage, most of it in headers and symbol table."""
        chance = random.Random(self.SEED)
        good = elf(PROGRAM, b"data", bss=8, symbols=SYMBOLS)
        interesting = [0, 1, 2, 0x7F, 0x80, 0xFF]
        for turn in range(60):
            content = bytearray(good)
            for _ in range(chance.randint(1, 6)):
                at = chance.choice([chance.randrange(64), chance.randrange(64, 64 + 112), chance.randrange(len(content))])
                content[at] = chance.choice(interesting + [chance.randrange(256)])
            if chance.random() < 0.2:
                content = content[:chance.randrange(len(content))]
            path = self.file("guest.elf", bytes(content))
            for words in (["run", "--max-cycles", "100000"], ["compare", "--repeat", "1", "--max-cycles", "100000"],
                          ["info"], ["disasm", "--mop"]):
                done = self.mopvm(*words, path)
                with self.subTest(seed=self.SEED, turn=turn, words=words):
                    self.assertIn(done.returncode, (*range(128), 255) if words[0] == "run" else (0, cli.STATUS_VM_ERROR))

    def test_a_symbol_table_that_overlaps_itself(self):
        names = [(b"n" * 5000, CODE, 0)] + [(b"x", CODE + i % 16, 0) for i in range(2000)]
        path = self.file("guest.elf", elf(PROGRAM, symbols=names))
        self.assertEqual(self.mopvm("disasm", path).returncode, 0)
        self.assertEqual(self.mopvm("info", path).returncode, 0)


if __name__ == "__main__":
    cli.main()
