# SPDX-License-Identifier: MIT
# Configuring and building with what the machine has. Sourced, not run.

# shellcheck shell=bash

# Options for every configuration: a compiler cache where there is one.
configure_options=()
if command -v ccache >/dev/null; then
    configure_options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# At most one job per processor and per GiB of memory that is free, so that small machines survive.
build_jobs()
{
    local processors gigabytes
    processors=$(nproc)
    gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
    if [[ -z $gigabytes || $gigabytes -ge $processors ]]; then
        echo "$processors"
    elif [[ $gigabytes -lt 1 ]]; then
        echo 1
    else
        echo "$gigabytes"
    fi
}
