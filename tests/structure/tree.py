# SPDX-License-Identifier: MIT
"""The files of the project, and how a check reports."""

import os
import sys

# What is built, and what tools leave behind.
NOT_OURS = {".git", "build", ".cache", "__pycache__"}

CPP = (".cpp", ".hpp", ".inc", ".hpp.in")


def root():
    """The project's top folder: the one argument of every check."""
    return sys.argv[1]


def files(*folders, endings=("",)):
    """Paths relative to the root of all files with those endings in those folders (default: all)."""
    for folder in folders or [""]:
        for where, subfolders, names in os.walk(os.path.join(root(), folder)):
            subfolders[:] = sorted(name for name in subfolders if name not in NOT_OURS)
            for name in sorted(names):
                if name.endswith(tuple(endings)):
                    yield os.path.relpath(os.path.join(where, name), root())


def text(path):
    with open(os.path.join(root(), path), encoding="utf-8") as file:
        return file.read()


def finish(problems, checked):
    """Prints the problems and ends the process. Nothing to check is a problem too."""
    if checked == 0:
        problems = ["nothing was found to check"]
    for problem in problems:
        print(problem)
    print(f"{checked} checked, {len(problems)} problems")
    sys.exit(1 if problems else 0)
