// SPDX-License-Identifier: MIT
// How runs ended, and where they differ.

#include "ending.hpp"

#include "text.hpp"

#include <algorithm>

namespace mopvm::tool
{
namespace
{
[[nodiscard]] std::string instead(const std::string& found, const std::string& expected)
{
    return found + " instead of " + expected;
}

[[nodiscard]] std::string describe(const Exit& exit)
{
    switch (exit.reason) {
    case Exit::Reason::exited:
        return "exit code " + std::to_string(exit.exit_code);
    case Exit::Reason::error:
        return "error " + std::string{name(exit.error.code)};
    case Exit::Reason::paused:
    case Exit::Reason::yielded:
        break;
    }
    return std::string{name(exit.reason)};
}

[[nodiscard]] std::string output_difference(const std::string& stream,
                                            const GuestOutput& expected,
                                            const GuestOutput& found)
{
    if (found.written != expected.written)
        return instead(std::to_string(found.written) + " bytes of " + stream,
                       std::to_string(expected.written));
    const auto place = std::ranges::mismatch(found.kept, expected.kept).in1;
    if (place != found.kept.end())
        return stream + " differs at byte " + std::to_string(place - found.kept.begin());
    return {};
}
}  // namespace

std::string visible_difference(const Ending& expected, const Ending& found)
{
    if (describe(found.exit) != describe(expected.exit))
        return instead(describe(found.exit), describe(expected.exit));
    auto text = output_difference("stdout", expected.outputs[0], found.outputs[0]);
    return text.empty() ? output_difference("stderr", expected.outputs[1], found.outputs[1]) : text;
}

std::string difference(const Ending& expected, const Ending& found)
{
    if (auto visible = visible_difference(expected, found); !visible.empty())
        return visible;
    if (found.exit.error != expected.exit.error)
        return instead("'" + message(found.exit.error) + "'",
                       "'" + message(expected.exit.error) + "'");
    if (found.exit.cycles != expected.exit.cycles)
        return instead(std::to_string(found.exit.cycles) + " cycles",
                       std::to_string(expected.exit.cycles));
    if (found.exit.pc != expected.exit.pc)
        return instead("pc " + hex(found.exit.pc), hex(expected.exit.pc));
    for (std::size_t i = 0; i != found.registers.size(); ++i) {
        if (found.registers[i] != expected.registers[i])
            return instead("x" + std::to_string(i) + " = " + hex(found.registers[i]),
                           hex(expected.registers[i]));
    }
    return {};
}
}  // namespace mopvm::tool
