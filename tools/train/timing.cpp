// SPDX-License-Identifier: MIT
// Timing in child processes.

#include "timing.hpp"

#include "asm_x64/handlers.hpp"

#include <mopvm/mopvm.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <stdexcept>

namespace mopvm::train
{
namespace
{
double cpu_nanoseconds()
{
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// One run of @p guest. @return its instructions if @p counting, else nanoseconds; 0 on failure.
double run_once(const Guest& guest, bool counting)
{
    auto machine = Machine::create({.backend = "asm", .count_operations = counting});
    if (!machine || !machine->add_syscalls(make_silent_syscalls()) ||
        !machine->load(guest.program, guest.argument_views()))
        return 0;
    const double begin = cpu_nanoseconds();
    const Exit exit = machine->run();
    if (exit.reason != Exit::Reason::exited || exit.exit_code != 0)
        return 0;
    return counting ? static_cast<double>(machine->stats().instructions)
                    : cpu_nanoseconds() - begin;
}

/// In a child: the shortest of some runs.
double measure(const Guest& guest, std::span<const asm_x64::Sequence> sequences)
{
    asm_x64::use_sequences(sequences);
    double best = std::numeric_limits<double>::max();
    double total = 0;
    for (int i = 0; i < 3 || (i < 40 && total < 2e8); ++i) {
        const double took = run_once(guest, false);
        if (took == 0)
            return 0;
        total += took;
        best = std::min(best, took);
    }
    return best / run_once(guest, true);
}

double measure_in_child(const Guest& guest, std::span<const asm_x64::Sequence> sequences)
{
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        throw std::runtime_error{"no pipe"};
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error{"no child process"};
    if (child == 0) {
        const double result = measure(guest, sequences);
        const bool written = ::write(ends[1], &result, sizeof(result)) == sizeof(result);
        ::_exit(written ? 0 : 1);
    }
    double result = 0;
    const bool received = ::read(ends[0], &result, sizeof(result)) == sizeof(result);
    ::close(ends[0]);
    ::close(ends[1]);
    ::waitpid(child, nullptr, 0);
    if (!received || result == 0)
        throw std::runtime_error{guest.name + " does not run on the engine asm"};
    return result;
}
}  // namespace

std::array<double, 3> time_with(const Guest& guest,
                                const std::array<std::span<const asm_x64::Sequence>, 3>& tables)
{
    constexpr int rounds = 3;
    // An empty table is one too, and not the absence of one.
    static constexpr std::array<asm_x64::Sequence, 1> storage{};
    std::array<double, 3> best;
    best.fill(std::numeric_limits<double>::max());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < tables.size(); ++i) {
            const auto table = tables[i].empty()
                                   ? std::span<const asm_x64::Sequence>{storage}.first(0)
                                   : tables[i];
            best[i] = std::min(best[i], measure_in_child(guest, table));
        }
    }
    return best;
}
}  // namespace mopvm::train
