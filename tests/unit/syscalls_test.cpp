// SPDX-License-Identifier: MIT
// The built-in system call sets: each call's answer, what it leaves alone, and what it refuses.

#include "support/elf_builder.hpp"

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mopvm
{
namespace
{
constexpr std::uint64_t code_address = 0x10000;
constexpr std::uint64_t data_address = 0x20000;
constexpr std::uint64_t data_end = data_address + page_size;
constexpr std::uint64_t memory_end = default_memory_size;
constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t not_a_descriptor = static_cast<std::uint64_t>(-9);
constexpr std::uint64_t bad_address = static_cast<std::uint64_t>(-14);
constexpr std::uint64_t invalid_argument = static_cast<std::uint64_t>(-22);

constexpr std::uint64_t closed = 57, seek = 62, read = 63, write = 64, write_vectors = 66,
                        stat = 80, exit_group = 94, clock_time = 113, time_of_day = 169,
                        break_ = 214, vm_version = 2041, current_cycles = 2042, debug_print = 2177;

/// Streams of strings, which note the largest piece that is asked for, and fail on demand.
class StringStreams final : public GuestStreams
{
public:
    std::string input;
    std::string outputs[3];
    std::optional<Error> failure;
    std::function<void()> before_read = [] {};
    std::size_t largest_read = 0;

    Result<std::size_t> read(std::span<std::byte> to) noexcept override
    {
        before_read();
        largest_read = std::max(largest_read, to.size());
        if (failure)
            return std::unexpected{*failure};
        const auto count = std::min(to.size(), input.size());
        std::ranges::transform(input.substr(0, count), to.begin(),
                               [](char c) { return static_cast<std::byte>(c); });
        input.erase(0, count);
        return count;
    }

    Result<void> write(int fd, std::span<const std::byte> from) noexcept override
    {
        if (failure)
            return std::unexpected{*failure};
        for (const auto byte : from)
            outputs[fd] += static_cast<char>(byte);
        return {};
    }
};

/// A loaded machine and a handler that is called as the machine would call it.
class SyscallsTest : public ::testing::Test
{
protected:
    void make(std::shared_ptr<SyscallHandler> made, Version version = Version::v2)
    {
        auto created = Machine::create({.version = version, .fusion = version != Version::v0});
        ASSERT_TRUE(created.has_value());
        machine = std::make_unique<Machine>(*std::move(created));
        handler = std::move(made);
        ASSERT_TRUE(machine->add_syscalls(handler).has_value());
        load();
    }

    void make_posix(bool host_time = false) { make(make_posix_syscalls(streams, host_time)); }

    void load()
    {
        const auto file = test::build(
            {.segments = {{.vaddr = code_address, .bytes = {std::byte{0x13}}},
                          {.vaddr = data_address, .flags = test::elf_flag::data, .memsz = 1}}});
        const auto program = Program::from_elf(file);
        ASSERT_TRUE(program.has_value());
        ASSERT_TRUE(machine->load(*program).has_value());
    }

    Result<SyscallAnswer> call(std::uint64_t number, std::initializer_list<std::uint64_t> arguments)
    {
        unsigned index = 10;
        for (const auto argument : arguments)
            machine->set_reg(index++, argument);
        machine->set_reg(17, number);
        return handler->handle(*machine);
    }

    /// What the call returns in a0.
    std::uint64_t value(std::uint64_t number, std::initializer_list<std::uint64_t> arguments)
    {
        const auto answer = call(number, arguments);
        EXPECT_TRUE(answer.has_value() && answer->kind == SyscallAnswer::Kind::handled) << number;
        return machine->reg(10);
    }

    void expect_not_mine(std::uint64_t number)
    {
        const auto answer = call(number, {0, data_address, 1});
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->kind, SyscallAnswer::Kind::not_mine) << number;
        EXPECT_EQ(machine->reg(10), 0U);
    }

    void put(std::uint64_t address, std::string_view text)
    {
        ASSERT_TRUE(machine->memory().write(address, std::as_bytes(std::span{text})).has_value());
    }

    std::string get(std::uint64_t address, std::size_t length)
    {
        std::string text(length, ' ');
        EXPECT_TRUE(
            machine->memory().read(address, std::as_writable_bytes(std::span{text})).has_value());
        return text;
    }

    std::shared_ptr<StringStreams> streams = std::make_shared<StringStreams>();
    std::unique_ptr<Machine> machine;
    std::shared_ptr<SyscallHandler> handler;
};

using CkbSyscallsTest = SyscallsTest;
using PosixSyscallsTest = SyscallsTest;

TEST_F(CkbSyscallsTest, PrintsAStringAndANewlineAndKeepsA0)
{
    make(make_ckb_syscalls(streams));
    put(data_address, std::string_view{"h\xc3\xa9llo\0rest", 11});
    EXPECT_EQ(value(debug_print, {data_address}), data_address);
    EXPECT_EQ(value(debug_print, {data_address + 6}), data_address + 6);
    EXPECT_EQ(streams->outputs[2], "h\xc3\xa9llo\n\n");
    EXPECT_EQ(streams->outputs[1], "");
}

TEST_F(CkbSyscallsTest, RefusesWhatIsNotUtf8AndPrintsNothingOfIt)
{
    make(make_ckb_syscalls(streams));
    // A stray byte, a cut character, an overlong one, a surrogate, and one beyond the last.
    for (const std::string_view text :
         {"ok\x80", "ok\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    {
        put(data_address, std::string{text} + '\0');
        const auto answer = call(debug_print, {data_address});
        ASSERT_FALSE(answer.has_value()) << text;
        EXPECT_EQ(answer.error().code, ErrorCode::external);
        EXPECT_NE(answer.error().text, "");
    }
    EXPECT_EQ(streams->outputs[2], "");
}

TEST_F(CkbSyscallsTest, AcceptsAllOfUtf8)
{
    make(make_ckb_syscalls(streams));
    const std::string text = "\x01\x7f\xef\xbf\xbe\xef\xbf\xbf\xf4\x8f\xbf\xbf";
    put(data_address, text + '\0');
    EXPECT_EQ(value(debug_print, {data_address}), data_address);
    EXPECT_EQ(streams->outputs[2], text + "\n");
}

TEST_F(CkbSyscallsTest, ReportsAStringWithoutEndAsLoadsWould)
{
    make(make_ckb_syscalls(streams));
    put(memory_end - 2, "xx");
    for (const auto& [address, outside] :
         {std::pair{memory_end - 2, memory_end}, std::pair{memory_end, memory_end},
          std::pair{memory_end + 5, memory_end + 5}, std::pair{max, max}})
    {
        const auto answer = call(debug_print, {address});
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error(), (Error{.code = ErrorCode::mem_out_of_bound, .address = outside}));
    }
    put(memory_end - 2, std::string_view{"x\0", 2});
    EXPECT_EQ(value(debug_print, {memory_end - 2}), memory_end - 2);
}

TEST_F(CkbSyscallsTest, TellsVersionAndCyclesFromVersion1On)
{
    for (const auto version : {Version::v1, Version::v2}) {
        make(make_ckb_syscalls(streams), version);
        EXPECT_EQ(value(vm_version, {7}), static_cast<std::uint64_t>(version));
        machine->set_cycles(12345);
        EXPECT_EQ(value(current_cycles, {7}), 12345U);
    }
    make(make_ckb_syscalls(streams), Version::v0);
    expect_not_mine(vm_version);
    expect_not_mine(current_cycles);
}

TEST_F(CkbSyscallsTest, TakesNoOtherNumber)
{
    make(make_ckb_syscalls(streams));
    for (const auto number : {std::uint64_t{0}, std::uint64_t{93}, read, write, break_,
                              std::uint64_t{2043}, debug_print + (std::uint64_t{1} << 32), max})
        expect_not_mine(number);
}

TEST_F(CkbSyscallsTest, AStreamThatFailsEndsTheRun)
{
    make(make_ckb_syscalls(streams));
    streams->failure = Error{.code = ErrorCode::io, .text = "broken"};
    const auto answer = call(debug_print, {data_address});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error(), *streams->failure);
}

