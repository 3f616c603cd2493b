# SPDX-License-Identifier: MIT
"""Exit statuses, the words that go to the guest, and the streams of a plain run."""

import os
import subprocess
import unittest

import cli
from guest import *

# Exits with argc, which is at the stack pointer.
ARGC = load(A0, 0, SP) + EXIT_A0


def print_argument(index):
    """Debug-prints argv[index]."""
    return load(A0, 8 * (index + 1), SP) + call(DEBUG_PRINT, None)


class ExitStatus(cli.CliTest):
    def test_is_the_guests_code_as_a_byte(self):
        for code in range(256):
            done = self.mopvm("run", self.file("guest.elf", elf(exit_with(code))))
            self.assertEqual(done.returncode, code)
            self.assertEqual((done.stdout, done.stderr), (b"", b""))

    def test_drops_the_upper_bits_of_the_code(self):
        self.assertEqual(self.mopvm("run", self.file("guest.elf", elf(exit_with(0x12345)))).returncode, 0x45)
        self.assertEqual(self.mopvm("run", self.file("guest.elf", elf(exit_with(-1)))).returncode, 255)

    def test_is_125_for_a_vm_error_which_is_named(self):
        guest = self.file("guest.elf", elf(load(A0, 0, ZERO) + li(A1, -8) + load(A0, 0, A1),
                                           symbols=[(b"main", CODE, 64)]))
        done = self.mopvm("run", guest)
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        text = done.stderr.decode()
        for part in ("mem_out_of_bound", "0x10008", "<main+0x8>", "`ld a0,0(a1)`", "0xfffffffffffffff8"):
            self.assertIn(part, text)

    def test_is_125_for_files_that_are_no_program(self):
        for content, error in ((b"", "elf_parse_error"), (b"\x7fELF", "elf_parse_error"), (b"#!/bin/sh\n" * 10, "elf_parse_error"),
                               (b"\x7fELF\x01\x01\x01" + bytes(60), "elf_bits")):
            done = self.mopvm("run", self.file("guest.elf", content))
            self.assertEqual(done.returncode, cli.STATUS_VM_ERROR, content)
            self.assertIn(error, done.stderr.decode())

    def test_is_125_for_fusion_with_version_0(self):
        guest = self.file("guest.elf", elf(exit_with(0)))
        done = self.mopvm("run", "--vm-version", "0", "--mop", "on", guest)
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertIn(b"invalid_version", done.stderr)

    def test_is_125_at_the_cycle_limit(self):
        guest = self.file("guest.elf", elf(jal(ZERO, 0)))
        done = self.mopvm("run", "--max-cycles", "1000", guest)
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertIn(b"cycles_exceeded", done.stderr)

    def test_is_124_for_files_that_cannot_be_read(self):
        os.mkfifo(self.path("fifo"))
        for path, said in ((self.path("missing.elf"), "missing.elf"), (self.folder, "directory"), ("", "''"),
                           (self.path("fifo"), "not a regular file"), ("/dev/zero", "not a regular file"),
                           (self.path("x\x1b[31m"), "\\x1b")):
            self.assert_problem(self.mopvm("run", path), said)

    def test_is_124_when_the_result_cannot_be_written(self):
        guest = self.file("guest.elf", elf(exit_with(3)))
        self.assert_problem(self.mopvm("run", "--json", self.folder, guest))
        self.assert_problem(self.mopvm("run", "--json", self.path("no/such/folder"), guest))
        self.assert_problem(self.mopvm("run", "--json", "/dev/full", guest), "/dev/full")
        with open("/dev/full", "wb") as full:
            done = self.mopvm("run", "--json", "-", guest, stdout=full, stderr=subprocess.PIPE)
            self.assert_problem(done, "stdout")

    def test_is_124_when_the_guests_output_cannot_be_written(self):
        guest = self.file("guest.elf", elf(call(WRITE, 1, DATA, 5) + exit_with(3), b"hello"))
        with open("/dev/full", "wb") as full:
            self.assert_problem(self.mopvm("run", guest, stdout=full, stderr=subprocess.PIPE), "io", "stdout")

    def test_closed_descriptors_do_no_harm(self):
        guest = self.file("guest.elf", elf(call(WRITE, 1, DATA, 5) + exit_with(3), b"hello"))
        done = subprocess.run(["sh", "-c", 'exec "$0" run --json "$1" "$2" >&-', cli.command, self.path("out.json"), guest],
                              timeout=cli.TIMEOUT, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, cli.STATUS_PROBLEM, done)
        with open(self.path("out.json")) as result:
            self.assertTrue(result.read().startswith('{"status"'))
        quiet = self.file("quiet.elf", elf(exit_with(3)))
        done = subprocess.run(["sh", "-c", 'exec "$0" run "$1" <&- >&- 2>&-', cli.command, quiet], timeout=cli.TIMEOUT)
        self.assertEqual(done.returncode, 3)


