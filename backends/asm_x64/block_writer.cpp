// SPDX-License-Identifier: MIT
// Blocks in the form of emitted code: encode each operation, link, choose the longest sequence at
// each place.

#include "asm_x64/block_writer.hpp"

#include "asm_x64/encode.hpp"
#include "asm_x64/relations.hpp"
#include "code/code_image.hpp"
#include "semantics/step.hpp"
#include "support/noise.hpp"

#include <cstring>

namespace mopvm::asm_x64
{
namespace
{
struct Sentinel
{
    code::Block head{.pc = 1};
    Cell body = Cell::of(support::spare_word);  ///< Nobody goes there.
};
constexpr std::array<Sentinel, 2> sentinels{
    {{.head = {.pc = 1}}, {.head = {.pc = 1, .own = true}}}};
static_assert(offsetof(Sentinel, body) == sizeof(code::Block));

/// A branch falls into the cells behind it. When the next block is elsewhere, those are a block
/// without operations that goes there.
constexpr std::size_t detour_bytes = sizeof(code::Block) + cells(Shape::jump) * sizeof(Cell);
constexpr std::size_t count_bytes = cells(Shape::count) * sizeof(Cell);
/// What the last operation takes above others.
constexpr std::size_t transfer_bytes = cells(Shape::call) * sizeof(Cell);
static_assert(detour_bytes + count_bytes + transfer_bytes <= code::max_body_overhead);
static_assert(Encoded::max_cells * sizeof(Cell) <= code::max_operation_bytes);

/// What a link leads to until it is resolved; lies directly behind the cell that says so.
struct Stub
{
    code::Block head;
    Cell unresolved;
    std::uint64_t target;
};
static_assert(sizeof(Stub) + sizeof(Cell) == link_cells * sizeof(Cell));
static_assert(offsetof(Stub, unresolved) == sizeof(code::Block));

bool has_link(Shape shape) noexcept
{
    return shape == Shape::branch || shape == Shape::branch_zero || shape == Shape::jump ||
           shape == Shape::call;
}

bool needs_detour(const code::BlockSource& source) noexcept
{
    return isa::traits(source.operations.back().opcode).flow == isa::Flow::branch &&
           !source.next_follows;
}

CountSummary summary(std::span<const isa::Operation> operations) noexcept
{
    Stats stats;
    for (const isa::Operation& operation : operations)
        semantics::count(stats, operation);
    CountSummary made{.operations = static_cast<std::uint32_t>(stats.operations),
                      .instructions = static_cast<std::uint32_t>(stats.instructions)};
    for (std::size_t i = 0; i < stats.fused.size(); ++i)
        made.fused[i] = static_cast<std::uint8_t>(stats.fused[i]);
    return made;
}

/// Writes cells one behind the other.
class Writer
{
public:
    Writer(std::byte* to,
           const code::Block& head,
           const code::CodeImage& image,
           const Handlers& handlers) noexcept
        : m_cell{reinterpret_cast<Cell*>(to)}, m_head{head}, m_image{image}, m_handlers{handlers}
    {}

    /// Bytes that were written since @p begin.
    [[nodiscard]] std::size_t bytes_from(const std::byte* begin) const noexcept
    {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(m_cell) - begin);
    }

    /// Writes what @p operation at @p pc is, if anything.
    void write(const isa::Operation& operation, std::uint64_t pc) noexcept
    {
        const Plan plan = plan_of(operation);
        if (plan.form == Form::elaborate) {
            write(encode_elaborate(operation, pc));
        } else if (plan.form != Form::nothing) {
            const Cell cell = plan.cell(operation, m_handlers.of_unit(plan.unit));
            begin_unit(plan.unit, cell, plan.result(cell));
            *m_cell++ = cell;
        }
    }

    void write(const Encoded& encoded) noexcept
    {
        begin_unit(encoded.unit, encoded.cells[0], encoded.result);
        const Shape of = shape(encoded.unit);
        const std::size_t own_cells = encoded.cell_count - (has_link(of) ? link_cells : 0);
        for (std::size_t i = 0; i < own_cells; ++i)
            m_cell[i] = encoded.cells[i];
        m_cell->handler = m_handlers.of_unit(encoded.unit);
        if (of == Shape::call_indirect)
            m_cell[2] = Cell::of(reinterpret_cast<std::uintptr_t>(no_block_body(m_head.own)));
        m_cell += own_cells;
        if (has_link(of))
            write_link(encoded.target);
    }