TEST_F(PosixSyscallsTest, KnowsThreeDescriptors)
{
    make_posix();
    for (const std::uint64_t descriptor : {0U, 1U, 2U}) {
        EXPECT_EQ(value(closed, {descriptor}), 0U);
        EXPECT_EQ(value(seek, {descriptor, 0, 0}), static_cast<std::uint64_t>(-29));
        EXPECT_EQ(value(stat, {descriptor, data_address}), 0U);
    }
    for (const std::uint64_t descriptor : {std::uint64_t{3}, std::uint64_t{1} << 32, max}) {
        for (const auto number : {closed, seek, read, write, write_vectors, stat})
            EXPECT_EQ(value(number, {descriptor, data_address, 1}), not_a_descriptor) << number;
    }
    EXPECT_EQ(value(read, {1, data_address, 1}), not_a_descriptor);
    EXPECT_EQ(value(write, {0, data_address, 1}), not_a_descriptor);
    EXPECT_EQ(value(write_vectors, {0, data_address, 1}), not_a_descriptor);
    // Closing has no effect.
    EXPECT_EQ(value(write, {1, data_address, 1}), 1U);
}

TEST_F(PosixSyscallsTest, ReadsUntilTheBufferIsFullOrTheInputEnds)
{
    make_posix();
    streams->input = std::string(40000, 'x') + "end";
    EXPECT_EQ(value(read, {0, data_address, 40001}), 40001U);
    EXPECT_EQ(get(data_address + 39999, 3), std::string_view("xe\0", 3));
    EXPECT_EQ(value(read, {0, data_address, 100}), 2U);
    EXPECT_EQ(get(data_address, 3), "ndx");
    EXPECT_EQ(value(read, {0, data_address, 100}), 0U);
}

