// SPDX-License-Identifier: MIT
// Emitting and placing handlers: every way to fail is an error with a text, and leaks nothing.

#include "unit/asm_x64_host.hpp"

#include "asm_x64/frame.hpp"
#include "machine/backend.hpp"

#include <asmjit/asmjit.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace mopvm::test
{
namespace
{
using asm_x64::chosen_sequences;
using asm_x64::Handlers;
using asm_x64::HostCode;
using asm_x64::Unit;
using Emitted = std::expected<Handlers, std::string>;

class AsmHandlers : public testing::Test
{
protected:
    AsmHandlers() { CountingHost::reset(); }

    static Emitted emit(const HostCode::Host& host = counting_host,
                        void (*tamper)(asmjit::CodeHolder& code) = nullptr)
    {
        return Handlers::emit(chosen_sequences(), {.host = host, .tamper = tamper});
    }
    /// The error of @p emitted, which leaves nothing mapped.
    static std::string refused(Emitted emitted)
    {
        EXPECT_EQ(CountingHost::mapped, CountingHost::unmapped);
        return emitted ? "none" : emitted.error();
    }
};

std::vector<Unit> units_with_handler()
{
    std::vector<Unit> units;
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        if (has_handler(static_cast<Unit>(i)))
            units.push_back(static_cast<Unit>(i));
    }
    return units;
}

/// The permissions of the page at @p address, as the kernel lists them.
std::string permissions_at(std::uintptr_t address)
{
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words{line};
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        char dash = 0;
        std::string permissions;
        words >> std::hex >> begin >> dash >> end >> permissions;
        if (begin <= address && address < end)
            return permissions;
    }
    return "none";
}

TEST_F(AsmHandlers, are_below_4_gib_and_all_at_other_places)
{
    const Emitted handlers = emit();
    ASSERT_TRUE(handlers) << handlers.error();
    const auto begin = reinterpret_cast<std::uintptr_t>(CountingHost::last.data());
    EXPECT_LE(begin + handlers->code_bytes(), std::uint64_t{1} << 32);
    EXPECT_LE(handlers->code_bytes(), CountingHost::last.size());
    std::set<std::uint32_t> seen;
    const auto check = [&](std::uint32_t handler) {
        EXPECT_GE(handler, begin);
        EXPECT_LT(handler, begin + handlers->code_bytes());
        EXPECT_TRUE(seen.insert(handler).second);
    };
    for (const Unit unit : units_with_handler())
        check(handlers->of_unit(unit));
    for (std::size_t i = 0; i < chosen_sequences().size(); ++i)
        check(handlers->of_sequence(static_cast<std::uint16_t>(i)));
}

TEST_F(AsmHandlers, cannot_be_written_once_they_are_there)
{
    const Emitted handlers = emit();
    ASSERT_TRUE(handlers) << handlers.error();
    const auto begin = reinterpret_cast<std::uintptr_t>(CountingHost::last.data());
    for (std::uintptr_t at = begin; at < begin + CountingHost::last.size(); at += page_size)
        EXPECT_EQ(permissions_at(at), "r-xp");
}

TEST_F(AsmHandlers, of_the_process_cannot_be_written_either)
{
    const Emitted& handlers = asm_x64::handlers();
    ASSERT_TRUE(handlers) << handlers.error();
    for (const Unit unit : units_with_handler())
        EXPECT_EQ(permissions_at(handlers->of_unit(unit)), "r-xp");
    for (std::size_t i = 0; i < chosen_sequences().size(); ++i)
        EXPECT_EQ(permissions_at(handlers->of_sequence(static_cast<std::uint16_t>(i))), "r-xp");
}

TEST_F(AsmHandlers, are_given_back_with_their_owner)
{
    {
        Emitted handlers = emit();
        ASSERT_TRUE(handlers);
        const Handlers moved = *std::move(handlers);
        EXPECT_EQ(CountingHost::mapped, 1);
        EXPECT_EQ(CountingHost::unmapped, 0);
    }
    EXPECT_EQ(CountingHost::unmapped, 1);
}

TEST_F(AsmHandlers, are_the_same_each_time)
{
    const Emitted one = emit();
    const std::span first = CountingHost::last;
    const Emitted other = emit();
    ASSERT_TRUE(one && other);
    ASSERT_EQ(first.size(), CountingHost::last.size());
    for (const Unit unit : units_with_handler()) {
        EXPECT_EQ(
            one->of_unit(unit) - reinterpret_cast<std::uintptr_t>(first.data()),
            other->of_unit(unit) - reinterpret_cast<std::uintptr_t>(CountingHost::last.data()));
    }
}

TEST_F(AsmHandlers, need_no_sequences)
{
    const Emitted handlers = Handlers::emit({}, {.host = counting_host});
    ASSERT_TRUE(handlers) << handlers.error();
    asm_x64::SequenceMatcher::Walk walk{handlers->matcher()};
    EXPECT_FALSE(walk.advance({.unit = Unit::addi}));
}

TEST_F(AsmHandlers, are_an_error_of_more_sequences_than_can_be_numbered)
{
    constexpr std::size_t most = asm_x64::SequenceMatcher::max_sequences;
    const asm_x64::Sequence sequence{.tokens = {{{.unit = Unit::addi}, {.unit = Unit::addi}}},
                                     .length = 2};
    const std::vector<asm_x64::Sequence> too_many(most + 1, sequence);
    EXPECT_EQ(refused(Handlers::emit(too_many, {.host = counting_host})),
              "4001 sequences are more than 4000");
    EXPECT_EQ(CountingHost::mapped, 0);
    EXPECT_TRUE(Handlers::emit(std::span{too_many}.first(most), {.host = counting_host}));
}

