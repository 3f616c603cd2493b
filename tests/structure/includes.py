# SPDX-License-Identifier: MIT
"""Includes go down the floors of the house only; `docs/design.md` draws the floors."""

import re

import tree

# Room -> the rooms that it uses. What those use may be included too.
USES = {
    "include/mopvm": [],
    "src/support": [],
    "src/isa": ["include/mopvm", "src/support"],
    "src/memory": ["include/mopvm", "src/support"],
    "src/syscalls": ["include/mopvm"],
    "src/decoder": ["src/isa"],
    "src/fusion": ["src/isa"],
    "src/elf": ["src/memory"],
    "src/code": ["src/decoder", "src/fusion", "src/memory"],
    "src/semantics": ["src/code", "src/memory"],
    "src/machine": ["src/semantics", "src/code", "src/elf", "src/syscalls"],
    "backends/interpreter": ["src/machine", "src/semantics", "src/code"],
    "backends/asm_x64": ["src/machine", "src/semantics", "src/code"],
    # The registry.
    "backends": ["src/machine", "backends/interpreter", "backends/asm_x64"],
}

# Headers from outside the project: those of C++ for all, others by the rooms that may include them.
STANDARD = re.compile(r"[a-z_0-9]+")
OUTSIDE = {
    "src/support": {"sanitizer/asan_interface.h"},
    "src/memory": {"sys/mman.h"},
    "src/syscalls": {"utf8.h"},
    "backends/asm_x64": {"asmjit/asmjit.h", "asmjit/core.h", "asmjit/x86.h", "sys/mman.h"},
}


def room_of(path):
    """The longest room that holds the file."""
    rooms = [room for room in USES if path.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def reachable(room):
    seen, waiting = set(), [room]
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting.extend(USES[room])
    return seen


def resolve(quoted, name):
    """The path in the tree that an include names, or None for one from outside."""
    if not quoted:
        return "include/" + name if name.startswith("mopvm/") else None
    for folder in ("src/", "backends/"):
        if name.split("/")[0] in ROOM_NAMES[folder]:
            return folder + name
    return "?/" + name


ROOM_NAMES = {
    folder: {room[len(folder):] for room in USES if room.startswith(folder)}
    for folder in ("src/", "backends/")
}

problems, checked = [], 0
for path in tree.files("include", "src", "backends", endings=tree.CPP):
    room = room_of(path)
    if room is None:
        problems.append(f"{path}: its folder is not a room of the table in includes.py")
        continue
    allowed = reachable(room)
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        checked += 1
        name = match[2]
        target = resolve(match[1] == '"', name)
        if target is None:
            if not STANDARD.fullmatch(name) and name not in OUTSIDE.get(room, set()):
                problems.append(f"{path}:{number}: <{name}> is not for {room}")
        elif room_of(target) not in allowed:
            problems.append(f"{path}:{number}: {room} does not use {room_of(target) or target}")

tree.finish(problems, checked)
