# SPDX-License-Identifier: MIT
# Which Debian packages the scripts need, and how missing ones get installed. Sourced, not run.

# shellcheck shell=bash disable=SC2034

# To build the library and the mopvm command.
build_packages=(
    cmake ninja-build g++ pkgconf
    libutfcpp-dev libasmjit-dev
    libcli11-dev nlohmann-json3-dev libspdlog-dev libelf-dev libglib2.0-dev
)
# To build and run the tests and benchmarks, which also compile guest programs.
test_packages=(
    libgtest-dev libbenchmark-dev zlib1g-dev python3 git
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-user
)
# For the presets that use clang: sanitizers, coverage (llvm-19 has the reports), fuzzing, analysis.
clang_packages=(clang-19 libclang-rt-19-dev llvm-19)
tidy_packages=(clang-tidy-19)
format_packages=(clang-format-19)

# Installs those of the named packages that are missing; asks the package archive for nothing when
# none is. Needs root or sudo only in that case.
require_packages()
{
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not a Debian system, so nothing is installed. What is needed here is, in"
        echo "Debian's names: $*"
        return 0
    fi

    local package state missing=()
    for package in "$@"; do
        state=$(dpkg-query --show --showformat='${db:Status-Status} ' "$package" 2>/dev/null || true)
        [[ " $state" == *" installed "* ]] || missing+=("$package")
    done
    if [[ ${#missing[@]} -eq 0 ]]; then
        echo "Nothing to install."
        return 0
    fi

    local as_root=()
    if [[ $EUID -ne 0 ]]; then
        if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
            as_root=(sudo)
        else
            echo "Some packages are missing, and installing them needs root or sudo. Please have this" >&2
            echo "run, then start the script again:" >&2
            echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
            return 1
        fi
    fi

    echo "Installing (this can take a few minutes): ${missing[*]}"
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "${missing[@]}" >/dev/null
}