    template <typename T>
    void write_raw(const T& value) noexcept
    {
        std::memcpy(m_cell, &value, sizeof(value));
        // NOLINTNEXTLINE(bugprone-sizeof-expression): one that is a cell counts as one.
        m_cell += sizeof(value) / sizeof(Cell);
    }

    /// Gives the first units of the longest sequences the handlers of these. The cells of the
    /// others keep their own: nobody begins among them, but who looks at one sees what it is.
    void choose_sequences() noexcept
    {
        const std::span units = std::span{m_units}.first(m_unit_count);
        for (std::size_t begin = 0; begin < units.size();) {
            SequenceMatcher::Walk walk{m_handlers.matcher()};
            for (std::size_t i = 0; begin + i < units.size(); ++i) {
                const Relation& relation = units[begin + i].relation;
                if (!walk.advance(relation.unit(), relation.bits(i)))
                    break;
            }
            const auto [sequence, length] = walk.longest();
            if (sequence != SequenceMatcher::no_sequence)
                units[begin].cell->handler = m_handlers.of_sequence(sequence);
            begin += length;
        }
    }

private:
    /// A unit that was written.
    struct Written
    {
        Relation relation;
        Cell* cell;
    };

    void begin_unit(Unit unit, const Cell& cell, std::uint8_t result) noexcept
    {
        m_units[m_unit_count++] = {.relation = m_tracker.next(unit, cell, result), .cell = m_cell};
    }

    void write_link(std::uint64_t target) noexcept
    {
        const code::Block* to = m_image.find(target);
        const bool resolved = to != nullptr && code::Block::may_link(m_head, *to);
        const auto* const stub = reinterpret_cast<const Stub*>(m_cell + 1);
        write_raw(reinterpret_cast<std::uintptr_t>(resolved ? to->body() : stub->head.body()));
        write_raw(Stub{.head = {.own = m_head.own},
                       .unresolved = Cell::of(m_handlers.of_unit(Unit::unresolved)),
                       .target = target});
    }

    Cell* m_cell;
    const code::Block& m_head;
    const code::CodeImage& m_image;
    const Handlers& m_handlers;
    RelationTracker m_tracker;
    std::size_t m_unit_count = 0;
    std::array<Written, max_units> m_units;
};
}  // namespace

const Cell* no_block_body(bool own) noexcept
{
    return &sentinels[own ? 1 : 0].body;
}

std::uint64_t link_target(const Cell* stub) noexcept
{
    return stub[1].payload();
}

const Cell* link_slot(const Cell* stub) noexcept
{
    return stub - sizeof(code::Block) / sizeof(Cell) - 1;
}

std::size_t write_units(std::byte* to,
                        std::span<const Encoded> units,
                        const code::Block& head,
                        const code::CodeImage& image,
                        const Handlers& handlers) noexcept
{
    Writer writer{to, head, image, handlers};
    for (const Encoded& unit : units)
        writer.write(unit);
    writer.choose_sequences();
    return writer.bytes_from(to);
}

std::size_t write_body(std::byte* to,
                       const code::BlockSource& source,
                       const code::CodeImage& image,
                       const Handlers& handlers,
                       bool counting) noexcept
{
    Writer writer{to, source.head, image, handlers};
    if (counting) {
        writer.write_raw(Cell::of(handlers.of_unit(Unit::count)));
        writer.write_raw(summary(source.operations));
    }
    std::uint64_t pc = source.head.pc;
    for (const isa::Operation& operation : source.operations) {
        writer.write(operation, pc);
        pc += operation.length;
    }
    if (!isa::ends_block(source.operations.back().opcode))
        writer.write(encode_go_on(pc));
    writer.choose_sequences();
    if (needs_detour(source)) {
        writer.write_raw(code::Block{.pc = static_cast<std::uint32_t>(pc), .own = source.head.own});
        writer.write(encode_go_on(pc));
    }
    return writer.bytes_from(to);
}
}  // namespace mopvm::asm_x64
