# SPDX-License-Identifier: MIT
"""Links of the papers lead somewhere, and the example of the README is the one that is compiled."""

import os
import re

import tree

EXAMPLE = "examples/embed/main.cpp"


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def anchors(text):
    """The anchors that GitHub gives to the headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count, unique = 0, slug
        while unique in found:
            count += 1
            unique = f"{slug}-{count}"
        found.add(unique)
    return found


def link_problem(path, link):
    if re.match(r"[a-z]+:", link):
        return None
    target, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
    if not os.path.exists(os.path.join(tree.root(), target)):
        return f"{path}: {link} leads nowhere"
    if anchor and target.endswith(".md") and anchor not in anchors(tree.text(target)):
        return f"{path}: {link} names no heading"
    return None


problems, checked = [], 0
for path in tree.files(endings=(".md",)):
    text = without_code(tree.text(path))
    links = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", text)
    links += re.findall(r"^\[[^]]+\]: *<?(\S+?)>?$", text, re.M)
    for link in links:
        checked += 1
        problem = link_problem(path, link)
        if problem:
            problems.append(problem)

# Behind the two comment lines at its head the example stands in the README word for word.
if os.path.exists(os.path.join(tree.root(), "README.md")):
    shown = re.search(r"<!-- example: embed -->\s*```cpp\n(.*?)^```", tree.text("README.md"), re.S | re.M)
    compiled = tree.text(EXAMPLE).split("\n\n", 1)[1]
    checked += 1
    if shown is None:
        problems.append("README.md: no ```cpp block behind <!-- example: embed -->")
    elif shown[1] != compiled:
        problems.append(f"README.md: its example differs from {EXAMPLE}")
else:
    problems.append("README.md is missing")

tree.finish(problems, checked)
