// SPDX-License-Identifier: MIT
/// @file
/// System calls for generated guests, answered alike by the machine and by the model of it.
#pragma once

#include "isa/registers.hpp"

#include <mopvm/machine.hpp>
#include <mopvm/syscall.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// Numbers of the calls. Any other is refused as `invalid_ecall`.
namespace guest_call
{
inline constexpr std::uint64_t mix = 1000;     ///< a0 = a digest of a0, a1, pc and cycles.
inline constexpr std::uint64_t charge = 1001;  ///< Charges up to 63 cycles, by a0.
inline constexpr std::uint64_t yield = 1002;
inline constexpr std::uint64_t pause = 1003;
inline constexpr std::uint64_t refuse = 1004;    ///< An error of the handler.
inline constexpr std::uint64_t leave = 1005;     ///< Exits with a0.
inline constexpr std::uint64_t map_late = 1006;  ///< Maps the late code; a0 says how.
inline constexpr std::uint64_t fill = 1007;      ///< Fills up to 8 KiB at a1; a0 = 1 if refused.
inline constexpr std::uint64_t exit = 93;
}  // namespace guest_call

/// Code that becomes executable while the machine runs: whole pages from @p address on.
struct LateCode
{
    std::uint64_t address = 0;
    std::vector<std::byte> bytes{};  ///< None: there is no late code.
    /// Other bytes for the same pages, at most as many; what a repeated mapping may bring.
    std::vector<std::byte> other_bytes{};
};

/// Maps late code: the other bytes when @p how has bit 0, frozen when it has bit 1.
[[nodiscard]] inline Result<void> map_late_code(Memory memory,
                                                const LateCode& late,
                                                std::uint64_t how)
{
    const auto pages = (late.bytes.size() + page_size - 1) / page_size;
    const auto flags =
        static_cast<std::uint8_t>(page_flag::executable | ((how & 2) != 0 ? page_flag::frozen : 0));
    return memory.init_pages(late.address, pages * page_size, flags,
                             (how & 1) != 0 ? late.other_bytes : late.bytes, 0);
}

/// What the calls do beside the guest's state.
struct GuestCalls
{
    LateCode late{};
    /// `mix` lets the guest see the cycles. Off where totals are expected to differ.
    bool cycles_visible = true;
};

/// Answers one call on @p host, a `Machine` or something with the same members.
template <typename Host>
[[nodiscard]] Result<SyscallAnswer> answer(Host& host, const GuestCalls& calls)
{
    const std::uint64_t a0 = host.reg(isa::reg_a0);
    const std::uint64_t a1 = host.reg(isa::reg_a0 + 1);
    const auto finish = [&host](bool refused) {
        host.set_reg(isa::reg_a0, refused ? 1 : 0);
        return SyscallAnswer::handled();
    };
    switch (host.reg(isa::reg_a7)) {
    case guest_call::mix: {
        std::uint64_t digest = a0 ^ a1 * 0x9e3779b97f4a7c15 ^ host.pc();
        if (calls.cycles_visible)
            digest ^= host.cycles() << 20;
        host.set_reg(isa::reg_a0, digest);
        return SyscallAnswer::handled();
    }
    case guest_call::charge:
        if (auto charged = host.add_cycles_no_check(a0 % 64); !charged)
            return std::unexpected{std::move(charged.error())};
        return SyscallAnswer::handled();
    case guest_call::yield:
        return SyscallAnswer::yield();
    case guest_call::pause:
        return SyscallAnswer::pause();
    case guest_call::refuse:
        return std::unexpected{Error{.code = ErrorCode::external, .text = "refused"}};
    case guest_call::leave:
        return SyscallAnswer::exit(static_cast<std::int8_t>(a0));
    case guest_call::map_late:
        if (calls.late.bytes.empty())
            return finish(true);
        return finish(!map_late_code(host.memory(), calls.late, a0));
    case guest_call::fill:
        return finish(!host.memory().fill(a1, host.reg(isa::reg_a0 + 2) % (2 * page_size),
                                          static_cast<std::byte>(a0)));
    default:
        return SyscallAnswer::not_mine();
    }
}

/// The calls as a handler of a `Machine`.
class GuestCallHandler final : public SyscallHandler
{
public:
    explicit GuestCallHandler(GuestCalls calls) : m_calls{std::move(calls)} {}

    Result<void> initialize(Machine& /*machine*/) noexcept override { return {}; }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        return answer(machine, m_calls);
    }

private:
    GuestCalls m_calls;
};
}  // namespace mopvm::test
