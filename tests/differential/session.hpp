// SPDX-License-Identifier: MIT
/// @file
/// What all differential tests begin with: the seed, the configurations, and one generated case.
#pragma once

#include "support/choices.hpp"
#include "support/guest_calls.hpp"
#include "support/model_machine.hpp"
#include "support/random_program.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// What the command line or the environment asked for.
struct SessionOptions
{
    std::uint64_t seed = 20'240'601;  ///< Of the first program; the others count on from it.
    std::optional<std::uint64_t>
        programs{};  ///< Per configuration, in place of each test's number.
};

/// Set once by main, before any test runs.
[[nodiscard]] SessionOptions& session_options();

/// One configuration of decoding.
struct Variant
{
    Version version = Version::v2;
    bool b = false;
    bool a = false;
    bool fusion = false;

    [[nodiscard]] decoder::Isa isa() const { return {.version = version, .b = b, .a = a}; }
};

/// Every version, instruction set and fusion that there is.
[[nodiscard]] inline std::vector<Variant> all_variants()
{
    std::vector<Variant> variants;
    for (const Version version : {Version::v0, Version::v1, Version::v2})
        for (const auto& [b, a] : {std::pair{false, false}, {true, false}, {true, true}})
            for (const bool fusion : {false, true})
                if (!fusion || version != Version::v0)
                    variants.push_back({.version = version, .b = b, .a = a, .fusion = fusion});
    return variants;
}

/// The limit of runs that may never end by themselves.
inline constexpr std::uint64_t some_limit = 6'000;

/// One generated program under one configuration.
struct Case
{
    std::uint64_t seed = 0;
    Variant variant{};
    std::string backend{};
    RandomProgram program;
    GuestCalls calls{};
    Program loaded;

    [[nodiscard]] Config config(std::uint64_t max_cycles) const
    {
        return {.version = variant.version,
                .isa_b = variant.b,
                .isa_a = variant.a,
                .fusion = variant.fusion,
                .max_cycles = max_cycles,
                .memory_size = random_program_memory,
                .backend = backend,
                .count_operations = true};
    }

    [[nodiscard]] std::string name() const
    {
        std::ostringstream out;
        out << "replay with --seed=" << seed << " --programs=1; backend " << backend << ", version "
            << static_cast<int>(variant.version) << ", imc" << (variant.b ? "b" : "")
            << (variant.a ? "a" : "") << ", fusion " << (variant.fusion ? "on" : "off")
            << ", entry 0x" << std::hex << program.code_begin << std::dec << '\n';
        return out.str();
    }

    /// A machine of @p config that stands at the entry; nothing when the program cannot be loaded.
    [[nodiscard]] std::optional<Machine> machine(const Config& wanted) const
    {
        auto made = Machine::create(wanted);
        if (!made) {
            ADD_FAILURE() << message(made.error());
            return std::nullopt;
        }
        EXPECT_TRUE(made->add_syscalls(std::make_shared<GuestCallHandler>(calls)));
        if (!made->load(loaded))
            return std::nullopt;
        for (unsigned i = 1; i < isa::register_count; ++i)
            made->set_reg(i, program.registers[i]);
        return std::move(*made);
    }
    [[nodiscard]] std::optional<Machine> machine(std::uint64_t max_cycles = some_limit) const
    {
        return machine(config(max_cycles));
    }

    /// The last operations that the model executes, to go with a failure.
    [[nodiscard]] std::string listing(std::uint64_t max_cycles = some_limit) const
    {
        auto start = machine(max_cycles);
        ModelMachine model{*start, calls};
        return "the model's last operations:\n" + trace(model, variant.isa());
    }
};

/// Makes the case of @p seed.
[[nodiscard]] inline Case make_case(std::uint64_t seed,
                                    const Variant& variant,
                                    std::string_view backend,
                                    std::size_t pieces,
                                    bool late_code = false)
{
    Choices choices{seed};
    RandomProgram program = make_random_program(
        choices, {.isa = variant.isa(), .pieces = pieces, .late_code = late_code});
    GuestCalls calls{.late = program.late};
    Program loaded = Program::from_elf(program.elf).value();
    return {.seed = seed,
            .variant = variant,
            .backend = std::string{backend},
            .program = std::move(program),
            .calls = std::move(calls),
            .loaded = std::move(loaded)};
}

/// Calls @p check with the cases of @p count programs in every configuration, until a test fails.
template <typename Check>
void for_each_case(std::string_view backend,
                   std::uint64_t count,
                   std::size_t pieces,
                   const Check& check,
                   bool late_code = false)
{
    const SessionOptions& options = session_options();
    for (std::uint64_t i = 0; i < options.programs.value_or(count); ++i)
        for (const Variant& variant : all_variants()) {
            const Case made = make_case(options.seed + i, variant, backend, pieces, late_code);
            check(made);
            if (testing::Test::HasFailure())
                return;
        }
}

/// True when @p exit ends the run for good.
[[nodiscard]] inline bool is_final(const Exit& exit)
{
    return exit.reason == Exit::Reason::exited || exit.reason == Exit::Reason::error;
}

/// Runs on after pauses and yields until @p host, a machine or a model, has come to its end.
template <typename Host>
Exit run_to_end(Host& host)
{
    for (;;)
        if (Exit exit = host.run(); is_final(exit))
            return exit;
}

/// @p got as it should be, with the case and a listing when it is not.
[[nodiscard]] inline testing::AssertionResult same(const StateDump& wanted,
                                                   const StateDump& got,
                                                   const Case& made,
                                                   std::string_view what)
{
    if (wanted == got)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << what << '\n'
                                       << difference(wanted, got) << made.name() << made.listing();
}

/// A suite that runs on every engine.
class OnEveryBackend : public testing::TestWithParam<std::string>
{};

[[nodiscard]] inline std::vector<std::string> backend_names()
{
    return {backends().begin(), backends().end()};
}

/// The suffix of such a test.
[[nodiscard]] inline std::string parameter_name(const testing::TestParamInfo<std::string>& test)
{
    return test.param;
}
}  // namespace mopvm::test
