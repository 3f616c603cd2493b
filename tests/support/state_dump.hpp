// SPDX-License-Identifier: MIT
/// @file
/// All of a machine that can be observed, as one value that compares and prints.
#pragma once

#include "decoder/disassembler.hpp"
#include "isa/registers.hpp"

#include <mopvm/machine.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iomanip>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace mopvm::test
{
/// One page that is not as it was when memory was fresh.
struct PageDump
{
    std::uint64_t page = 0;
    std::uint8_t flags = 0;
    std::uint64_t digest = 0;

    friend bool operator==(const PageDump&, const PageDump&) = default;
};

/// What two machines that did the same have in common.
struct StateDump
{
    std::optional<Exit> exit{};  ///< Nothing in the middle of a run.
    std::array<std::uint64_t, isa::register_count> registers{};
    std::uint64_t pc = 0;
    std::uint64_t cycles = 0;
    Stats stats{};
    std::vector<PageDump> pages{};

    friend bool operator==(const StateDump&, const StateDump&) = default;
};

/// A digest of one page.
[[nodiscard]] inline std::uint64_t digest(std::span<const std::byte> bytes)
{
    std::uint64_t value = 0xcbf29ce484222325;
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, sizeof(word));
        value = (value ^ word) * 0x100000001b3;
        value ^= value >> 29;
    }
    return value;
}

/// The state of @p host, a `Machine` or something with the same members, without its memory.
template <typename Host>
[[nodiscard]] StateDump capture_without_pages(Host& host, const std::optional<Exit>& exit)
{
    StateDump dump{.exit = exit, .pc = host.pc(), .cycles = host.cycles(), .stats = host.stats()};
    for (unsigned i = 0; i < isa::register_count; ++i)
        dump.registers[i] = host.reg(i);
    return dump;
}

/// The state of @p host, a `Machine` or something with the same members. Pages without flags are
/// left out: they are zero, which `clean_pages_are_zero` can tell.
template <typename Host>
[[nodiscard]] StateDump capture(Host& host, const std::optional<Exit>& exit)
{
    StateDump dump = capture_without_pages(host, exit);
    const Memory memory = host.memory();
    for (std::uint64_t page = 0; page < memory.size() / page_size; ++page)
        if (const std::uint8_t flags = memory.flags(page).value(); flags != 0)
            dump.pages.push_back(
                {page, flags, digest(memory.view(page * page_size, page_size).value())});
    return dump;
}

/// True when every page that was never written holds zeros alone.
template <typename Host>
[[nodiscard]] bool clean_pages_are_zero(Host& host)
{
    static constexpr std::array<std::byte, page_size> zeros{};
    const Memory memory = host.memory();
    for (std::uint64_t page = 0; page < memory.size() / page_size; ++page)
        if (memory.flags(page).value() == 0 &&
            std::memcmp(memory.view(page * page_size, page_size)->data(), zeros.data(),
                        page_size) != 0)
            return false;
    return true;
}

[[nodiscard]] inline std::string to_text(const Exit& exit)
{
    std::ostringstream out;
    out << name(exit.reason) << std::hex;
    if (exit.reason == Exit::Reason::exited)
        out << ' ' << std::dec << int{exit.exit_code} << std::hex;
    if (exit.reason == Exit::Reason::error)
        out << ' ' << name(exit.error.code) << " kind " << name(exit.error.kind) << " bits 0x"
            << exit.error.bits << " address 0x" << exit.error.address << " \"" << exit.error.text
            << '"';
    out << " at pc 0x" << exit.pc << std::dec << " after " << exit.cycles << " cycles";
    return out.str();
}

/// One line for each thing that differs; empty when the states are equal.
[[nodiscard]] inline std::string difference(const StateDump& wanted, const StateDump& got)
{
    std::ostringstream out;
    const auto compare = [&out](std::string_view what, const auto& a, const auto& b) {
        if (a != b)
            out << "  " << what << ": want 0x" << std::hex << a << ", got 0x" << b << std::dec
                << '\n';
    };
    if (wanted.exit != got.exit)
        out << "  exit: want " << (wanted.exit ? to_text(*wanted.exit) : "none")
            << "\n         got " << (got.exit ? to_text(*got.exit) : "none") << '\n';
    compare("pc", wanted.pc, got.pc);
    compare("cycles", wanted.cycles, got.cycles);
    for (std::size_t i = 0; i < isa::register_count; ++i)
        compare(isa::register_names[i], wanted.registers[i], got.registers[i]);
    compare("operations", wanted.stats.operations, got.stats.operations);
    compare("instructions", wanted.stats.instructions, got.stats.instructions);
    for (std::size_t i = 0; i < fusion_rule_count; ++i)
        compare(name(static_cast<FusionRule>(i)), wanted.stats.fused[i], got.stats.fused[i]);
    const auto list = [&out](std::string_view whose, const std::vector<PageDump>& pages,
                             const std::vector<PageDump>& others) {
        for (const PageDump& page : pages)
            if (std::find(others.begin(), others.end(), page) == others.end())
                out << "  page 0x" << std::hex << page.page << ": " << whose << " flags 0x"
                    << int{page.flags} << " digest 0x" << page.digest << std::dec << '\n';
    };
    list("want", wanted.pages, got.pages);
    list("got", got.pages, wanted.pages);
    return out.str();
}

/// The instruction at @p pc of @p host as a line of assembly, without its line end.
template <typename Host>
[[nodiscard]] std::string listing_line(Host& host, std::uint64_t pc, const decoder::Isa& isa)
{
    std::ostringstream out;
    out << "  " << std::hex << std::setw(8) << pc << "  ";
    const Memory memory = host.memory();
    const auto low = memory.load<std::uint16_t>(pc);
    if (!low)
        return out.str() + "(out of bounds)";
    std::uint32_t bits = *low;
    if (!decoder::is_compressed(bits)) {
        const auto high = memory.load<std::uint16_t>(pc + 2);
        if (!high)
            return out.str() + "(cut off by the end of memory)";
        bits |= std::uint32_t{*high} << 16;
    }
    out << std::setw(8) << bits << "  " << decoder::disassemble(bits, pc, isa).text();
    return out.str();
}

/// Steps @p host, a model, until its run ends and lists the last instructions that it came to.
template <typename Host>
[[nodiscard]] std::string trace(Host& host, const decoder::Isa& isa, std::size_t lines = 16)
{
    std::deque<std::string> last;
    for (std::size_t steps = 0; steps < 100'000; ++steps) {
        last.push_back(listing_line(host, host.pc(), isa));
        if (last.size() > lines)
            last.pop_front();
        if (const auto exit = host.step();
            exit && exit->reason != Exit::Reason::paused && exit->reason != Exit::Reason::yielded)
            break;
    }
    std::string text;
    for (const std::string& line : last)
        text += line + '\n';
    return text;
}
}  // namespace mopvm::test
