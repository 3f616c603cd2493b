// SPDX-License-Identifier: MIT
// Faults that RISC-V machines are known to have had with ELF files and permissions, in every
// configuration.

#include "support/guest.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace
{
using namespace mopvm;
using namespace mopvm::test;

constexpr std::uint64_t minus_one = ~std::uint64_t{0};

class PitfallsLoading : public EveryConfig
{};
MOPVM_ALL_CONFIGS(PitfallsLoading);

/// A valid program that the malformed files are made from.
std::vector<std::byte> valid_file()
{
    Assembler a;
    a.exit(0);
    return build(program(a));
}

Error load_error(const std::vector<std::byte>& file, const Config& config)
{
    const auto parsed = Program::from_elf(file);
    if (!parsed)
        return parsed.error();
    auto machine = Machine::create(config);
    const auto loaded = machine->load(*parsed);
    EXPECT_FALSE(loaded) << "loaded";
    return loaded ? Error{} : loaded.error();
}

TEST_P(PitfallsLoading, elf_offsets_outside_the_file_or_wrapping)
{
    const auto mutated = [&](auto value, std::size_t offset) {
        auto file = valid_file();
        put(file, offset, value);
        return load_error(file, config());
    };
    const std::size_t offset = program_header_at(0, elf_at::p_offset);
    const std::size_t size = valid_file().size();
    EXPECT_EQ(mutated(std::uint64_t{size + 1}, offset).code,
              ErrorCode::elf_segment_addr_or_size_error);
    auto wrapping = valid_file();
    put(wrapping, offset, ~std::uint64_t{7});
    put(wrapping, program_header_at(0, elf_at::p_filesz), std::uint64_t{16});
    EXPECT_EQ(load_error(wrapping, config()).code, ErrorCode::elf_segment_addr_or_size_error);
    EXPECT_EQ(mutated(minus_one, elf_at::phoff).code, ErrorCode::elf_parse_error);
    EXPECT_EQ(mutated(std::uint64_t{size - 1}, elf_at::phoff).code, ErrorCode::elf_parse_error);
    EXPECT_EQ(mutated(std::uint16_t{0xffff}, elf_at::phnum).code, ErrorCode::elf_parse_error);
    EXPECT_EQ(mutated(std::uint8_t{0}, elf_at::class_).code, ErrorCode::elf_parse_error);
    EXPECT_EQ(mutated(std::uint8_t{3}, elf_at::class_).code, ErrorCode::elf_parse_error);
    EXPECT_EQ(mutated(std::uint8_t{1}, elf_at::class_).code, ErrorCode::elf_bits);

    for (std::size_t length = 0; length < program_header_at(2, 0) + 8 && length < size; ++length) {
        auto file = valid_file();
        file.resize(length);
        const Error error = load_error(file, config());
        EXPECT_TRUE(error.code == ErrorCode::elf_parse_error ||
                    error.code == ErrorCode::elf_segment_addr_or_size_error)
            << length << ": " << name(error.code);
    }

    // What the chain accepts: any entry size, any machine, headers of either byte order.
    for (const auto entry_size : std::to_array<std::uint16_t>({0, 1, 55, 57})) {
        auto file = valid_file();
        put(file, elf_at::phentsize, entry_size);
        EXPECT_TRUE(Program::from_elf(file)) << entry_size;
    }
    auto foreign = valid_file();
    put(foreign, elf_at::machine, std::uint16_t{62});
    EXPECT_TRUE(Program::from_elf(foreign));
    Assembler a;
    a.exit(5);
    ElfFile big_endian = program(a);
    big_endian.big_endian = true;
    expect_exit(run(big_endian, config()), 5);
}

TEST_P(PitfallsLoading, segment_permissions)
{
    Assembler a;
    a.exit(0);
    ElfFile file = program(a);
    file.segments[0].flags = elf_flag::read | elf_flag::write | elf_flag::execute;
    EXPECT_EQ(load_error(build(file), config()),
              (Error{.code = ErrorCode::elf_segment_writable_and_executable, .address = 0x10000}));
    file.segments[0].flags = elf_flag::execute;
    EXPECT_EQ(load_error(build(file), config()),
              (Error{.code = ErrorCode::elf_segment_unreadable, .address = 0x10000}));

    // A store to .data and to .rodata works, one to .text does not and changes nothing.
    Assembler stores;
    stores.li(t0, data_address);
    stores.li(t1, data_address + 0x10000);
    stores.li(t2, 77);
    stores.sd(t2, 0, t0);
    stores.ld(a1, 0, t0);
    stores.check(a1, 77, 1);
    stores.sd(t2, 0, t1);
    stores.ld(a1, 0, t1);
    stores.check(a1, 77, 2);
    stores.exit(0);
    ElfFile with_rodata = program(stores);
    with_rodata.segments.push_back(
        {.vaddr = data_address + 0x10000, .flags = elf_flag::read, .bytes = pattern(16)});
    expect_exit(run(with_rodata, config()), 0);

    using Store = void (*)(Assembler&);
    for (const Store store :
         {Store{[](Assembler& s) { s.sb(t2, 0, t0); }},
          Store{[](Assembler& s) { s.sd(t2, 0, t0); }},
          Store{[](Assembler& s) { s.amoadd_w(t3, t2, t0); }}, Store{[](Assembler& s) {
              s.lr_w(t4, t0);
              s.sc_w(t3, t2, t0);
          }}})
    {
        Assembler to_text;
        to_text.li(t0, to_text.base());
        to_text.li(t2, minus_one);
        store(to_text);
        Ran ran = run(to_text, config());
        expect_error(ran, {.code = ErrorCode::mem_write_on_executable_page,
                           .address = to_text.base() / page_size});
        const auto code = to_text.code();
        const auto left = ran.machine.memory().view(to_text.base(), code.size());
        ASSERT_TRUE(left);
        EXPECT_EQ(std::memcmp(left->data(), code.data(), code.size()), 0);
        EXPECT_EQ(ran.reg(t3), 0U);
    }
}

TEST_P(PitfallsLoading, executable_segment_that_starts_inside_a_page)
{
    Assembler a{0x11ae8};
    a.nop();
    a.pad_to(0x12054);
    const std::uint64_t entry = a.here();
    const auto over = a.label();
    a.j(over);
    a.pad_to(0x12ffe);
    a.bind(over);
    a.addi(a0, zero, 9);  // crosses into the next page
    a.exit_with_a0();
    ElfFile file = program(a);
    file.entry = entry;
    if (config().version == Version::v0)
        EXPECT_EQ(load_error(build(file), config()),
                  (Error{.code = ErrorCode::mem_write_on_executable_page, .address = 0x11}));
    else
        expect_exit(run(file, config()), 9);
}

TEST_P(PitfallsLoading, code_and_data_sharing_a_page)
{
    Assembler a;
    a.exit(0);
    ElfFile code_first = program(a);
    code_first.segments[1].vaddr = a.base() + 0x800;
    EXPECT_EQ(load_error(build(code_first), config()),
              (Error{.code = ErrorCode::mem_write_on_frozen_page, .address = 0x10}));

    ElfFile code_second = code_first;
    std::swap(code_second.segments[0], code_second.segments[1]);
    if (config().version == Version::v0)  // data is frozen too
        EXPECT_EQ(load_error(build(code_second), config()),
                  (Error{.code = ErrorCode::mem_write_on_frozen_page, .address = 0x10}));
    else
        expect_exit(run(code_second, config()), 0);
}
}  // namespace
