# SPDX-License-Identifier: MIT
"""Every source file begins with its licence and its purpose, has a speaking name and a fair size."""

import os
import re

import tree

COMMENTED = (
    *tree.CPP, ".c", ".h", ".S", ".ld", ".cmake", "CMakeLists.txt", ".py", ".yml", ".pc.in",
    ".cmake.in", ".clang-tidy",
)
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
MOST_LINES = 600
LICENCE = "SPDX-License-Identifier: MIT"


def is_script(path):
    if "." in os.path.basename(path):
        return False
    with open(os.path.join(tree.root(), path), "rb") as file:
        return file.read(2) == b"#!"


def is_source_list(path):
    """A room's list of its sources: the folder says what they are."""
    return re.fullmatch(r"(src|backends)/.+/CMakeLists\.txt", path) is not None


def purpose(lines, path):
    """The text of the first comment behind the licence line; empty when code comes first."""
    body = [line.strip() for line in lines if line.strip()]
    if body[:1] == ["/// @file"]:
        body = body[1:]
    elif path.endswith((".hpp", ".hpp.in")):
        return ""
    match = re.match(r'(?:///?|/\*|#|""")\s*(\w.*)', body[0]) if body else None
    return match[1] if match else ""


problems, checked = [], 0
for path in tree.files():
    parts = path.split(os.sep)
    for part in parts:
        if part.split(".")[0].lower() in EMPTY_NAMES:
            problems.append(f"{path}: the name says nothing")
    if not path.endswith(COMMENTED) and not is_script(path):
        continue
    checked += 1
    lines = tree.text(path).splitlines()
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if not lines or LICENCE not in lines[0]:
        problems.append(f"{path}: no licence line first")
    elif not is_source_list(path) and not purpose(lines[1:], path):
        problems.append(f"{path}: no purpose behind the licence line")
    if path.endswith((".cpp", ".hpp")) and len(lines) > MOST_LINES:
        problems.append(f"{path}: {len(lines)} lines, more than {MOST_LINES}")

tree.finish(problems, checked)