class GuestWords(cli.CliTest):
    def test_everything_behind_elf_goes_to_the_guest(self):
        words = ["--", "--help", "", "-h", "--json", "--memory=1", "-", "a b", "--version"]
        code = b"".join(print_argument(i) for i in range(len(words) + 1)) + ARGC
        guest = self.file("guest.elf", elf(code))
        done = self.mopvm("run", guest, *words)
        self.assertEqual(done.returncode, len(words) + 1, done)
        self.assertEqual(done.stderr.decode().split("\n")[:-1], [guest, *words])

    def test_bytes_that_are_no_text_reach_the_guest(self):
        guest = self.file("guest.elf", elf(load(A1, 16, SP) + load(A0, 0, A1, width=4) + EXIT_A0))
        self.assertEqual(self.mopvm("run", guest, b"\xff\xfe").returncode, 255)

    def test_argument_0_is_the_path_or_what_is_asked_for(self):
        guest = self.file("guest.elf", elf(print_argument(0) + ARGC))
        for options, said, count in (((), guest, 1), (("--argv0", "name"), "name", 1), (("--argv0", ""), "", 1),
                                     (("--argv0=",), "", 1), (("--argv0", "--help"), "--help", 1)):
            done = self.mopvm("run", *options, guest)
            self.assertEqual((done.stderr.decode(), done.returncode), (said + "\n", count))
        count_only = self.file("count.elf", elf(ARGC))
        self.assertEqual(self.mopvm("run", "--no-argv0", count_only).returncode, 0)
        self.assertEqual(self.mopvm("run", "--no-argv0", count_only, "a", "b").returncode, 2)

    def test_elf_may_begin_with_a_dash_behind_two(self):
        self.file("-x.elf", elf(exit_with(7)))
        self.assertEqual(self.mopvm("run", "--", "-x.elf", cwd=self.folder).returncode, 7)

    def test_many_arguments(self):
        guest = self.file("guest.elf", elf(exit_with(9)))
        many = ["a"] * 100000
        self.assertEqual(self.mopvm("run", "--memory", "64M", guest, *many).returncode, 9)
        done = self.mopvm("run", "--memory", "2M", guest, *many)
        self.assertEqual(done.returncode, cli.STATUS_VM_ERROR)
        self.assertIn(b"mem_out_of_stack", done.stderr)
        # More than a command line may hold.
        results = self.batch("--memory 64M " + guest + " a" * 200000, guest + " a" * 200000)
        self.assertEqual([result["error"] for result in results], [None, "mem_out_of_stack"])


class Streams(cli.CliTest):
    COPY = call(READ, 0, DATA, 4096) + add(A2, A0, ZERO) + call(WRITE, 1, DATA) + exit_with(0)

    def test_input_reaches_the_guest_whole(self):
        guest = self.file("copy.elf", elf(self.COPY, bss=4096))
        text = b"line\n" * 700
        self.assertEqual(self.mopvm("run", guest, input=text).stdout, text)

    def test_a_slow_input_is_waited_for(self):
        guest = self.file("copy.elf", elf(self.COPY, bss=4096))
        process = self.start("run", guest, stdin=subprocess.PIPE)
        process.stdin.write(b"one ")
        process.stdin.flush()
        out, _ = process.communicate(b"two", timeout=cli.TIMEOUT)
        self.assertEqual(out, b"one two")

    def test_input_from_a_file(self):
        guest = self.file("copy.elf", elf(self.COPY, bss=4096))
        text = self.file("text", b"from a file")
        self.assertEqual(self.mopvm("run", "--stdin", text, guest, input=b"not this").stdout, b"from a file")
        self.assert_problem(self.mopvm("run", "--stdin", self.path("missing"), guest), "missing")
        self.assert_problem(self.mopvm("run", "--stdin", self.folder, guest), "directory")

    def test_json_follows_the_guests_output(self):
        guest = self.file("guest.elf", elf(call(WRITE, 1, DATA, 6) + call(DEBUG_PRINT, DATA + 8) + exit_with(1),
                                           b"out...\0\0printed\0"))
        result = self.run_json(guest)
        self.assertTrue(self.process.stdout.startswith(b"out..." + b'{"status":"exited"'))
        self.assertEqual(self.process.stderr, b"printed\n")
        self.assertEqual(result["exit_code"], 1)

    def test_invalid_text_is_an_external_error(self):
        guest = self.file("guest.elf", elf(call(DEBUG_PRINT, DATA) + exit_with(1), b"ab\xff\0"))
        result = self.run_json(guest)
        self.assertEqual((result["error"], result["pc"]), ("external", hex(CODE + len(call(DEBUG_PRINT, DATA)))))
        self.assertIn("UTF-8", result["error_detail"]["text"])


class HostTrouble(cli.CliTest):
    def test_help_without_a_reader_is_no_error(self):
        for words in (("--help",), ("run", "--help"), ("compare", "--help"), ("info", "--help"), ("disasm", "--help")):
            read_end, write_end = os.pipe()
            os.close(read_end)
            with open(write_end, "wb") as nobody:
                process = self.start(*words, stdout=nobody)
            _, err = process.communicate(timeout=cli.TIMEOUT)
            self.assertEqual((process.returncode, err), (0, b""), words)

    def test_a_file_that_may_not_grow_is_an_unwritable_one(self):
        guest = self.file("guest.elf", elf(exit_with(3)))
        done = subprocess.run(["bash", "-c", 'ulimit -f 0; exec "$@"', "bash", cli.command, "run",
                               "--json", self.path("full.json"), guest], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=cli.TIMEOUT, check=False)
        self.assert_problem(done, "full.json")


if __name__ == "__main__":
    cli.main()