TEST_F(AsmHandlers, are_an_error_when_an_instruction_cannot_be_encoded)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::x86::Assembler a{&code};
        a.emit(asmjit::x86::Inst::kIdAdd, asmjit::x86::rax, asmjit::x86::xmm0);
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
    EXPECT_TRUE(error.ends_with("add rax, xmm0")) << error;
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, are_an_error_when_they_need_more_room_than_there_is)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::x86::Assembler a{&code};
        const std::uint8_t byte = 0xcc;
        a.embedDataArray(asmjit::TypeId::kUInt8, &byte, 1, CountingHost::last.size());
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, have_room_even_if_all_units_are_the_longest)
{
    // As long as sequences may be, of every unit that may be in one.
    std::vector<asm_x64::Sequence> sequences;
    for (std::size_t i = 1; i < asm_x64::unit_count; ++i) {
        const auto unit = static_cast<Unit>(i);
        if (!asm_x64::can_be_in_sequence(asm_x64::shape(unit)))
            continue;
        asm_x64::Sequence sequence;
        sequence.length =
            asm_x64::transfers(asm_x64::shape(unit)) ? 1 : asm_x64::max_sequence_length;
        sequence.tokens.fill({.unit = unit});
        sequences.push_back(sequence);
    }
    for (const asm_x64::Sequence& sequence : sequences) {
        const Emitted handlers = Handlers::emit({&sequence, 1}, {.host = counting_host});
        EXPECT_TRUE(handlers) << handlers.error();
    }
    EXPECT_TRUE(Handlers::emit(sequences, {.host = counting_host}));
}

TEST_F(AsmHandlers, are_an_error_when_a_label_is_bound_twice)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::x86::Assembler a{&code};
        const asmjit::Label label = a.newLabel();
        a.bind(label);
        a.bind(label);
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
}

TEST_F(AsmHandlers, are_an_error_when_a_jump_leads_nowhere)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::x86::Assembler a{&code};
        a.jmp(a.newLabel());
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
}

TEST_F(AsmHandlers, are_an_error_when_they_do_not_fit_where_they_are_placed)
{
    // The address of a label in two bytes: known, and too large, once there is memory.
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::x86::Assembler a{&code};
        const asmjit::Label label = a.newLabel();
        a.bind(label);
        a.embedLabel(label, 2);
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, are_an_error_when_their_sections_reach_beyond_all_addresses)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::Section* section = nullptr;
        ASSERT_EQ(code.newSection(&section, "far"), asmjit::kErrorOk);
        section->setVirtualSize(~std::uint64_t{0});
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, are_an_error_when_a_jump_to_another_section_is_too_short)
{
    const std::string error = refused(emit(counting_host, [](asmjit::CodeHolder& code) {
        asmjit::Section* section = nullptr;
        ASSERT_EQ(code.newSection(&section, "far"), asmjit::kErrorOk);
        asmjit::x86::Assembler a{&code};
        const asmjit::Label label = a.newLabel();
        a.short_().jmp(label);
        a.section(section);
        constexpr std::size_t farther_than_short_jumps = 256;
        for (std::size_t i = 0; i < farther_than_short_jumps; ++i)
            a.nop();
        a.bind(label);
    }));
    EXPECT_TRUE(error.starts_with("the handlers cannot be emitted: ")) << error;
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, are_an_error_without_memory)
{
    HostCode::Host host = counting_host;
    host.map = [](std::size_t) noexcept -> std::byte* {
        errno = ENOMEM;
        return nullptr;
    };
    EXPECT_EQ(refused(emit(host)),
              "the host gives no memory below 2 GiB for emitted code: Cannot allocate memory");
}

TEST_F(AsmHandlers, are_an_error_in_memory_that_32_bits_cannot_address)
{
    HostCode::Host host = counting_host;
    host.map = [](std::size_t size) noexcept {
        void* const memory =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ++CountingHost::mapped;
        return static_cast<std::byte*>(memory);
    };
    EXPECT_EQ(refused(emit(host)), "the host's memory for emitted code is above 4 GiB");
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST_F(AsmHandlers, are_an_error_where_nothing_emitted_may_be_executed)
{
    HostCode::Host host = counting_host;
    host.protect = [](std::byte*, std::size_t) noexcept {
        errno = EACCES;
        return false;
    };
    EXPECT_EQ(refused(emit(host)), "the host lets no emitted code be executed: Permission denied");
    EXPECT_EQ(CountingHost::mapped, 1);
}

TEST(AsmBackend, runs_where_handlers_are)
{
    ASSERT_TRUE(asm_x64::handlers());
    const auto backend = find_backend("asm");
    ASSERT_TRUE(backend);
    EXPECT_EQ((*backend)->name, "asm");
    EXPECT_EQ((*backend)->why_not(), "");
    EXPECT_EQ(find_backend("auto").value()->name, "asm") << "the best comes first";
    EXPECT_NE(&(*backend)->format(true), &(*backend)->format(false));
}
}  // namespace
}  // namespace mopvm::test
