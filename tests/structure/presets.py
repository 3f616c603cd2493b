# SPDX-License-Identifier: MIT
"""Every preset can be configured, built and tested by its name, and is a job of the CI."""

import json
import re

import tree

# Building it is the analysis; there is nothing to run.
WITHOUT_TESTS = {"tidy"}


def names(kind):
    return [preset["name"] for preset in PRESETS[kind] if not preset.get("hidden")]


PRESETS = json.loads(tree.text("CMakePresets.json"))
configure = names("configurePresets")
problems = []

if names("buildPresets") != configure:
    problems.append("the build presets differ from the configure presets")
if names("testPresets") != [name for name in configure if name not in WITHOUT_TESTS]:
    problems.append("the test presets differ from the configure presets")
jobs = re.search(r"^ +preset: \[([^]]*)\]", tree.text(".github/workflows/ci.yml"), re.M)
if jobs is None or [job.strip() for job in jobs[1].split(",")] != configure:
    problems.append("the jobs of .github/workflows/ci.yml differ from the presets")

tree.finish(problems, len(configure))