TEST_F(PosixSyscallsTest, ReadsAHugeBufferPieceByPieceAndMarksOnlyWhatItFills)
{
    make_posix();
    streams->input = "abc";
    const auto far_page = memory_end / page_size - 1;
    const auto before = *machine->memory().flags(far_page - 1);
    EXPECT_EQ(value(read, {0, data_address, memory_end - data_address}), 3U);
    EXPECT_LE(streams->largest_read, 65536U);
    EXPECT_EQ(*machine->memory().flags(far_page - 1), before);
}

TEST_F(PosixSyscallsTest, RefusesBuffersThatTheGuestMayNotAccess)
{
    make_posix();
    streams->input = "abc";
    for (const auto& [address, length] :
         {std::pair{memory_end, std::uint64_t{1}}, std::pair{memory_end - 1, std::uint64_t{2}},
          std::pair{max, std::uint64_t{1}}, std::pair{max, std::uint64_t{2}},
          std::pair{data_address, max}, std::pair{std::uint64_t{1}, max}})
    {
        EXPECT_EQ(value(read, {0, address, length}), bad_address);
        EXPECT_EQ(value(write, {1, address, length}), bad_address);
    }
    EXPECT_EQ(value(read, {0, code_address, 1}), bad_address);
    EXPECT_EQ(value(read, {0, code_address - 1, 2}), bad_address);
    EXPECT_EQ(value(stat, {1, code_address}), bad_address);
    EXPECT_EQ(value(stat, {1, memory_end - 127}), bad_address);
    EXPECT_EQ(value(read, {0, max, 0}), 0U);
    EXPECT_EQ(value(write, {1, max, 0}), 0U);
    EXPECT_EQ(streams->input, "abc");
    EXPECT_EQ(streams->outputs[1], "");
}

TEST_F(PosixSyscallsTest, RefusesABufferThatIsCodeByTheTimeTheInputIsThere)
{
    make_posix();
    streams->input = "abc";
    streams->before_read = [&] {
        ASSERT_TRUE(
            machine->memory().init_pages(data_address, page_size, page_flag::executable, {}, 0));
    };
    EXPECT_EQ(value(read, {0, data_address, 3}), bad_address);
    EXPECT_EQ(get(data_address, 3), std::string(3, '\0'));
}

TEST_F(PosixSyscallsTest, WritesAll)
{
    make_posix();
    put(data_address, "out and err");
    EXPECT_EQ(value(write, {1, data_address, 3}), 3U);
    EXPECT_EQ(value(write, {2, data_address + 8, 3}), 3U);
    EXPECT_EQ(streams->outputs[1], "out");
    EXPECT_EQ(streams->outputs[2], "err");
}

TEST_F(PosixSyscallsTest, WritesVectorsInOrderOrNothing)
{
    make_posix();
    put(data_address, "abcdef");
    const auto vectors = data_address + 64;
    const auto put_vector = [&](std::uint64_t index, std::uint64_t base, std::uint64_t length) {
        EXPECT_TRUE(machine->memory().store(vectors + 16 * index, base).has_value());
        EXPECT_TRUE(machine->memory().store(vectors + 16 * index + 8, length).has_value());
    };
    put_vector(0, data_address + 3, 3);
    put_vector(1, max, 0);
    put_vector(2, data_address, 2);
    EXPECT_EQ(value(write_vectors, {1, vectors, 3}), 5U);
    EXPECT_EQ(streams->outputs[1], "defab");

    put_vector(1, memory_end, 1);
    EXPECT_EQ(value(write_vectors, {1, vectors, 3}), bad_address);
    put_vector(1, data_address, max);
    EXPECT_EQ(value(write_vectors, {1, vectors, 3}), bad_address);
    EXPECT_EQ(value(write_vectors, {1, memory_end - 8, 1}), bad_address);
    EXPECT_EQ(value(write_vectors, {1, vectors, 1025}), invalid_argument);
    EXPECT_EQ(value(write_vectors, {1, vectors, max}), invalid_argument);
    EXPECT_EQ(value(write_vectors, {1, vectors, 0}), 0U);
    EXPECT_EQ(streams->outputs[1], "defab");
}

