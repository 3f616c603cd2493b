// SPDX-License-Identifier: MIT
// The example guests: every engine in lock-step with the reference, stopped at many limits.

#include "differential/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::test
{
namespace
{
/// Gives a guest the same input each time, and keeps what it writes.
class KeptStreams final : public GuestStreams
{
public:
    Result<std::size_t> read(std::span<std::byte> to) noexcept override
    {
        static constexpr std::string_view input = "three short lines\nof text\nfor whoever reads\n";
        const std::size_t count = std::min(to.size(), input.size() - m_read);
        std::ranges::copy(std::as_bytes(std::span{input}.subspan(m_read, count)), to.begin());
        m_read += count;
        return count;
    }
    Result<void> write(int fd, std::span<const std::byte> from) noexcept override
    {
        written += std::to_string(fd) + ':';
        for (const std::byte byte : from)
            written += static_cast<char>(byte);
        return {};
    }

    std::string written;

private:
    std::size_t m_read = 0;
};

bool is_cut(const Exit& exit)
{
    return exit.reason == Exit::Reason::error && exit.error.code == ErrorCode::cycles_exceeded;
}

struct GuestRun
{
    std::shared_ptr<KeptStreams> streams = std::make_shared<KeptStreams>();
    Machine machine;

    GuestRun(const Program& program, const Config& config) : machine{*Machine::create(config)}
    {
        EXPECT_TRUE(machine.add_syscalls(make_posix_syscalls(streams)));
        // An example that wants a number takes this one; the others do not look.
        const std::vector<std::string_view> arguments{"guest", "7"};
        EXPECT_TRUE(machine.load(program, arguments));
    }
};

std::vector<std::filesystem::path> guests()
{
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{MOPVM_EXAMPLE_GUESTS})
        if (entry.path().extension() == ".elf")
            found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

class Guests : public OnEveryBackend
{};

TEST_P(Guests, run_in_lock_step_with_the_reference)
{
    // Stops near one another at first, then far apart, so that long guests end.
    constexpr std::uint64_t most_stops = 200;
    const auto paths = guests();
    ASSERT_GT(paths.size(), 16U);
    for (const std::filesystem::path& path : paths) {
        std::ifstream file{path, std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        const Program program = Program::from_elf(std::as_bytes(std::span{bytes})).value();
        for (const bool fusion : {false, true}) {
            SCOPED_TRACE(path.string() + (fusion ? ", fusion on" : ", fusion off"));
            Config config{.fusion = fusion, .max_cycles = 0, .count_operations = true};
            config.backend = "interpreter";
            GuestRun reference{program, config};
            config.backend = GetParam();
            GuestRun tested{program, config};

            Choices choices{session_options().seed};
            for (std::uint64_t stop = 0;; ++stop) {
                const std::uint64_t limit = stop < most_stops ? reference.machine.max_cycles() +
                                                                    choices.below(1 + stop * stop)
                                                              : ~std::uint64_t{0};
                reference.machine.set_max_cycles(limit);
                tested.machine.set_max_cycles(limit);
                const Exit wanted = reference.machine.run();
                const Exit got = tested.machine.run();
                const StateDump end = capture(reference.machine, wanted);
                const StateDump tested_end = capture(tested.machine, got);
                ASSERT_TRUE(end == tested_end) << "at limit " << limit << '\n'
                                               << difference(end, tested_end);
                if (!is_cut(wanted))
                    break;
            }
            EXPECT_EQ(reference.streams->written, tested.streams->written);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Guests, testing::ValuesIn(backend_names()), parameter_name);
}  // namespace
}  // namespace mopvm::test
