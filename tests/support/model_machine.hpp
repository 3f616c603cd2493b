// SPDX-License-Identifier: MIT
/// @file
/// A second machine for comparison: it fetches, decodes and fuses each operation afresh, from the
/// bytes as they are, and knows neither blocks nor shared code.
#pragma once

#include "decoder/decoder.hpp"
#include "fusion/fuser.hpp"
#include "isa/instruction.hpp"
#include "memory/mapping.hpp"
#include "semantics/execute.hpp"
#include "support/fusion_exceptions.hpp"
#include "support/guest_calls.hpp"

#include <mopvm/machine.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// The sentence "as if one operation at a time", written down once more.
class ModelMachine
{
public:
    /// Begins where @p machine stands. @p machine holds no reservation: nobody can see one.
    ModelMachine(Machine& machine, const GuestCalls& calls)
        : m_config{machine.config()},
          m_isa{.version = m_config.version, .b = m_config.isa_b, .a = m_config.isa_a},
          m_calls{calls},
          m_mapping{memory::Mapping::create(m_config.memory_size, m_config.version).value()}
    {
        m_state.memory = m_mapping.space();
        for (unsigned i = 0; i < isa::register_count; ++i)
            m_state.x[i] = machine.reg(i);
        m_state.pc = machine.pc();
        m_state.cycles = machine.cycles();
        m_state.max_cycles = machine.max_cycles();
        const Memory from = machine.memory();
        for (std::uint64_t page = 0; page < m_state.memory.page_count(); ++page) {
            m_state.memory.flags[page] = from.flags(page).value();
            // All other pages are zero here and there; whoever captures both states checks that.
            if (m_state.memory.flags[page] != 0)
                std::memcpy(m_state.memory.bytes + page * page_size,
                            from.view(page * page_size, page_size)->data(), page_size);
        }
    }

    [[nodiscard]] std::uint64_t reg(unsigned index) const { return m_state.x[index]; }
    void set_reg(unsigned index, std::uint64_t value) { m_state.set(index, value); }
    [[nodiscard]] std::uint64_t pc() const { return m_state.pc; }
    void set_pc(std::uint64_t pc) { m_state.pc = pc; }
    [[nodiscard]] std::uint64_t cycles() const { return m_state.cycles; }
    void set_max_cycles(std::uint64_t max_cycles) { m_state.max_cycles = max_cycles; }
    [[nodiscard]] const Stats& stats() const { return m_stats; }
    [[nodiscard]] Memory memory() { return Memory{m_state.memory}; }
    [[nodiscard]] Result<void> add_cycles_no_check(std::uint64_t cycles)
    {
        if (m_state.cycles + cycles < cycles)
            return std::unexpected{Error{.code = ErrorCode::cycles_overflow}};
        m_state.cycles += cycles;
        return {};
    }

    /// True when a fused operation was executed that does not mean what its parts mean.
    [[nodiscard]] bool met_exception() const { return m_met_exception; }

    /// Executes one operation. @return how the run ends, or nothing when it goes on.
    std::optional<Exit> step()
    {
        const auto window = decode_window();
        if (!window)
            return failed(window.error());
        const isa::Operation operation = first_operation(*window);

        const std::uint64_t cost = m_config.cost_model[static_cast<std::uint8_t>(operation.opcode)];
        if (m_state.cycles + cost < cost)
            return failed({.code = ErrorCode::cycles_overflow});
        if (m_state.cycles + cost > m_state.max_cycles)
            return failed({.code = ErrorCode::cycles_exceeded});
        m_state.cycles += cost;

        const semantics::Outcome outcome = semantics::execute(m_state, operation);
        if (outcome == semantics::Outcome::fault)
            return failed(memory::to_error(m_state.fault));
        ++m_stats.operations;
        m_stats.instructions += operation.parts;
        if (isa::is_fused(operation.opcode)) {
            ++m_stats.fused[isa::index(operation.opcode) - isa::index(isa::Opcode::adc)];
            m_met_exception |= differs_from_its_parts(operation, *window, m_config.version);
        }
        return outcome == semantics::Outcome::ecall ? system_call() : std::nullopt;
    }

