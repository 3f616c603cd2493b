// SPDX-License-Identifier: MIT
// The adversaries' code. All cycles are of the standard cost model.

#include "adversary.hpp"

#include "memory/mapping.hpp"
#include "support/assembler.hpp"
#include "support/elf_builder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace mopvm::bench
{
namespace
{
using namespace test;

// Most code is between the program that calls it and the stack.
constexpr std::uint64_t field_begin = 0x20000;
constexpr std::uint64_t field_end = 0x300000;

constexpr std::uint16_t c_jump_on = 0xa009;  // c.j, to the next halfword
constexpr std::uint16_t c_return = 0x8082;   // c.jr ra
constexpr std::uint16_t c_add = 0x0505;      // c.addi a0, 1

constexpr std::int32_t current_cycles = 2042;

/// Where all of the field is called, which takes long, a part of it will do.
constexpr std::uint64_t called_end = 0x120000;

constexpr std::uint64_t many_cycles = 1'000'000;

/// Mappings above this size are new for each machine, and those below are used again.
constexpr std::uint64_t largest_kept = memory::Mapping::max_kept_bytes;

std::vector<std::byte> file_of(const Assembler& main, std::vector<ElfSegment> more = {})
{
    ElfFile elf{.entry = main.base(), .segments = std::move(more)};
    elf.segments.push_back({.vaddr = main.base(), .bytes = main.code()});
    return build(elf);
}

ElfSegment segment_of(const Assembler& code)
{
    return {.vaddr = code.base(), .bytes = code.code()};
}

/// @p count times the halfword @p bits.
void repeat(Assembler& code, std::uint32_t bits, std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; ++i)
        code.half(bits);
}

void fill_to(Assembler& code, std::uint64_t end, std::uint32_t bits)
{
    repeat(code, bits, (end - code.here()) / 2);
}

/// Calls every halfword from @p begin to @p end.
Assembler caller(std::uint64_t begin, std::uint64_t end)
{
    Assembler code;
    code.li(s0, begin);
    code.li(s1, end);
    const auto loop = code.bound_label();
    code.jalr(ra, 0, s0);
    code.addi(s0, s0, 2);
    code.bltu(s0, s1, loop);
    code.exit(0);
    return code;
}

/// A guest that runs through @p field, which begins at `field_begin`.
Adversary through(const Assembler& field)
{
    Assembler main;
    main.li(t0, field_begin);
    main.jalr(zero, 0, t0);
    return {.file = file_of(main, {segment_of(field)})};
}

/// Repeats @p body for ever.
template <typename Body>
void repeat_forever(Assembler& code, const Body& body)
{
    constexpr int unrolled = 32;
    const auto loop = code.bound_label();
    for (int i = 0; i < unrolled; ++i)
        body();
    code.j(loop);
}

/// A guest that prepares, and repeats @p body until the limit.
template <typename Prepare, typename Body>
Adversary loop(const Prepare& prepare, const Body& body)
{
    Assembler code;
    prepare(code);
    repeat_forever(code, [&] { body(code); });
    return {.file = file_of(code), .max_cycles = many_cycles, .error = ErrorCode::cycles_exceeded};
}

// What is decoded.

/// Taken branches, in front of code that is decoded in the same call and never runs: as many
/// operations as one call takes, in blocks of @p block operations, which @p fill makes.
template <typename Fill>
Adversary decoded_in_vain(std::uint64_t block, const Fill& fill)
{
    constexpr std::uint64_t call = 128;
    Assembler field{field_begin};
    std::uint64_t pitch = 0;
    while (field.here() + 2 * page_size < field_end) {
        const std::uint64_t begin = field.here();
        const auto next = field.label();
        field.beq(zero, zero, next);
        for (std::uint64_t i = 1; i < call; ++i) {
            if (i % block == 0)
                field.bne(zero, zero, 8);
            else
                fill(field);
        }
        pitch = std::max(pitch, field.here() - begin);
        // A call ends with its page.
        if (page_size - field.here() % page_size < pitch)
            field.pad_to((field.here() + page_size - 1) / page_size * page_size);
        field.bind(next);
    }
    field.exit(0);
    return through(field);
}

/// Each halfword of the field is a block.
Adversary new_blocks()
{
    Assembler field{field_begin};
    fill_to(field, field_end - page_size, c_jump_on);
    field.exit(0);
    return through(field);
}

Adversary calls_of_every_halfword()
{
    Assembler field{field_begin};
    fill_to(field, called_end, c_return);
    return {.file = file_of(caller(field_begin, called_end), {segment_of(field)})};
}

/// Additions whose second halfwords are returns: code that differs by where it is entered.
Adversary overlapping_code()
{
    constexpr std::uint32_t addition = std::uint32_t{c_return} << 16 | 0x0513;
    constexpr std::uint64_t groups = (called_end - field_begin) / 32;
    Assembler field{field_begin};
    for (std::uint64_t i = 0; i < groups; ++i) {
        for (int k = 0; k < 7; ++k)
            field.word(addition);
        field.half(c_return);
        field.half(c_return);
    }
    return {.file = file_of(caller(field_begin, called_end), {segment_of(field)})};
}

// Where runs go.

/// Code without a block that has more than one operation, as all were entered in descending order.
Adversary blocks_of_one_operation()
{
    Assembler field{field_begin};
    fill_to(field, field_begin + page_size - 2, c_add);
    field.half(c_return);
    Assembler main;
    main.li(s0, field_begin + page_size - 2);
    main.li(s1, field_begin);
    const auto loop = main.bound_label();
    main.jalr(ra, 0, s0);
    main.addi(s0, s0, -2);
    main.bgeu(s0, s1, loop);
    main.exit(0);
    return {.file = file_of(main, {segment_of(field)})};
}

// 262,144 places in all pages of half the memory, each far from the one before.
constexpr std::uint64_t targets_begin = 0x200000;
constexpr std::uint64_t target_bytes = 8;
constexpr std::uint64_t targets_bytes = 0x200000;
constexpr std::uint64_t target_stride = 0x9e378;

/// Registers that make a0 the next of the targets.
void prepare_targets(Assembler& code)
{
    code.li(a0, 0);
    code.li(a1, target_stride);
    code.li(a2, targets_bytes - target_bytes);
    code.li(a3, targets_begin);
}

/// Goes to the next of the targets.
constexpr std::uint16_t c_add_stride = 0x952e;  // c.add a0, a1
constexpr std::uint16_t c_wrap = 0x8d71;        // c.and a0, a2
constexpr std::uint16_t c_to_targets = 0x8d55;  // c.or a0, a3
constexpr std::uint16_t c_jump_a0 = 0x8502;     // c.jr a0

/// What is at every target.
ElfSegment targets(const std::array<std::uint16_t, target_bytes / 2>& halfwords)
{
    Assembler code{targets_begin};
    while (code.here() < targets_begin + targets_bytes) {
        for (const std::uint16_t halfword : halfwords)
            code.half(halfword);
    }
    return segment_of(code);
}

/// Each jump goes to where none of the last 262,143 went.
Adversary jumps_to_new_targets()
{
    Assembler main;
    prepare_targets(main);
    main.jalr(zero, 0, a3);
    return {.file = file_of(main, {targets({c_add_stride, c_wrap, c_to_targets, c_jump_a0})}),
            .max_cycles = 3 * many_cycles,
            .error = ErrorCode::cycles_exceeded};
}

/// The same of calls, all from a few places.
Adversary calls_of_new_targets()
{
    Assembler main;
    prepare_targets(main);
    repeat_forever(main, [&] {
        main.half(c_add_stride);
        main.half(c_wrap);
        main.half(c_to_targets);
        main.jalr(ra, 0, a0);
    });
    return {.file = file_of(main, {targets({c_return, c_return, c_return, c_return})}),
            .max_cycles = 3 * many_cycles,
            .error = ErrorCode::cycles_exceeded};
}

/// Nothing is at an even address, where blocks begin.
Adversary odd_addresses()
{
    Assembler code{field_begin + 1};
    repeat_forever(code, [&] { code.half(c_add); });
    return {.file = file_of(code), .max_cycles = many_cycles, .error = ErrorCode::cycles_exceeded};
}

/// Faults at once, in a program that has much code.
Adversary fault_in_much_code()
{
    Assembler field{field_begin};
    fill_to(field, called_end, c_return);
    Assembler main;
    const auto decode = main.label();
    main.ld(t0, 0, sp);
    main.bnez(t0, decode);
    main.sd(zero, -8, zero);
    main.bind(decode);
    const Assembler calls = caller(field_begin, called_end);
    main.li(t0, 0x11000);
    main.jalr(zero, 0, t0);
    return {.file = file_of(main, {segment_of(field), {.vaddr = 0x11000, .bytes = calls.code()}}),
            .decoded_before = true,
            .error = ErrorCode::mem_out_of_bound};
}

// Memory.

/// Touches a page for the first time with every third cycle, by @p access, of memory that no
/// earlier machine left.
template <typename Access>
Adversary first_accesses(const Access& access)
{
    constexpr std::uint64_t memory_size = largest_kept + memory_size_unit;
    constexpr int unrolled = 32;
    Assembler code;
    code.li(a0, field_begin);
    code.li(a1, page_size);
    code.li(a2, memory_size - unrolled * page_size);
    const auto loop = code.bound_label();
    for (int i = 0; i < unrolled; ++i) {
        access(code);
        code.add(a0, a0, a1);
    }
    code.bltu(a0, a2, loop);
    code.exit(0);
    return {.file = file_of(code), .memory_size = memory_size};
}

/// Reads from all pages of memory that the host supplied before, mostly.
Adversary loads_from_many_pages()
{
    Adversary made = loop(
        [](Assembler& code) {
            code.li(a0, 0);
            code.li(a1, 0x9e37 * page_size + 64);
            code.li(a2, largest_kept - 8);
        },
        [](Assembler& code) {
            code.add(a0, a0, a1);
            code.and_(a0, a0, a2);
            code.ld(a3, 0, a0);
        });
    made.memory_size = largest_kept;
    return made;
}

Adversary unaligned_accesses()
{
    return loop([](Assembler& code) { code.li(a0, field_begin + page_size - 3); },
                [](Assembler& code) {
                    code.ld(a1, 0, a0);
                    code.sd(a1, 0, a0);
                });
}

Adversary last_bytes()
{
    return loop([](Assembler& code) { code.li(a0, default_memory_size - 4); },
                [](Assembler& code) { code.lwu(a1, 0, a0); });
}

/// Stores to pages that are frozen.
Adversary frozen_pages()
{
    Assembler code;
    code.li(a0, field_begin);
    repeat_forever(code, [&] { code.sd(a0, 0, a0); });
    return {.file = file_of(code, {{.vaddr = field_begin, .flags = elf_flag::read, .memsz = 8}}),
            .max_cycles = many_cycles,
            .error = ErrorCode::cycles_exceeded};
}

// Operations.

Adversary divisions()
{
    return loop(
        [](Assembler& code) {
            code.li(a0, std::uint64_t{1} << 63);
            code.li(a1, 3);
        },
        [](Assembler& code) {
            code.div(a2, a0, a1);
            code.remu(a3, a0, a1);
        });
}

Adversary atomics()
{
    Adversary made = loop([](Assembler& code) { code.li(a0, field_begin); },
                          [](Assembler& code) {
                              code.lr_d(a1, a0);
                              code.sc_d(a2, a1, a0);
                              code.amomaxu_d(a3, a2, a0);
                          });
    made.isa_a = true;
    return made;
}

/// The operations that cost one cycle and a call of C++.
Adversary calls_of_the_reference()
{
    return loop([](Assembler& code) { code.li(a0, field_begin); },
                [](Assembler& code) { code.orc_b(a0, a0); });
}

Adversary system_calls()
{
    return loop([](Assembler& code) { code.li(a7, current_cycles); },
                [](Assembler& code) { code.ecall(); });
}

/// Limits that let a single operation go by.
Adversary slices()
{
    Assembler code{field_begin};
    repeat_forever(code, [&] { code.half(c_add); });
    return {.file = file_of(code),
            .max_cycles = many_cycles / 5,
            .slice = 1,
            .error = ErrorCode::cycles_exceeded};
}
}  // namespace

