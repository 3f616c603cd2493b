// SPDX-License-Identifier: MIT
// Entry of the differential tests: reads and prints the seed.

#include "differential/session.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

namespace mopvm::test
{
SessionOptions& session_options()
{
    static SessionOptions options;
    return options;
}

namespace
{
std::optional<std::uint64_t> number(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// The value of @p option on the command line, else that of @p variable in the environment.
std::optional<std::uint64_t> asked(int argc,
                                   char** argv,
                                   std::string_view option,
                                   const char* variable)
{
    for (int i = 1; i < argc; ++i)
        if (const std::string_view word{argv[i]}; word.starts_with(option))
            return number(word.substr(option.size()));
    const char* const value = std::getenv(variable);
    return value == nullptr ? std::nullopt : number(value);
}
}  // namespace
}  // namespace mopvm::test

int main(int argc, char** argv)
{
    using namespace mopvm::test;
    testing::InitGoogleTest(&argc, argv);
    SessionOptions& options = session_options();
    options.seed = asked(argc, argv, "--seed=", "MOPVM_TEST_SEED").value_or(options.seed);
    options.programs = asked(argc, argv, "--programs=", "MOPVM_TEST_PROGRAMS");
    if (!testing::GTEST_FLAG(list_tests))
        std::cout << "seed " << options.seed << '\n';
    return RUN_ALL_TESTS();
}
