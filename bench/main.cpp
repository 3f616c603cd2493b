// SPDX-License-Identifier: MIT
// The benchmarks' main: registers all stages, runs what the command line chooses, and fails when a
// guest gave a wrong result.

#include "registration.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

namespace mopvm::bench
{
namespace
{
constexpr std::string_view folder_option = "--guests=";

/// Takes `--guests=FOLDER` out of the command line.
std::optional<std::filesystem::path> take_folder(std::vector<char*>& arguments)
{
    const auto found = std::ranges::find_if(
        arguments, [](std::string_view argument) { return argument.starts_with(folder_option); });
    if (found == arguments.end())
        return {};
    const std::string_view folder{*found};
    arguments.erase(found);
    return folder.substr(folder_option.size());
}

void add_all(const std::optional<std::filesystem::path>& folder)
{
    const std::vector<NamedProgram> all = folder ? programs_of(*folder) : programs();
    add_execute(folder ? guests_of(*folder) : guests());
    add_load();
    add_adversarial();
    add_decode(all);
    add_fusion(all);
}
}  // namespace
}  // namespace mopvm::bench

int main(int argc, char** argv)
{
    std::vector<char*> arguments{argv, argv + argc};
    const auto folder = mopvm::bench::take_folder(arguments);
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
        return EXIT_FAILURE;
    try {
        mopvm::bench::add_all(folder);
    } catch (const std::exception& error) {
        std::cerr << "mopvm-bench: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
    const std::size_t run = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return run == 0 || mopvm::bench::any_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
