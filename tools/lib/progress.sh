# SPDX-License-Identifier: MIT
# Plain progress lines: which step, of how many, after how many seconds. Sourced, not run.

# shellcheck shell=bash

steps_done=0
steps_total=0

# steps <count>: announces how many steps follow.
steps()
{
    steps_done=0
    steps_total=$1
}

# step <text>: begins the next step.
step()
{
    steps_done=$((steps_done + 1))
    echo "[$steps_done/$steps_total, ${SECONDS}s] $*"
}

# logged <file> <command>…: runs the command with its output in the file. When the command fails,
# shows the end of that and where the rest is.
logged()
{
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "Failed: $*" >&2
        echo "The whole output is in $log" >&2
        return 1
    fi
}