    Exit run()
    {
        for (;;)
            if (auto exit = step())
                return *std::move(exit);
    }

private:
    /// Bounds first, then each page; @p length bytes at @p address may be fetched.
    [[nodiscard]] std::optional<Error> refusal(std::uint64_t address, std::uint64_t length) const
    {
        const std::uint64_t size = m_state.memory.size;
        if (address >= size)
            return Error{.code = ErrorCode::mem_out_of_bound, .address = address};
        if (address + length > size)
            return Error{.code = ErrorCode::mem_out_of_bound, .address = address + length};
        for (std::uint64_t byte = address; byte < address + length; ++byte)
            if ((m_state.memory.flags[byte / page_size] & page_flag::executable) == 0)
                return Error{.code = ErrorCode::mem_write_on_executable_page,
                             .address = byte / page_size};
        return std::nullopt;
    }

    [[nodiscard]] std::uint32_t half_at(std::uint64_t address) const
    {
        return m_state.memory.bytes[address] | std::uint32_t{m_state.memory.bytes[address + 1]}
                                                   << 8;
    }

    [[nodiscard]] Result<isa::Instruction> decode_at(std::uint64_t pc) const
    {
        // The fetch unit reads four bytes at once, but for the last two of a page.
        const std::uint64_t first_read = pc % page_size < page_size - 2 ? 4 : 2;
        if (auto refused = refusal(pc, first_read))
            return std::unexpected{*std::move(refused)};
        std::uint32_t bits = half_at(pc);
        if (!decoder::is_compressed(bits)) {
            if (first_read == 2)
                if (auto refused = refusal(pc + 2, 2))
                    return std::unexpected{*std::move(refused)};
            bits |= half_at(pc + 2) << 16;
        }
        const isa::Instruction instruction = decoder::decode(bits, m_isa);
        if (instruction.opcode == isa::Opcode::invalid)
            return std::unexpected{
                Error{.code = ErrorCode::invalid_instruction, .bits = bits, .address = pc}};
        return instruction;
    }

    /// The instruction at pc and those behind it, as far as they can be decoded.
    [[nodiscard]] Result<std::vector<isa::Instruction>> decode_window() const
    {
        std::vector<isa::Instruction> window;
        for (std::uint64_t pc = m_state.pc; window.size() < fusion::max_parts;) {
            auto instruction = decode_at(pc);
            if (!instruction && window.empty())
                return std::unexpected{std::move(instruction.error())};
            if (!instruction)
                break;
            window.push_back(*instruction);
            if (!m_config.fusion)
                break;
            pc += instruction->length;
        }
        return window;
    }

    [[nodiscard]] isa::Operation first_operation(std::span<const isa::Instruction> window) const
    {
        if (m_config.fusion)
            if (const auto fused = fusion::fuse(window, m_state.pc, m_config.version))
                return *fused;
        return isa::to_operation(window[0]);
    }

    [[nodiscard]] std::optional<Exit> system_call()
    {
        const std::uint64_t number = m_state.x[isa::reg_a7];
        if (number == guest_call::exit)
            return exited(static_cast<std::int8_t>(m_state.x[isa::reg_a0]));
        auto answered = answer(*this, m_calls);
        if (!answered)
            return failed(std::move(answered.error()));
        switch (answered->kind) {
        case SyscallAnswer::Kind::handled:
            if (m_state.cycles > m_state.max_cycles)
                return failed({.code = ErrorCode::cycles_exceeded});
            return std::nullopt;
        case SyscallAnswer::Kind::exit:
            return exited(answered->exit_code);
        case SyscallAnswer::Kind::pause:
            return stopped(Exit::Reason::paused);
        case SyscallAnswer::Kind::yield:
            return stopped(Exit::Reason::yielded);
        case SyscallAnswer::Kind::not_mine:
            break;
        }
        return failed({.code = ErrorCode::invalid_ecall, .address = number});
    }

    [[nodiscard]] Exit stopped(Exit::Reason reason) const
    {
        return {.reason = reason, .pc = m_state.pc, .cycles = m_state.cycles};
    }
    [[nodiscard]] Exit exited(std::int8_t code) const
    {
        Exit exit = stopped(Exit::Reason::exited);
        exit.exit_code = code;
        return exit;
    }
    [[nodiscard]] Exit failed(Error error) const
    {
        Exit exit = stopped(Exit::Reason::error);
        exit.error = std::move(error);
        return exit;
    }

    Config m_config;
    decoder::Isa m_isa;
    GuestCalls m_calls;
    memory::Mapping m_mapping;
    semantics::State m_state;
    Stats m_stats;
    bool m_met_exception = false;
};
}  // namespace mopvm::test
