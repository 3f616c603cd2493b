// SPDX-License-Identifier: MIT
// mopvm run --batch

#include "commands.hpp"
#include "files.hpp"
#include "guest_run.hpp"
#include "interrupt.hpp"
#include "problem.hpp"
#include "run_report.hpp"
#include "streams.hpp"

#include <glib.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace mopvm::tool
{
namespace
{
/// Longest line that is taken, in bytes.
constexpr std::size_t max_line = std::size_t{4} << 20;

/// Reads lines from a descriptor.
class LineReader
{
public:
    explicit LineReader(int fd) noexcept : m_fd{fd} {}

    /// The next line without its newline; nothing at the end of input. A line longer than
    /// `max_line` is cut to one byte more.
    /// @throws Problem
    [[nodiscard]] std::optional<std::string> next()
    {
        std::string line;
        bool begun = false;
        while (m_begin != m_end || fill()) {
            begun = true;
            const std::string_view rest{m_buffer.data() + m_begin, m_end - m_begin};
            const auto newline = rest.find('\n');
            const auto part = rest.substr(0, newline);
            line.append(part.substr(0, max_line + 1 - line.size()));
            m_begin += part.size();
            if (newline != std::string_view::npos) {
                ++m_begin;
                break;
            }
        }
        return begun ? std::optional{std::move(line)} : std::nullopt;
    }

private:
    [[nodiscard]] bool fill()
    {
        while (true) {
            const auto got = ::read(m_fd, m_buffer.data(), m_buffer.size());
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                throw Problem{"cannot read the batch: " + std::generic_category().message(errno)};
            m_begin = 0;
            m_end = static_cast<std::size_t>(got);
            return got > 0;
        }
    }

    int m_fd;
    std::array<char, 65536> m_buffer{};
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
};

/// The words of @p line by the quoting rules of the POSIX shell.
/// @throws Problem
[[nodiscard]] Words split_line(const std::string& line)
{
    if (line.size() > max_line)
        throw Problem{"the line is longer than 4 MiB"};
    if (line.contains('\0'))
        throw Problem{"the line holds a NUL byte"};
    gint count = 0;
    gchar** words = nullptr;
    GError* error = nullptr;
    if (g_shell_parse_argv(line.c_str(), &count, &words, &error) == FALSE) {
        const std::unique_ptr<GError, decltype(&g_error_free)> owned{error, g_error_free};
        if (error->code == G_SHELL_ERROR_EMPTY_STRING)
            throw Problem{"the line is empty"};
        throw Problem{std::string{"the line cannot be split into words: "} + error->message};
    }
    const std::unique_ptr<gchar*, decltype(&g_strfreev)> owned{words, g_strfreev};
    return Words{words, words + count};
}

/// What one line gave.
struct LineResult
{
    Json json;
    bool processed = true;
};

/// Runs the case @p line.
/// @throws Problem  when the line is no case that can be run.
[[nodiscard]] LineResult run_line(const Command& command,
                                  const Options& defaults,
                                  const std::string& line)
{
    auto options = defaults;
    options.batch.clear();
    const auto words = split_line(line);
    if (!parse(*make_run_parser(command, options), options, words, AfterElf::guest))
        throw Problem{"a line of a batch cannot ask for help"};
    if (!options.batch.empty())
        throw Problem{"a line of a batch cannot be a batch"};
    if (options.stdin_file == "-")
        throw Problem{"a line of a batch has no stdin of its own; name a file"};
    set_log_level(options.log_level);

    const auto config = options.config();
    const auto file = read_program_file(options.elf);
    auto input =
        options.stdin_file.empty() ? StreamInput{-1} : StreamInput{open_input(options.stdin_file)};
    std::optional<Output> copy;
    if (!options.json.empty() && options.json != "-")
        copy.emplace(options.json);

    const auto streams = std::make_shared<CapturedStreams>(std::move(input));
    RunResult result;
    {
        const InterruptGuard guard;
        result = run_guest(options, config, file, streams);
    }
    auto json = run_json(options, config, result);
    add_output(json, *streams);
    if (copy) {
        try {
            copy->write(to_line(json));
            copy->flush();
        } catch (const ClosedPipe&) {
            throw Problem{"cannot write the result to '" + options.json +
                          "': nobody reads it any more"};
        }
    }
    return {.json = std::move(json), .processed = !is_host_failure(result.exit)};
}
}  // namespace

int run_batch(const Command& command, const Options& defaults)
{
    Descriptor file;
    if (defaults.batch != "-")
        file = open_input(defaults.batch);
    LineReader lines{defaults.batch == "-" ? STDIN_FILENO : file.get()};
    Output out{"-"};
    bool all_processed = true;
    std::uint64_t number = 0;
    while (const auto line = lines.next()) {
        ++number;
        LineResult result;
        try {
            result = run_line(command, defaults, *line);
        } catch (const Problem& problem) {
            result.json = {
                {"status", "usage_error"}, {"line", number}, {"message", problem.what()}};
            result.processed = false;
        } catch (const std::bad_alloc&) {
            result.json = {{"status", "usage_error"},
                           {"line", number},
                           {"message", "the host has no memory left for this line"}};
            result.processed = false;
        }
        out.write(to_line(result.json));
        out.flush();
        all_processed = all_processed && result.processed;
        if (result.json["status"] == "paused")
            return status_interrupted;
    }
    return all_processed ? status_success : status_problem;
}
}  // namespace mopvm::tool
