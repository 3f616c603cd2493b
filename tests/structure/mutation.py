# SPDX-License-Identifier: MIT
"""Every patch of the mutation check applies and says what it is about; the paper lists them all."""

import os
import sys

import tree

sys.path.insert(0, os.path.join(tree.root(), "tests", "mutation"))
import mutants  # noqa: E402  (found in the folder above)

problems = []
patches = mutants.all_mutants()

for mutant in patches:
    for problem in mutant.problems():
        problems.append(f"{mutant.name}: {problem}")
    if refused := mutants.apply(mutant.path, tree.root(), "--check"):
        problems.append(f"{mutant.name}: {refused}")
if refused := mutants.apply(mutants.WITHOUT_SELF_TEST, tree.root(), "--check"):
    problems.append(f"{mutants.WITHOUT_SELF_TEST.name}: {refused}")
covered = {mutant.pitfall for mutant in patches if not mutant.problems()}
for pitfall in mutants.PITFALLS:
    if pitfall not in covered:
        problems.append(f"{pitfall}: no patch")
if not problems and mutants.table() not in tree.text("docs/testing.md"):
    problems.append("docs/testing.md: its table is not what tests/mutation/run --table prints")

tree.finish(problems, len(patches))
