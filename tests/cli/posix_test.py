# SPDX-License-Identifier: MIT
"""The system calls as guests see them, through the command."""

import unittest

import cli
from guest import *

LAST = cli.DEFAULT_MEMORY


class Posix(cli.CliTest):
    def answer(self, code, data=b"x" * 64, bss=8192, options=(), **run):
        """What a0 is after the code, as a signed number."""
        guest = self.file("guest.elf", elf(code + EXIT_A0, data, bss=bss))
        result = self.run_json(*options, guest, **run)
        self.assertEqual(result["status"], "exited", result["message"])
        value = int(result["registers"][A0], 16)
        return value - (value >> 63 << 64)

    def test_only_three_descriptors_exist(self):
        for descriptor in (3, -1, 1 << 20):
            for number in (57, 62, READ, WRITE, WRITEV, FSTAT):
                self.assertEqual(self.answer(call(number, descriptor, DATA, 1)), -9)
        for descriptor in (0, 1, 2):
            self.assertEqual(self.answer(call(57, descriptor)), 0)
            self.assertEqual(self.answer(call(62, descriptor, 0, 0)), -29)
        self.assertEqual(self.answer(call(WRITE, 0, DATA, 1)), -9)
        self.assertEqual(self.answer(call(READ, 1, DATA, 1)), -9)

    def test_buffers_that_the_guest_may_not_access(self):
        for number, descriptor in ((READ, 0), (WRITE, 1)):
            for address, length in ((LAST, 1), (LAST - 1, 2), (-1, 1), (-1, 2), (DATA, -1), (DATA, LAST)):
                self.assertEqual(self.answer(call(number, descriptor, address, length), input=b"abc"), -14)
            for address, length in ((LAST, 0), (-1, 0)):
                self.assertEqual(self.answer(call(number, descriptor, address, length)), 0)
        self.assertEqual(self.answer(call(READ, 0, CODE, 1), input=b"abc"), -14)
        self.assertEqual(self.answer(call(READ, 0, CODE - 4, 8), input=b"abc"), -14)
        self.assertEqual(self.answer(call(WRITE, 1, CODE, 4)), 4)
        for address in (LAST, LAST - 127, -1, CODE):
            self.assertEqual(self.answer(call(FSTAT, 1, address)), -14)
        self.assertEqual(self.answer(call(FSTAT, 1, LAST - 128)), 0)

    def test_a_refused_read_takes_no_input(self):
        code = call(READ, 0, CODE, 2) + call(READ, 0, DATA, 2) + li(A1, DATA) + load(A0, 0, A1, width=4)
        self.assertEqual(self.answer(code, input=b"abc"), ord("a"))

    def test_read_stops_at_the_end_of_input(self):
        self.assertEqual(self.answer(call(READ, 0, DATA, 100), input=b"x" * 99), 99)
        self.assertEqual(self.answer(call(READ, 0, DATA, 100), input=b"x" * 101), 100)
        self.assertEqual(self.answer(call(READ, 0, DATA, 100)), 0)
        self.assertEqual(self.answer(call(READ, 0, DATA, 60000), bss=65536, input=b"x" * 59999), 59999)

    def test_writev(self):
        def vectors(*pairs):
            return b"".join(struct.pack("<qq", *pair) for pair in pairs)
        data = vectors((DATA, 1), (0, 0), (DATA + 8, 2))
        self.assertEqual(self.answer(call(WRITEV, 1, DATA, 3), data), 3)
        self.assertTrue(self.process.stdout.startswith(data[:1] + data[8:10] + b'{"status"'))
        self.assertEqual(self.answer(call(WRITEV, 1, DATA, 0), data), 0)
        self.assertEqual(self.answer(call(WRITEV, 1, DATA, 1025), data), -22)
        self.assertEqual(self.answer(call(WRITEV, 1, DATA, -1), data), -22)
        self.assertEqual(self.answer(call(WRITEV, 1, LAST - 8, 1), data), -14)
        # Nothing is written when any buffer is bad.
        self.assertEqual(self.answer(call(WRITEV, 1, DATA, 2), vectors((DATA, 8), (LAST, 1))), -14)
        self.assertTrue(self.process.stdout.startswith(b'{"status"'))

    def test_fstat_reports_a_character_device(self):
        for word_index in range(16):
            code = call(FSTAT, 0, DATA) + li(A1, DATA + 8 * word_index) + load(A0, 0, A1)
            self.assertEqual(self.answer(code, data=b"\xff" * 256), 0o020000 if word_index == 2 else 0)
        self.assertEqual(self.answer(call(FSTAT, 0, DATA) + li(A1, DATA + 128) + load(A0, 0, A1), data=b"\xff" * 256), -1)

    def test_brk(self):
        start = DATA + 12288
        end = LAST // 4 * 3
        self.assertEqual(self.answer(call(BRK, 0)), start)
        self.assertEqual(self.answer(call(BRK, start + 5)), start + 5)
        self.assertEqual(self.answer(call(BRK, end)), end)
        self.assertEqual(self.answer(call(BRK, end + 1)), start)
        self.assertEqual(self.answer(call(BRK, start - 1)), start)
        self.assertEqual(self.answer(call(BRK, -1)), start)
        self.assertEqual(self.answer(call(BRK, start + 9) + call(BRK, end + 1)), start + 9)
        self.assertEqual(self.answer(call(BRK, start + 9) + call(BRK, start) + call(BRK, 0)), start)

    def test_exit_group_exits(self):
        self.assertEqual(self.mopvm("run", self.file("guest.elf", elf(call(94, 300)))).returncode, 300 & 255)

    def test_the_chains_calls(self):
        self.assertEqual(self.answer(call(CURRENT_CYCLES)), 501)
        for version in ("1", "2"):
            self.assertEqual(self.answer(call(VM_VERSION), options=("--vm-version", version)), int(version))
        guest = self.file("guest.elf", elf(call(VM_VERSION) + EXIT_A0))
        self.assertEqual(self.run_json("--vm-version", "0", guest)["error"], "invalid_ecall")
        self.assertEqual(self.answer(call(DEBUG_PRINT, DATA), data=b"text\0"), DATA)
        self.assertEqual(self.process.stderr, b"text\n")

    def test_a_string_without_end(self):
        fill = li(A1, LAST - 8) + addi(A2, ZERO, -1) + store(A2, 0, A1)
        for address, bad in ((LAST - 8, LAST), (LAST, LAST), (-5, 2**64 - 5)):
            guest = self.file("guest.elf", elf(fill + call(DEBUG_PRINT, address) + exit_with(0)))
            result = self.run_json(guest)
            self.assertEqual((result["error"], result["error_address"]), ("mem_out_of_bound", hex(bad)))
            self.assertIn("`ecall`", result["message"])

    def test_the_chains_set_has_no_linux_numbers(self):
        for number in (57, READ, WRITE, WRITEV, FSTAT, 94, BRK, 113):
            guest = self.file("guest.elf", elf(call(number, 1, DATA, 1), b"x"))
            result = self.run_json("--syscalls", "ckb", guest)
            self.assertEqual((result["error"], result["error_detail"]), ("invalid_ecall", {"number": number}))


if __name__ == "__main__":
    cli.main()
