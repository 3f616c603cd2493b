# SPDX-License-Identifier: MIT
"""Ctrl-C: pauses the guest wherever it is, and the JSON is written all the same."""

import json
import os
import signal
import struct
import subprocess
import time
import unittest

import cli
from guest import *

READY = b"!"
SAY_READY = call(WRITE, 1, DATA, 1)
SPIN = jal(ZERO, 0)


class Interrupt(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.spinning = self.file("spin.elf", elf(SAY_READY + SPIN, READY, symbols=[(b"main", CODE, 0)]))

    def started(self, *words, ready=READY, **options):
        """A process whose guest has said that it is ready."""
        process = self.start("run", *words, **options)
        self.assertEqual(process.stdout.read(1), ready)
        return process

    def end(self, process):
        out, err = process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(process.returncode, cli.STATUS_INTERRUPTED, err)
        return out, err

    def test_pauses_a_busy_guest(self):
        process = self.started("--json", "-", self.spinning)
        process.send_signal(signal.SIGINT)
        out, err = self.end(process)
        result = json.loads(out)
        self.assertEqual((result["status"], result["exit_code"], result["error"], result["error_detail"]), ("paused", None, None, None))
        self.assertEqual(result["pc"], hex(CODE + len(SAY_READY)))
        self.assertGreater(result["cycles"], 500)
        self.assertIn(b"<main+", err)

    def test_pauses_a_guest_that_waits_for_input(self):
        code = SAY_READY + call(READ, 0, DATA, 16) + exit_with(0)
        guest = self.file("read.elf", elf(code, READY, bss=16))
        process = self.started("--json", self.path("out.json"), guest, stdin=subprocess.PIPE)
        # Once at rest it is in the read.
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=cli.TIMEOUT)
        finally:
            process.stdin.close()
            process.stdin = None
        self.end(process)
        with open(self.path("out.json")) as result:
            self.assertEqual(json.load(result)["status"], "paused")

    def test_pauses_a_guest_that_waits_for_its_reader(self):
        guest = self.file("write.elf", elf(call(WRITE, 1, DATA, 1 << 20) + exit_with(0), READY, bss=1 << 20))
        process = self.started("--json", self.path("out.json"), guest)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=cli.TIMEOUT), cli.STATUS_INTERRUPTED)
        self.end(process)

    def test_pauses_a_write_to_a_file_that_is_always_ready(self):
        # 1024 vectors of 768 MiB each: hours of output, unless the Ctrl-C is seen.
        vectors = struct.pack("<QQ", 0, 768 << 20) * 1024
        guest = self.file("flood.elf", elf(call(WRITE, 2, DATA, 1) + call(WRITEV, 1, DATA, 1024) + SPIN, vectors))
        with open(os.devnull, "wb") as sink:
            process = self.start("run", "--memory", "1024M", "--json", self.path("out.json"), guest, stdout=sink)
            process.stderr.read(1)  # it is about to write
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(process.returncode, cli.STATUS_INTERRUPTED)
        with open(self.path("out.json")) as result:
            self.assertEqual(json.load(result)["status"], "paused")

    def test_a_guest_that_ends_first_has_exited(self):
        guest = self.file("exit.elf", elf(exit_with(6)))
        process = self.start("run", guest)
        process.communicate(timeout=cli.TIMEOUT)
        self.assertEqual(process.returncode, 6)

    def test_ends_a_batch(self):
        process = self.start("run", "--batch", "-", stdin=subprocess.PIPE)
        process.stdin.write((self.file("exit.elf", elf(exit_with(6))) + "\n" + self.spinning + "\n" + self.spinning + "\n").encode())
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["exit_code"], 6)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, _ = self.end(process)
        result, = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((result["status"], result["stdout"]), ("paused", READY.decode()))

    def test_stays_ignored_where_it_was_ignored(self):
        process = subprocess.Popen([cli.command, "run", "--max-cycles", "2000000000", self.spinning], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.assertEqual(process.stdout.read(1), READY)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.kill()
        process.communicate()


if __name__ == "__main__":
    cli.main()