std::span<const NamedAdversary> adversaries()
{
    static constexpr std::uint64_t longest = 64;
    static constexpr std::uint64_t shortest = 8;
    static constexpr auto add = [](Assembler& code) { code.half(c_add); };
    static constexpr auto constant = [](Assembler& code) { code.lui(a0, 0x12345); };
    static constexpr auto almost_fused = [](Assembler& code) {
        if (code.here() / 4 % 2 == 0)
            code.add(a0, a0, a1);
        else
            code.sltu(a2, a3, a4);
    };
    static constexpr auto load = [](Assembler& code) { code.ld(a3, 0, a0); };
    static constexpr auto store = [](Assembler& code) { code.sd(zero, 0, a0); };
    static constexpr auto all = std::to_array<NamedAdversary>({
        {"short_blocks_decoded_in_vain", [] { return decoded_in_vain(shortest, add); }},
        {"constants_decoded_in_vain", [] { return decoded_in_vain(longest, constant); }},
        {"decoded_in_vain", [] { return decoded_in_vain(longest, add); }},
        {"almost_fused_in_vain", [] { return decoded_in_vain(longest, almost_fused); }},
        {"new_blocks", new_blocks},
        {"calls_of_every_halfword", calls_of_every_halfword},
        {"overlapping_code", overlapping_code},
        {"fault_in_much_code", fault_in_much_code, true},
        {"blocks_of_one_operation", blocks_of_one_operation},
        {"jumps_to_new_targets", jumps_to_new_targets},
        {"calls_of_new_targets", calls_of_new_targets},
        {"odd_addresses", odd_addresses},
        {"slices_of_one_cycle", slices},
        {"first_loads", [] { return first_accesses(load); }},
        {"first_stores", [] { return first_accesses(store); }},
        {"loads_from_many_pages", loads_from_many_pages},
        {"accesses_across_pages", unaligned_accesses},
        {"loads_of_the_last_bytes", last_bytes},
        {"stores_to_frozen_pages", frozen_pages},
        {"divisions", divisions},
        {"atomics", atomics},
        {"calls_of_the_reference", calls_of_the_reference},
        {"system_calls", system_calls},
    });
    return all;
}

std::vector<std::byte> overlapping_headers(std::uint64_t memory_size)
{
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    ElfFile elf;
    elf.segments.assign(most, {.vaddr = 0,
                               .flags = elf_flag::data,
                               .memsz = memory_size,
                               .filesz = program_header_at(most, 0),
                               .offset = 0});
    return build(elf);
}
}  // namespace mopvm::bench
