// SPDX-License-Identifier: MIT
// Runs the conformance vectors: small programs with the exact end that every machine must reach.
// Their columns are explained in vectors/README.md.

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace
{
using namespace mopvm;

const std::string vectors = MOPVM_CONFORMANCE_VECTORS;

/// One line of cases.tsv by column name.
using Case = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos)
            return parts;
        begin = end + 1;
    }
}

const std::vector<Case>& all_cases()
{
    static const std::vector<Case> cases = [] {
        std::ifstream file{vectors + "/cases.tsv"};
        std::string line;
        std::getline(file, line);
        const auto columns = split(line, '\t');
        std::vector<Case> read;
        while (std::getline(file, line)) {
            const auto fields = split(line, '\t');
            Case made;
            for (std::size_t i = 0; i < columns.size(); ++i)
                made[columns[i]] = i < fields.size() ? fields[i] : "";
            read.push_back(std::move(made));
        }
        return read;
    }();
    return cases;
}

std::uint64_t number(const std::string& text, int base)
{
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    EXPECT_TRUE(failed == std::errc{} && end == text.data() + text.size()) << '"' << text << '"';
    return value;
}

std::vector<std::byte> read_file(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    EXPECT_TRUE(file) << path;
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    const auto view = std::as_bytes(std::span{bytes});
    return {view.begin(), view.end()};
}

/// Argument 0 and the further ones; [text, count] stands for that text repeated.
std::vector<std::string> arguments(const Case& c)
{
    std::vector<std::string> words{c.at("argv0")};
    for (const auto& word : nlohmann::json::parse(c.at("args"))) {
        if (word.is_string()) {
            words.push_back(word.get<std::string>());
            continue;
        }
        std::string repeated;
        for (auto count = word[1].get<std::size_t>(); count > 0; --count)
            repeated += word[0].get<std::string>();
        words.push_back(repeated);
    }
    return words;
}

/// How a case ended, with the state that is compared.
struct End
{
    Exit exit;
    bool loaded = true;
    std::vector<std::uint64_t> registers = std::vector<std::uint64_t>(32);
};

class DiscardedOutput final : public GuestStreams
{
public:
    Result<std::size_t> read(std::span<std::byte>) noexcept override { return 0; }
    Result<void> write(int, std::span<const std::byte>) noexcept override { return {}; }
};

End failed(Error error)
{
    End end{.exit = {.reason = Exit::Reason::error}, .loaded = false};
    end.exit.error = std::move(error);
    return end;
}

End run(const Case& c, const std::string& backend)
{
    const auto program = Program::from_elf(read_file(vectors + '/' + c.at("elf")));
    if (!program)
        return failed(program.error());
    auto machine = Machine::create({.version = static_cast<Version>(number(c.at("version"), 10)),
                                    .isa_b = c.at("isa").find('b') != std::string::npos,
                                    .isa_a = c.at("isa").find('a') != std::string::npos,
                                    .fusion = c.at("mop") == "on",
                                    .max_cycles = number(c.at("max_cycles"), 10),
                                    .memory_size = number(c.at("memory"), 10),
                                    .backend = backend});
    if (!machine)
        return failed(machine.error());
    EXPECT_TRUE(machine->add_syscalls(make_ckb_syscalls(std::make_shared<DiscardedOutput>())));
    const auto words = arguments(c);
    const std::vector<std::string_view> views{words.begin(), words.end()};
    if (const auto loaded = machine->load(*program, views); !loaded)
        return failed(loaded.error());
    End end{.exit = machine->run()};
    end.registers.assign(machine->registers().begin(), machine->registers().end());
    return end;
}

/// What differs from the expectation, or nothing.
std::string difference(const Case& c, const End& end)
{
    std::ostringstream out;
    out << std::hex;
    const auto compare = [&](const char* what, const auto& wanted, const auto& got) {
        if (wanted != got)
            out << ' ' << what << ": want " << wanted << " got " << got << ';';
    };
    compare("status", c.at("status"), std::string{name(end.exit.reason)});
    if (end.exit.reason == Exit::Reason::exited) {
        compare("exit code", c.at("exit_code"), std::to_string(end.exit.exit_code));
    } else {
        const Error& error = end.exit.error;
        compare("error", c.at("error"), std::string{name(error.code)});
        if (!c.at("error_address").empty())
            compare("address", number(c.at("error_address"), 16), error.address);
        if (error.code == ErrorCode::invalid_instruction && !c.at("detail").empty())
            compare("bits", number(c.at("detail"), 16), std::uint64_t{error.bits});
        if (error.code == ErrorCode::mem_out_of_bound && !c.at("detail").empty())
            compare("kind", c.at("detail"), std::string{name(error.kind)});
    }
    compare("loaded", c.at("phase") == "run",
            end.loaded || end.exit.error.code == ErrorCode::invalid_version);
    compare("cycles", number(c.at("cycles"), 10), end.exit.cycles);
    if (!c.at("pc").empty())
        compare("pc", number(c.at("pc"), 16), end.exit.pc);
    if (!c.at("registers").empty()) {
        const auto wanted = split(c.at("registers"), ',');
        for (std::size_t i = 0; i < 32; ++i)
            compare(("x" + std::to_string(i)).c_str(), number(wanted.at(i), 16), end.registers[i]);
    }
    return out.str();
}

class Vectors : public testing::TestWithParam<std::tuple<std::string, std::string>>
{};

TEST_P(Vectors, end_as_stated)
{
    const auto& [family, backend] = GetParam();
    std::size_t count = 0;
    for (const Case& c : all_cases()) {
        if (c.at("family") != family)
            continue;
        ++count;
        const std::string differs = difference(c, run(c, backend));
        EXPECT_TRUE(differs.empty())
            << c.at("id") << " (" << c.at("elf") << ", version " << c.at("version") << ", mop "
            << c.at("mop") << ", " << c.at("note") << "):" << differs;
    }
    EXPECT_GT(count, 0U);
}

std::vector<std::string> backend_names()
{
    return {backends().begin(), backends().end()};
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Vectors,
    testing::Combine(
        testing::Values("alu", "args", "ctl", "elf", "illegal", "limit", "mem", "mop", "rnd"),
        testing::ValuesIn(backend_names())),
    [](const auto& test) { return std::get<0>(test.param) + '_' + std::get<1>(test.param); });
}  // namespace
