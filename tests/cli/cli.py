# SPDX-License-Identifier: MIT
"""What all tests of the command share: where it is, how it is started, and a folder for files."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

# Generous: the tests may share a slow machine with much else.
TIMEOUT = 300

STATUS_PROBLEM, STATUS_VM_ERROR, STATUS_INTERRUPTED = 124, 125, 130
DEFAULT_MEMORY = 4 << 20

command = None


def restore_signals():
    """A child of a background job would ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class CliTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as out:
            out.write(content)
        return self.path(name)

    def start(self, *words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.Popen([command, *words], stderr=subprocess.PIPE, preexec_fn=restore_signals, **options)

    def mopvm(self, *words, input=b"", **options):
        """Runs the command to its end; its status may be any but that of a crash."""
        done = subprocess.run([command, *words], input=input, timeout=TIMEOUT, capture_output="stdout" not in options,
                              preexec_fn=restore_signals, **options)
        self.assertGreaterEqual(done.returncode, 0, done)
        self.assertNotIn(b"Sanitizer", done.stderr or b"")
        return done

    def run_json(self, *words, **options):
        """The JSON object of a run, with `process` beside it."""
        done = self.mopvm("run", "--json", "-", *words, **options)
        self.process = done
        return json.loads(done.stdout[done.stdout.rindex(b'{"status"'):])

    def batch(self, *lines, words=(), **options):
        """The JSON objects of a batch of lines."""
        done = self.mopvm("run", *words, "--batch", "-", input="\n".join(lines).encode(), **options)
        self.process = done
        return [json.loads(line) for line in done.stdout.splitlines()]

    def assert_problem(self, done, *said):
        """The command refused its work with status 124 and said why."""
        self.assertEqual(done.returncode, STATUS_PROBLEM, done)
        text = done.stderr.decode()
        self.assertTrue(text.startswith("mopvm: "), text)
        for part in said:
            self.assertIn(part, text)


def main():
    global command
    command = os.path.abspath(sys.argv.pop(1))
    # This file is imported under its own name beside the test that runs.
    sys.modules["cli"].command = command
    unittest.main()
