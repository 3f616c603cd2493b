// SPDX-License-Identifier: MIT
// The disassembler: fixed examples, and all of its text against GNU objdump where that is
// installed.
#include "decoder/disassembler.hpp"

#include "isa/encoding.hpp"
#include "isa/opcode.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace mopvm::decoder
{
namespace
{
constexpr Isa everything{.version = Version::v2, .b = true, .a = true};

std::string text(std::uint32_t bits, Spelling spelling = Spelling::aliases)
{
    return disassemble(bits, 0x10000, everything, spelling).text();
}

std::string plain(std::uint32_t bits)
{
    return text(bits, Spelling::no_aliases);
}

TEST(Disassembler, UsesAliasesByDefault)
{
    EXPECT_EQ(text(0x00000013), "nop");
    EXPECT_EQ(text(0x00500513), "li a0,5");
    EXPECT_EQ(text(0x00058513), "mv a0,a1");
    EXPECT_EQ(text(0x40b00533), "neg a0,a1");
    EXPECT_EQ(text(0x40b0053b), "negw a0,a1");
    EXPECT_EQ(text(0xfff5c513), "not a0,a1");
    EXPECT_EQ(text(0x0005851b), "sext.w a0,a1");
    EXPECT_EQ(text(0x0ff5f513), "zext.b a0,a1");
    EXPECT_EQ(text(0x0805853b), "zext.w a0,a1");
    EXPECT_EQ(text(0x0015b513), "seqz a0,a1");
    EXPECT_EQ(text(0x00b03533), "snez a0,a1");
    EXPECT_EQ(text(0x0005a533), "sltz a0,a1");
    EXPECT_EQ(text(0x00b02533), "sgtz a0,a1");
    EXPECT_EQ(text(0x00051463), "bnez a0,0x10008");
    EXPECT_EQ(text(0x00a05463), "blez a0,0x10008");
    EXPECT_EQ(text(0x0080006f), "j 0x10008");
    EXPECT_EQ(text(0x008000ef), "jal 0x10008");
    EXPECT_EQ(text(0x00008067), "ret");
    EXPECT_EQ(text(0x00450067), "jr 4(a0)");
    EXPECT_EQ(text(0x000500e7), "jalr a0");
    EXPECT_EQ(text(0x004500e7), "jalr 4(a0)");
    EXPECT_EQ(text(0x000505e7), "jalr a1,a0");
    EXPECT_EQ(text(0x0ff0000f), "fence");
}

TEST(Disassembler, SpellsInstructionsOutWithoutAliases)
{
    EXPECT_EQ(plain(0x00000013), "addi zero,zero,0");
    EXPECT_EQ(plain(0x000080e7), "jalr ra,0(ra)");
    EXPECT_EQ(plain(0x0080006f), "jal zero,0x10008");
    EXPECT_EQ(plain(0x00b51463), "bne a0,a1,0x10008");
    EXPECT_EQ(plain(0xff010113), "addi sp,sp,-16");
    EXPECT_EQ(plain(0x00559513), "slli a0,a1,0x5");
    EXPECT_EQ(plain(0xfffff537), "lui a0,0xfffff");
    EXPECT_EQ(plain(0xffc12503), "lw a0,-4(sp)");
    EXPECT_EQ(plain(0x00113423), "sd ra,8(sp)");
    EXPECT_EQ(plain(0x0330000f), "fence rw,rw");
    EXPECT_EQ(plain(0x0000000f), "fence unknown,unknown");
    EXPECT_EQ(plain(0x60551513), "sext.h a0,a0");
}

TEST(Disassembler, ShowsCompressedInstructionsAsTheirExpansionOrByTheirOwnNames)
{
    const std::map<std::uint32_t, std::array<std::string_view, 2>> examples{
        {0x0001, {"nop", "c.nop"}},
        {0x1141, {"addi sp,sp,-16", "c.addi sp,-16"}},
        {0x7139, {"addi sp,sp,-64", "c.addi16sp sp,-64"}},
        {0x0020, {"addi s0,sp,8", "c.addi4spn s0,sp,8"}},
        {0x4505, {"li a0,1", "c.li a0,1"}},
        {0x852e, {"mv a0,a1", "c.mv a0,a1"}},
        {0x952e, {"add a0,a0,a1", "c.add a0,a1"}},
        {0x2501, {"sext.w a0,a0", "c.addiw a0,0"}},
        {0x757d, {"lui a0,0xfffff", "c.lui a0,0xfffff"}},
        {0x8d6d, {"and a0,a0,a1", "c.and a0,a1"}},
        {0x0506, {"slli a0,a0,0x1", "c.slli a0,0x1"}},
        {0x60a2, {"ld ra,8(sp)", "c.ldsp ra,8(sp)"}},
        {0xc188, {"sw a0,0(a1)", "c.sw a0,0(a1)"}},
        {0xa001, {"j 0x10000", "c.j 0x10000"}},
        {0xc119, {"beqz a0,0x10006", "c.beqz a0,0x10006"}},
        {0x8082, {"ret", "c.jr ra"}},
        {0x9502, {"jalr a0", "c.jalr a0"}},
        {0x9002, {"ebreak", "c.ebreak"}},
    };
    for (const auto& [bits, expected] : examples) {
        EXPECT_EQ(text(bits), expected[0]);
        EXPECT_EQ(plain(bits), expected[1]);
        EXPECT_EQ(disassemble(bits, 0, everything).length, 2);
    }
}

TEST(Disassembler, ShowsHintsAsWhatTheyAre)
{
    const std::map<std::uint32_t, std::string_view> hints{
        {0x0005, "c.nop 1"},         {0x0081, "c.addi ra,0"},   {0x4005, "c.li zero,1"},
        {0x6005, "c.lui zero,0x1"},  {0x0002, "c.slli64 zero"}, {0x0082, "c.slli64 ra"},
        {0x0006, "c.slli zero,0x1"}, {0x802e, "c.mv zero,a1"},  {0x902e, "c.add zero,a1"},
        {0x8001, "c.srli64 s0"},     {0x8401, "c.srai64 s0"},
    };
    for (const auto& [bits, expected] : hints) {
        EXPECT_EQ(text(bits), expected);
        EXPECT_EQ(plain(bits), expected);
    }
}

TEST(Disassembler, NamesFencesThatAreNoAliasesInBothSpellings)
{
    for (const Spelling spelling : {Spelling::aliases, Spelling::no_aliases}) {
        EXPECT_EQ(text(0x0100000f, spelling), "pause");
        EXPECT_EQ(text(0x8330000f, spelling), "fence.tso");
    }
}

TEST(Disassembler, KeepsTheOrderingOfAtomics)
{
    EXPECT_EQ(text(0x00c5a52f), "amoadd.w a0,a2,(a1)");
    EXPECT_EQ(text(0x02c5a52f), "amoadd.w.rl a0,a2,(a1)");
    EXPECT_EQ(text(0x04c5a52f), "amoadd.w.aq a0,a2,(a1)");
    EXPECT_EQ(text(0x1605b52f), "lr.d.aqrl a0,(a1)");
}

TEST(Disassembler, ShowsWhatTheInstructionSetDoesNotAcceptAsHalfwords)
{
    EXPECT_EQ(text(0x0000), ".half 0x0000");
    EXPECT_EQ(text(0x2573), ".half 0x2573,0x0000");
    EXPECT_EQ(text(0xc0002573), ".half 0x2573,0xc000");  // rdcycle a0
    EXPECT_EQ(disassemble(0x0000, 0, everything).length, 2);
    EXPECT_EQ(disassemble(0xc0002573, 0, everything).length, 4);

    const Isa oldest{.version = Version::v0};
    EXPECT_EQ(disassemble(0x4005, 0, oldest).text(), ".half 0x4005");
    EXPECT_EQ(disassemble(0x60551513, 0, oldest).text(), ".half 0x1513,0x6055");
    EXPECT_EQ(disassemble(0x00c5a52f, 0, oldest).text(), ".half 0xa52f,0x00c5");
}

TEST(Disassembler, SpellsTheJumpsOfVersion0AsAllOthers)
{
    const Isa oldest{.version = Version::v0};
    EXPECT_EQ(disassemble(0x8082, 0, oldest).text(), "ret");
    EXPECT_EQ(disassemble(0x004500e7, 0, oldest).text(), "jalr 4(a0)");
    EXPECT_EQ(disassemble(0x004500e7, 0, oldest, Spelling::no_aliases).text(), "jalr ra,4(a0)");
}

TEST(Disassembler, GivesTargetsAsAddresses)
{
    const Disassembly branch = disassemble(0xfe051ee3, 0x10000, everything);
    EXPECT_EQ(branch.mnemonic, "bnez");
    EXPECT_EQ(branch.operands, "a0");
    EXPECT_EQ(branch.target, 0xfffc);
    EXPECT_EQ(branch.all_operands(), "a0,0xfffc");
    EXPECT_EQ(branch.all_operands("loop+0x4"), "a0,fffc <loop+0x4>");
    EXPECT_EQ(branch.text("loop"), "bnez a0,fffc <loop>");
    EXPECT_EQ(disassemble(0x0000a001, 0x10000, everything).text("main"), "j 10000 <main>");
    EXPECT_EQ(disassemble(0xffdff06f, 0, everything).target, ~std::uint64_t{3});
    EXPECT_EQ(disassemble(0x00008067, 0x10000, everything).target, std::nullopt);
    EXPECT_EQ(disassemble(0x00008067, 0x10000, everything).text("main"), "ret");
}

/// A directory for one test, removed at its end.
class ScratchDirectory
{
public:
    ScratchDirectory()
    {
        std::string name = (std::filesystem::temp_directory_path() / "mopvm-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr)
            m_path = name;
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    [[nodiscard]] std::string file(std::string_view name) const { return (m_path / name).string(); }

private:
    std::filesystem::path m_path;
};

bool run(const std::string& command)
{
    return std::system(command.c_str()) == 0;
}

std::vector<std::string> output_lines(const std::string& command)
{
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), pclose};
    std::vector<std::string> lines;
    std::array<char, 512> line{};
    while (pipe && fgets(line.data(), int{line.size()}, pipe.get()) != nullptr)
        lines.emplace_back(line.data());
    return lines;
}

struct Parcel
{
    std::uint64_t address;
    std::uint32_t bits;
};

/// Instructions that GNU may print otherwise, and why; all others have to be the same.
struct Difference
{
    std::string_view reason;
    bool (*concerns)(std::uint32_t bits, Spelling spelling);
};

constexpr std::array differences{
    Difference{"GNU rejects fences of a reserved mode, the machine accepts them",
               [](std::uint32_t bits, Spelling) {
                   return (bits & 0xfffff) == 0x0000f && bits >> 28 != 0 && bits != 0x8330000f;
               }},
    Difference{
        "GNU says c.nop with aliases but c.addi without; here a name does not depend on that",
        [](std::uint32_t bits, Spelling spelling) {
            return (bits & 0xffff'ef83) == 0x0001 && spelling == Spelling::no_aliases;
        }},
    Difference{
        "GNU shows this HINT as an addition of 0; here HINTs look like HINTs in both spellings",
        [](std::uint32_t bits, Spelling spelling) {
            return (bits & 0xffff'f07f) == 0x0001 && bits != 1 && spelling == Spelling::aliases;
        }},
};

/// Some releases of GNU drop the i of immediate forms with aliases (`add a0,a0,1`), others do not.
/// @p theirs with the i back.
std::string with_full_mnemonic(const std::string& theirs)
{
    static const std::map<std::string_view, std::string_view> full{
        {"add", "addi"},   {"addw", "addiw"}, {"and", "andi"},   {"or", "ori"},
        {"xor", "xori"},   {"sll", "slli"},   {"srl", "srli"},   {"sra", "srai"},
        {"sllw", "slliw"}, {"srlw", "srliw"}, {"sraw", "sraiw"}, {"ror", "rori"},
        {"rorw", "roriw"}, {"bclr", "bclri"}, {"bext", "bexti"}, {"binv", "binvi"},
        {"bset", "bseti"},
    };
    const std::size_t space = theirs.find(' ');
    const auto found = full.find(std::string_view{theirs}.substr(0, space));
    const std::size_t last = theirs.rfind(',');
    if (found == full.end() || last == std::string::npos ||
        theirs.find_first_of("-0123456789", last) != last + 1)
        return theirs;
    return std::string{found->second} + theirs.substr(space);
}

/// A line of objdump as mnemonic, space, operands; empty when it is none.
std::string objdump_text(const std::string& line)
{
    std::vector<std::string> columns(1);
    for (const char c : line) {
        if (c == '\t' || c == '\n')
            columns.emplace_back();
        else
            columns.back() += c;
    }
    if (columns.size() < 4)
        return {};
    std::string operands = columns[3];
    // Comments and symbols follow the operands after a space.
    operands.resize(std::min(operands.find(' '), operands.size()));
    std::string text = columns[2];
    text.resize(text.find_last_not_of(' ') + 1);
    return operands.empty() ? text : text + ' ' + operands;
}

/// All halfwords that version 2 accepts, then words of each encoding with seeded random fields.
std::vector<std::uint32_t> sample_code()
{
    std::vector<std::uint32_t> code;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if (is_compressed(bits) && decode(bits, everything).opcode != isa::Opcode::invalid)
            code.push_back(bits);
    }
    std::mt19937 random{40};
    const auto add_words = [&](isa::Encoding<std::uint32_t> encoding) {
        const std::uint32_t free = ~encoding.mask;
        code.push_back(encoding.match);
        code.push_back(encoding.match | free);
        for (int i = 0; i < 100; ++i) {
            // Sparse bits too: registers 0 and 1 and small immediates have aliases.
            const auto any = static_cast<std::uint32_t>(random());
            const auto sparse = static_cast<std::uint32_t>(any & random() & random());
            code.push_back(encoding.match | (any & free));
            code.push_back(encoding.match | (sparse & free));
        }
    };
#define MOPVM_INSTRUCTION(id, mnemonic, format, pattern, extension, cost, flow, versions) \
    add_words(isa::parse_encoding<std::uint32_t>(pattern));
#include "isa/opcodes.inc"
    for (const std::uint32_t bits :
         {0x0ff0000fu, 0x0100000fu, 0x8330000fu, 0x00008067u, 0x000080e7u, 0xfff5c513u, 0x0ff5f513u,
          0x0015b513u, 0x0005851bu, 0x00058513u, 0x00a00533u, 0x0805853bu})
        code.push_back(bits);
    return code;
}

class DisassemblerAgainstObjdump : public testing::TestWithParam<Spelling>
{};

TEST_P(DisassemblerAgainstObjdump, PrintsTheSameText)
{
    const std::string tools = "riscv64-unknown-elf-";
    for (const std::string tool : {"as", "objcopy", "objdump"}) {
        if (!run(tools + tool + " --version >/dev/null 2>&1"))
            GTEST_SKIP() << tools + tool << " is not installed";
    }

    const std::vector<std::uint32_t> code = sample_code();
    const ScratchDirectory scratch;
    const std::string binary = scratch.file("code.bin");
    const std::string object = scratch.file("code.o");
    std::vector<Parcel> parcels;
    {
        std::ofstream file{binary, std::ios::binary};
        std::uint64_t address = 0;
        for (const std::uint32_t bits : code) {
            const int length = is_compressed(bits) ? 2 : 4;
            parcels.push_back({address, bits});
            for (int i = 0; i < length; ++i)
                file.put(static_cast<char>(bits >> 8 * i & 0xff));
            address += static_cast<unsigned>(length);
        }
    }
    // Without the symbols that mark included bytes as data, objdump takes them for instructions.
    ASSERT_TRUE(run("echo '.incbin \"" + binary + "\"' | " + tools +
                    "as -march=rv64imac_zba_zbb_zbc_zbs_zifencei_zihintpause -o " + object +
                    " - && " + tools + "objcopy --strip-all " + object));

    const bool aliases = GetParam() == Spelling::aliases;
    const std::string options = aliases ? "" : " -M no-aliases";
    std::vector<std::string> theirs;
    for (const std::string& line : output_lines(tools + "objdump -d" + options + " " + object)) {
        if (const std::string instruction = objdump_text(line); !instruction.empty())
            theirs.push_back(instruction);
    }
    ASSERT_EQ(theirs.size(), parcels.size());

    for (std::size_t i = 0; i < parcels.size(); ++i) {
        const auto [address, bits] = parcels[i];
        const std::string ours = disassemble(bits, address, everything, GetParam()).text();
        if (ours == (aliases ? with_full_mnemonic(theirs[i]) : theirs[i]))
            continue;
        const bool known = std::ranges::any_of(differences, [&](const Difference& difference) {
            return difference.concerns(bits, GetParam());
        });
        EXPECT_TRUE(known) << std::hex << bits << ": " << ours << ", objdump: " << theirs[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Spellings,
                         DisassemblerAgainstObjdump,
                         testing::Values(Spelling::aliases, Spelling::no_aliases),
                         [](const auto& parameter) {
                             return parameter.param == Spelling::aliases ? "aliases" : "no_aliases";
                         });
}  // namespace
}  // namespace mopvm::decoder
