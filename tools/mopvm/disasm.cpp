// SPDX-License-Identifier: MIT
// mopvm disasm

#include "commands.hpp"
#include "files.hpp"
#include "listing.hpp"
#include "problem.hpp"
#include "run_report.hpp"
#include "symbols.hpp"
#include "text.hpp"

#include "isa/spelling.hpp"

#include <algorithm>
#include <cstdio>

namespace mopvm::tool
{
namespace
{
constexpr std::size_t address_width = 16;
constexpr std::size_t bits_width = 10;

/// What all lines of a listing are made from.
struct Listing
{
    Symbols symbols;
    decoder::Isa isa;
    decoder::Spelling spelling;

    [[nodiscard]] std::string spell(const Parcel& parcel) const
    {
        return tool::spell(parcel, isa, spelling,
                           [this](std::uint64_t address) { return symbols.place(address); });
    }
};

/// The file's bytes of @p segment that are in memory after loading.
[[nodiscard]] std::span<const std::byte> code_of(const Program& program, const Segment& segment)
{
    const auto room = segment.size - std::min(segment.size, segment.padding);
    return program.file().subspan(static_cast<std::size_t>(segment.file_offset),
                                  static_cast<std::size_t>(std::min(segment.file_size, room)));
}

[[nodiscard]] std::string bits_text(const Parcel& parcel)
{
    return isa::hex(parcel.bits, std::size_t{parcel.length} * 2);
}

/// The margin of part @p index of @p group: a bracket around the parts of a fused one.
[[nodiscard]] char bracket(const Group& group, std::size_t index)
{
    if (!group.rule)
        return ' ';
    if (index == 0)
        return '/';
    return index + 1 == group.parts.size() ? '\\' : '|';
}

class TextWriter
{
public:
    TextWriter(Output& out, const Listing& listing) noexcept : m_out{&out}, m_listing{&listing} {}

    void begin(const Program& program, const std::string& elf)
    {
        const auto place = m_listing->symbols.place(program.entry());
        m_out->write(printable(elf) + ": entry " + hex(program.entry()) +
                     (place.empty() ? place : " <" + place + ">") + "\n");
    }
    void begin_segment(const Segment& segment, std::size_t length)
    {
        m_out->write("\nsegment at " + hex(segment.address + segment.padding) + ", " +
                     std::to_string(length) + " bytes:\n");
    }
    void group(const Group& group)
    {
        for (std::size_t i = 0; i != group.parts.size(); ++i) {
            const auto& part = group.parts[i];
            for (const auto& symbol : m_listing->symbols.at(part.address))
                m_out->write("\n" + isa::hex(part.address, address_width) + " <" +
                             printable(symbol.name) + ">:\n");
            auto bits = bits_text(part);
            bits.resize(bits_width, ' ');
            auto line = "  " + isa::hex(part.address) + ":\t" + bits + bracket(group, i) + " " +
                        m_listing->spell(part);
            if (group.rule && i == 0)
                line += "\t# " + std::string{isa::traits(*group.rule).mnemonic};
            m_out->write(line + "\n");
        }
    }
    void end_segment() {}
    void end() {}

private:
    Output* m_out;
    const Listing* m_listing;
};

/// Writes JSON piece by piece: a listing may be larger than memory.
class JsonWriter
{
public:
    JsonWriter(Output& out, const Listing& listing) noexcept : m_out{&out}, m_listing{&listing} {}

    void begin(const Program& program, const std::string& elf)
    {
        const Json head = {{"elf", elf},
                           {"entry", hex(program.entry())},
                           {"vm_version", static_cast<unsigned>(m_listing->isa.version)}};
        auto text = to_line(head);
        text.resize(text.rfind('}'));
        m_out->write(text + R"(,"segments":[)");
    }
    void begin_segment(const Segment& segment, std::size_t length)
    {
        m_out->write((m_first_segment ? "\n" : ",\n") + std::string{R"({"address":")"} +
                     hex(segment.address + segment.padding) + R"(","length":)" +
                     std::to_string(length) + R"(,"operations":[)");
        m_first_segment = false;
        m_first_group = true;
    }
    void group(const Group& group)
    {
        auto json = part_json(group.parts.front());
        if (group.rule) {
            Json parts = Json::array();
            for (const auto& part : group.parts)
                parts.push_back(part_json(part));
            json = {{"address", hex(group.parts.front().address)},
                    {"rule", isa::traits(*group.rule).mnemonic},
                    {"parts", std::move(parts)}};
        }
        auto text = to_line(json);
        text.pop_back();
        m_out->write((m_first_group ? "\n" : ",\n") + text);
        m_first_group = false;
    }
    void end_segment() { m_out->write("]}"); }
    void end() { m_out->write("]}\n"); }

private:
    [[nodiscard]] Json part_json(const Parcel& part) const
    {
        Json json = {{"address", hex(part.address)},
                     {"length", part.length},
                     {"bits", "0x" + bits_text(part)},
                     {"text", m_listing->spell(part)}};
        Json labels = Json::array();
        for (const auto& symbol : m_listing->symbols.at(part.address))
            labels.push_back(symbol.name);
        if (!labels.empty())
            json["labels"] = std::move(labels);
        return json;
    }

    Output* m_out;
    const Listing* m_listing;
    bool m_first_segment = true;
    bool m_first_group = true;
};

template <typename Writer>
void write_listing(Writer writer,
                   const Program& program,
                   const Options& options,
                   const decoder::Isa& isa,
                   bool fusion)
{
    writer.begin(program, options.elf);
    for (const auto& segment : program.segments()) {
        if (!is_executable(segment))
            continue;
        const auto code = code_of(program, segment);
        writer.begin_segment(segment, code.size());
        Sweep sweep{code, segment.address + segment.padding, isa, fusion};
        while (const auto group = sweep.next())
            writer.group(*group);
        writer.end_segment();
    }
    writer.end();
}
}  // namespace

int disasm(const Command& command, const Words& words)
{
    Options options;
    bool fusion = false;
    bool no_aliases = false;
    const auto app = make_parser(command);
    app->add_flag("--mop", fusion, "Show each sequence that is fused as one group with its rule");
    app->add_flag("--no-aliases", no_aliases, "Write no pseudo-instructions: addi zero,zero,0");
    add_decoding_options(*app, options);
    add_json_flag(*app, options);
    add_general_options(*app, options);
    if (!parse(*app, options, words, AfterElf::options)) {
        print_help(*app);
        return status_success;
    }
    set_log_level(options.log_level);

    options.mop = fusion;
    const auto isa = isa_of(options.config());
    const auto file = read_program_file(options.elf);
    const auto refuse = [](const Error& error) {
        (void)std::fputs(
            ("mopvm: " + std::string{name(error.code)} + ": " + printable(message(error)) + "\n")
                .c_str(),
            stderr);
        return status_vm_error;
    };
    if (fusion && isa.version == Version::v0)
        return refuse({.code = ErrorCode::invalid_version});
    auto program = Program::from_elf(file);
    if (!program)
        return refuse(program.error());

    Output out{options.json.empty() ? "-" : options.json};
    const Listing listing{
        .symbols = Symbols{*program},
        .isa = isa,
        .spelling = no_aliases ? decoder::Spelling::no_aliases : decoder::Spelling::aliases};
    if (options.json.empty())
        write_listing(TextWriter{out, listing}, *program, options, isa, fusion);
    else
        write_listing(JsonWriter{out, listing}, *program, options, isa, fusion);
    out.flush();
    return status_success;
}
}  // namespace mopvm::tool