TEST_F(PosixSyscallsTest, ReportsACharacterDeviceAndNothingElse)
{
    make_posix();
    put(data_address, std::string(136, '\xff'));
    EXPECT_EQ(value(stat, {0, data_address}), 0U);
    std::string expected(128, '\0');
    expected[17] = 0x20;
    EXPECT_EQ(get(data_address, 136), expected + std::string(8, '\xff'));
}

TEST_F(PosixSyscallsTest, MovesTheBreakBetweenTheProgramAndThreeQuartersOfMemory)
{
    make_posix();
    const auto end = memory_end / 4 * 3;
    EXPECT_EQ(value(break_, {0}), data_end);
    EXPECT_EQ(value(break_, {data_end + 123}), data_end + 123);
    EXPECT_EQ(value(break_, {data_end - 1}), data_end + 123);
    EXPECT_EQ(value(break_, {end}), end);
    EXPECT_EQ(value(break_, {end + 1}), end);
    EXPECT_EQ(value(break_, {max}), end);
    EXPECT_EQ(value(break_, {data_end}), data_end);
}

TEST_F(PosixSyscallsTest, ForgetsTheBreakWhenAProgramIsLoaded)
{
    make_posix();
    EXPECT_EQ(value(break_, {data_end + 50}), data_end + 50);
    ASSERT_TRUE(machine->reset(max).has_value());
    load();
    EXPECT_EQ(value(break_, {0}), data_end);
}

TEST_F(PosixSyscallsTest, ExitGroupExitsWithAByte)
{
    make_posix();
    const auto answer = call(exit_group, {0x1ff});
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->kind, SyscallAnswer::Kind::exit);
    EXPECT_EQ(answer->exit_code, -1);
}

TEST_F(PosixSyscallsTest, TellsNoTimeUnlessAsked)
{
    make_posix();
    expect_not_mine(clock_time);
    expect_not_mine(time_of_day);

    make_posix(true);
    EXPECT_EQ(value(clock_time, {0, data_address}), 0U);
    EXPECT_EQ(value(time_of_day, {data_address + 16, data_address + 32}), 0U);
    const auto memory = machine->memory();
    const auto seconds = *memory.load<std::uint64_t>(data_address);
    EXPECT_GT(seconds, 1'600'000'000U);
    EXPECT_LT(*memory.load<std::uint64_t>(data_address + 8), 1'000'000'000U);
    EXPECT_LE(*memory.load<std::uint64_t>(data_address + 16) - seconds, 100U);
    EXPECT_LT(*memory.load<std::uint64_t>(data_address + 24), 1'000'000U);
    EXPECT_EQ(value(clock_time, {99, data_address}), invalid_argument);
    EXPECT_EQ(value(clock_time, {0, code_address}), bad_address);
    EXPECT_EQ(value(time_of_day, {memory_end, 0}), bad_address);
    EXPECT_EQ(value(time_of_day, {0, 0}), 0U);
}

TEST_F(PosixSyscallsTest, TakesNoOtherNumber)
{
    make_posix(true);
    for (const auto number :
         {std::uint64_t{0}, std::uint64_t{56}, std::uint64_t{93}, std::uint64_t{222}, debug_print,
          write + (std::uint64_t{1} << 32), max})
        expect_not_mine(number);
}

TEST_F(PosixSyscallsTest, AStreamThatFailsEndsTheRun)
{
    make_posix();
    streams->failure = Error{.code = ErrorCode::io, .text = "broken"};
    for (const auto& [number, descriptor] : {std::pair{read, std::uint64_t{0}}, {write, 1}}) {
        const auto answer = call(number, {descriptor, data_address, 1});
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error(), *streams->failure);
    }
}

TEST(SyscallSets, NeedStreams)
{
    EXPECT_EQ(make_ckb_syscalls(nullptr), nullptr);
    EXPECT_EQ(make_posix_syscalls(nullptr), nullptr);
}
}  // namespace
}  // namespace mopvm
