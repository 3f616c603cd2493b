# SPDX-License-Identifier: MIT
"""The patches that each put one fault into the project, and what their heads say.

A patch is a unified diff. Fields in front of it, one or more lines each, say what it is about:

  Pitfall    the kind of fault, a name of PITFALLS
  Fault      what is wrong with the patch applied, in plain words
  Killed by  a ctest regex of tests that must find it; may be given more than once, and each must
             match a test that fails
"""
import os
import pathlib
import re
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent / "patches"
# Comes before every mutant: the start-up test of the engine asm would hide faults from the tests.
WITHOUT_SELF_TEST = FOLDER.parent / "without_self_test.patch"

# Kinds of faults that other machines had; and what only this one could have.
PITFALLS = {
    "H1": "x0 as a destination inside a fused sequence",
    "H2": "constants of LUI and ADDIW that overflow 32 bits",
    "H3": "the link register is the target register",
    "H4": "bit 0 of a computed target",
    "H5": "address 0 matches an empty slot; code past the end",
    "H6": "corner cases of division, both widths",
    "H7": "sign and width of word operations",
    "H8": "immediates of SLTI and SLTIU",
    "H9": "reserved encodings accepted, hints refused",
    "H10": "ELF offsets outside the file, or wrapping",
    "H11": "permissions of segments and pages",
    "H12": "code that is not aligned to pages",
    "H13": "bounds at the last byte",
    "H14": "pages that are lost to those who come later",
    "H15": "prices and limits that engines do not share",
    "own": "what only this machine could have",
}
FIELDS = ("Pitfall", "Fault", "Killed by")


class Mutant:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        head, _, self.diff = path.read_text(encoding="utf8").partition("\n--- ")
        self.fields = {}
        for line in head.splitlines():
            field, found, value = line.partition(": ")
            if found and field in FIELDS:
                values = self.fields.setdefault(field, [])
                values.append(value)
            elif line.startswith("  ") and self.fields:
                values[-1] += " " + line.strip()

    @property
    def pitfall(self):
        return self.fields["Pitfall"][0]

    @property
    def fault(self):
        return self.fields["Fault"][0]

    @property
    def killers(self):
        return self.fields["Killed by"]

    def problems(self):
        """What is wrong with the head."""
        found = [f"no field {field}" for field in FIELDS if not self.fields.get(field)]
        if found:
            return found
        if self.pitfall not in PITFALLS:
            found.append(f"no pitfall is called {self.pitfall}")
        elif not self.name.startswith(prefix(self.pitfall)):
            found.append(f"its name does not begin with its pitfall, {prefix(self.pitfall)}")
        for killer in self.killers:
            try:
                re.compile(killer)
            except re.error as error:
                found.append(f"{killer}: {error}")
        return found


def prefix(pitfall):
    """How names of patches begin; they sort as the pitfalls do."""
    return re.sub(r"H(\d+)", lambda number: f"h{int(number[1]):02}", pitfall) + "-"


def all_mutants():
    return [Mutant(path) for path in sorted(FOLDER.glob("*.patch"))]


def apply(patch, tree, *options):
    """Applies @p patch to @p tree, or as @p options say. @return what git says against it."""
    # Without a repository: the tree may be in one of which it is no part.
    done = subprocess.run(["git", "apply", *options, str(patch)], cwd=tree,
                          env=dict(os.environ, GIT_DIR=os.devnull),
                          capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def table():
    """All of them, in Markdown, for docs/testing.md."""
    lines = ["| patch | fault | found by |", "| --- | --- | --- |"]
    everything = all_mutants()
    for pitfall, kind in PITFALLS.items():
        lines.append(f"| **{pitfall}** | **{kind}** | |")
        for mutant in everything:
            if mutant.pitfall != pitfall:
                continue
            killers = ", ".join(f"`{plain(killer)}`" for killer in mutant.killers)
            lines.append(f"| `{mutant.name}` | {mutant.fault} | {killers} |")
    return "\n".join(lines) + "\n"


def plain(killer):
    return killer.removeprefix("mopvm/").replace("\\.", ".").replace(".*", "…")
