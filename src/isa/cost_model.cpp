// SPDX-License-Identifier: MIT
// The shipped cost models, made from the classes in opcodes.inc.

#include "isa/opcode.hpp"

#include <mopvm/cost_model.hpp>
#include <mopvm/stats.hpp>

#include <array>
#include <new>
#include <utility>

namespace mopvm
{
namespace
{
static_assert(isa::opcode_count <= CostModel::capacity);

/// Cycles of each class in the standard model (docs/cycles.md).
constexpr std::uint32_t standard_cycles(isa::CostClass cost) noexcept
{
    switch (cost) {
    case isa::CostClass::alu:
        return 1;
    case isa::CostClass::jump:
    case isa::CostClass::access:
    case isa::CostClass::atomic_double:
        return 3;
    case isa::CostClass::double_access:
        return 2;
    case isa::CostClass::multiply:
        return 5;
    case isa::CostClass::divide:
        return 32;
    case isa::CostClass::atomic_word:
        return 4;
    case isa::CostClass::system:
        return 500;
    }
    std::unreachable();
}

/// Calls @p use with the index of every operation called @p operation: JALR has two.
/// @return false when there is none.
template <typename Use>
bool for_each_named(std::string_view operation, const Use& use) noexcept
{
    bool found = false;
    for (std::size_t i = isa::index(isa::Opcode::invalid) + 1; i < isa::opcode_count; ++i) {
        if (isa::traits(static_cast<isa::Opcode>(i)).mnemonic == operation) {
            use(i);
            found = true;
        }
    }
    return found;
}

Error no_such_operation(std::string_view operation) noexcept
{
    Error error{.code = ErrorCode::invalid_config};
    try {
        error.text = "there is no operation called \"" + std::string{operation} + "\"";
    } catch (const std::bad_alloc&) {
        error.code = ErrorCode::out_of_memory;
    }
    return error;
}
}  // namespace

CostModel CostModel::standard() noexcept
{
    CostModel model;
    for (std::size_t i = isa::index(isa::Opcode::invalid) + 1; i < isa::opcode_count; ++i)
        model.m_cycles[i] = standard_cycles(isa::traits(static_cast<isa::Opcode>(i)).cost);
    return model;
}

CostModel CostModel::constant() noexcept
{
    CostModel model;
    for (std::size_t i = isa::index(isa::Opcode::invalid) + 1; i < isa::opcode_count; ++i)
        model.m_cycles[i] = 1;
    return model;
}

CostModel CostModel::zero() noexcept
{
    return {};
}

Result<CostModel> CostModel::with(std::string_view operation, std::uint32_t cycles) const noexcept
{
    CostModel model = *this;
    if (!for_each_named(operation, [&](std::size_t i) { model.m_cycles[i] = cycles; }))
        return std::unexpected{no_such_operation(operation)};
    return model;
}

Result<std::uint32_t> CostModel::cost(std::string_view operation) const noexcept
{
    std::uint32_t cycles = 0;
    if (!for_each_named(operation, [&](std::size_t i) { cycles = m_cycles[i]; }))
        return std::unexpected{no_such_operation(operation)};
    return cycles;
}

std::string_view name(FusionRule rule) noexcept
{
    const std::size_t first = isa::index(isa::Opcode::adc);
    return isa::traits(static_cast<isa::Opcode>(first + static_cast<std::size_t>(rule))).mnemonic;
}
}  // namespace mopvm
