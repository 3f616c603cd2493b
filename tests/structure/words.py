# SPDX-License-Identifier: MIT
"""The library asks its host for nothing and tells it nothing: no clock, environment, chance, logs."""

import re

import tree

FORBIDDEN = re.compile(
    r"\b(getenv|setlocale|std::locale|chrono|ctime|time\.h|s?rand|random_device|mt19937\w*|std::cerr|std::cout|std::clog|iostream|fstream"
    r"|f?printf|puts|spdlog|syslog)\b"
)
# The one place that may ask for the time: the system calls that `host_time` enables.
CLOCK_FILE = "src/syscalls/host_clock.cpp"
CLOCK = {"chrono", "ctime", "time.h"}


def code(text):
    """The text without comments and strings, line by line."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text).splitlines()


problems, checked = [], 0
for path in tree.files("include", "src", "backends", endings=tree.CPP):
    checked += 1
    for number, line in enumerate(code(tree.text(path)), 1):
        for match in FORBIDDEN.finditer(line):
            if not (path == CLOCK_FILE and match[0] in CLOCK):
                problems.append(f"{path}:{number}: {match[0]} has no place in the library")

tree.finish(problems, checked)
