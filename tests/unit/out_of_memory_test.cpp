// SPDX-License-Identifier: MIT
// A host that refuses memory, at whichever allocation: an error that says so, nothing is leaked,
// and whoever tries again once there is some finds everything as it was.

#include "memory/mapping.hpp"
#include "support/allocation_counter.hpp"
#include "support/guest.hpp"
#include "support/refused_mappings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mopvm::test
{
namespace
{
using memory::Mapping;

constexpr std::size_t too_many = 10'000;
constexpr std::uint64_t added_code = 0x80000;
constexpr std::int32_t add_code = 500;

/// Answers `add_code`: makes a page executable, which the shared decoded code does not cover.
class AddsCode final : public SyscallHandler
{
public:
    AddsCode()
    {
        Assembler code{added_code};
        code.exit(7);
        m_code = code.code();
    }
    Result<void> initialize(Machine& /*machine*/) noexcept override { return {}; }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        if (machine.reg(a7) != add_code)
            return SyscallAnswer::not_mine();
        if (auto made = machine.memory().init_pages(
                added_code, page_size, page_flag::executable | page_flag::frozen, m_code, 0);
            !made)
            return std::unexpected{made.error()};
        return SyscallAnswer::handled();
    }

private:
    std::vector<std::byte> m_code;
};

/// Runs through code on two pages, then through code that it adds; exits with 7. From version 1 on,
/// some of its segments lie over each other, and all together are larger than memory.
std::vector<std::byte> two_pages_and_added_code(Version version)
{
    Assembler code;
    const auto far = code.label();
    code.j(far);
    while (code.here() < code.base() + page_size + 64)
        code.nop();
    code.bind(far);
    code.li(a7, add_code);
    code.ecall();
    code.li(t0, added_code);
    code.jalr(zero, 0, t0);
    ElfFile file = program(code);
    for (int i = 0; i < 3 && version != Version::v0; ++i)
        file.segments.push_back({.vaddr = default_memory_size / 4,
                                 .flags = elf_flag::data,
                                 .memsz = default_memory_size / 2});
    return build(file);
}

/// A new machine with @p file, ready to run; or why there is none.
Result<Machine> make(const std::vector<std::byte>& file,
                     const Config& config,
                     const std::shared_ptr<SyscallHandler>& calls)
{
    const auto program = Program::from_elf(file);
    if (!program)
        return std::unexpected{program.error()};
    auto machine = Machine::create(config);
    if (!machine)
        return std::unexpected{machine.error()};
    if (auto added = machine->add_syscalls(calls); !added)
        return std::unexpected{added.error()};
    if (auto loaded = machine->load(*program); !loaded)
        return std::unexpected{loaded.error()};
    return machine;
}

class OutOfMemory : public EveryConfig
{
protected:
    [[nodiscard]] Result<Machine> make() const { return test::make(m_file, config(), m_calls); }

    /// The exit of a run that had all the memory that it wanted.
    [[nodiscard]] Exit whole_run() const { return make().value().run(); }

private:
    std::vector<std::byte> m_file = two_pages_and_added_code(config().version);
    std::shared_ptr<SyscallHandler> m_calls = std::make_shared<AddsCode>();
};

TEST_P(OutOfMemory, is_an_error_wherever_it_happens_before_a_run)
{
    static_cast<void>(whole_run());  // what is kept from one machine to the next is there now
    std::size_t count = 0;
    for (bool made = false; !made; ++count) {
        ASSERT_LT(count, too_many);
        const std::int64_t live = allocations.live;
        {
            std::optional<Result<Machine>> machine;
            {
                const OutOfMemoryAfter limit{count};
                machine.emplace(make());
            }
            made = machine->has_value();
            if (!made) {
                EXPECT_EQ(machine->error(), Error{.code = ErrorCode::out_of_memory}) << count;
            }
        }
        EXPECT_EQ(allocations.live, live) << "leaked, with memory for " << count << " allocations";
    }
    EXPECT_GT(count, 8U);
}

TEST_P(OutOfMemory, ends_a_run_wherever_it_happens_and_another_goes_on)
{
    const Exit wanted = whole_run();
    ASSERT_EQ(wanted.exit_code, 7);
    std::size_t count = 0;
    for (bool whole = false; !whole; ++count) {
        ASSERT_LT(count, too_many);
        const std::int64_t live = allocations.live;
        {
            Machine machine = make().value();
            std::optional<Exit> exit;
            {
                const OutOfMemoryAfter limit{count};
                exit = machine.run();
            }
            whole = exit->reason == Exit::Reason::exited;
            if (!whole) {
                EXPECT_EQ(exit->error, Error{.code = ErrorCode::out_of_memory}) << count;
                EXPECT_EQ(exit->pc, machine.pc());
                exit = machine.run();
            }
            EXPECT_EQ(exit->exit_code, wanted.exit_code) << count;
            EXPECT_EQ(exit->cycles, wanted.cycles) << count;
            EXPECT_EQ(exit->pc, wanted.pc) << count;
        }
        EXPECT_EQ(allocations.live, live) << "leaked, with memory for " << count << " allocations";
    }
    EXPECT_GT(count, 2U);
}

TEST_P(OutOfMemory, ends_a_step_wherever_it_happens_and_another_goes_on)
{
    const Exit wanted = whole_run();
    Machine machine = make().value();
    std::optional<Exit> exit;
    std::size_t refused = 0;
    while (!exit) {
        for (std::size_t count = 0;; ++count) {
            ASSERT_LT(count, too_many);
            const OutOfMemoryAfter limit{count};
            exit = machine.step();
            if (!exit || exit->reason != Exit::Reason::error)
                break;
            EXPECT_EQ(exit->error, Error{.code = ErrorCode::out_of_memory});
            ++refused;
        }
    }
    EXPECT_GT(refused, 2U);
    EXPECT_EQ(exit->exit_code, wanted.exit_code) << message(exit->error);
    EXPECT_EQ(exit->cycles, wanted.cycles);
}

MOPVM_ALL_CONFIGS(OutOfMemory);

TEST(OutOfMemoryError, takes_the_place_of_a_text)
{
    const auto with_no_memory = [](auto&& call) {
        const OutOfMemoryAfter limit{0};
        return call();
    };
    EXPECT_EQ(with_no_memory([] { return Mapping::create(1, Version::v2); }).error(),
              Error{.code = ErrorCode::out_of_memory});
    EXPECT_EQ(with_no_memory([] {
                  return CostModel::standard().cost("no operation of this name");
              }).error(),
              Error{.code = ErrorCode::out_of_memory});
}

/// Takes what is written, and has nothing to read.
class NoStreams final : public GuestStreams
{
public:
    Result<std::size_t> read(std::span<std::byte> /*to*/) noexcept override { return 0; }
    Result<void> write(int /*fd*/, std::span<const std::byte> /*from*/) noexcept override
    {
        return {};
    }
};

TEST(OutOfMemoryError, is_that_of_a_call_that_could_say_more)
{
    constexpr std::uint64_t debug_print = 2177;
    const auto calls = make_ckb_syscalls(std::make_shared<NoStreams>());
    Machine machine = Machine::create({}).value();
    ASSERT_TRUE(machine.memory().fill(data_address, 1, std::byte{0xff}));
    machine.set_reg(a0, data_address);
    machine.set_reg(a7, debug_print);
    EXPECT_EQ(calls->handle(machine).error().code, ErrorCode::external);
    const OutOfMemoryAfter limit{0};
    EXPECT_EQ(calls->handle(machine).error(), Error{.code = ErrorCode::out_of_memory});
}

TEST(OutOfMemoryError, leaves_no_system_calls)
{
    std::shared_ptr<GuestStreams> streams = std::make_shared<NoStreams>();
    const OutOfMemoryAfter limit{0};
    EXPECT_EQ(make_ckb_syscalls(streams), nullptr);
    EXPECT_EQ(make_posix_syscalls(streams), nullptr);
}

class RefusedMapping : public testing::Test
{
protected:
    ~RefusedMapping() override { mappings_to_refuse = 0; }

    static Result<Mapping> make(std::uint64_t size) { return Mapping::create(size, Version::v2); }
    /// Mappings that the host is asked for so that there is one of @p size.
    static int wanted_for(std::uint64_t size)
    {
        const int before = mappings_wanted;
        EXPECT_TRUE(make(size));
        return mappings_wanted - before;
    }
};

TEST_F(RefusedMapping, makes_room_by_giving_back_those_that_are_kept)
{
    constexpr std::uint64_t kept = 3 * memory_size_unit;
    constexpr std::uint64_t other = 5 * memory_size_unit;
    static_cast<void>(make(kept));
    EXPECT_EQ(wanted_for(kept), 0) << "the test is void unless it is kept";
    mappings_to_refuse = 1;
    EXPECT_EQ(wanted_for(other), 2);
    EXPECT_EQ(wanted_for(kept), 1) << "it was not given back";
}

TEST_F(RefusedMapping, is_an_error_if_there_is_no_room_all_the_same)
{
    constexpr std::uint64_t size = 7 * memory_size_unit;
    mappings_to_refuse = 2;
    EXPECT_EQ(make(size).error(), Error{.code = ErrorCode::out_of_memory});
    EXPECT_EQ(mappings_to_refuse, 0);
    mappings_to_refuse = 2;
    EXPECT_EQ(Machine::create({.memory_size = size}).error(),
              Error{.code = ErrorCode::out_of_memory});
    EXPECT_TRUE(Machine::create({.memory_size = size}));
}
}  // namespace
}  // namespace mopvm::test
