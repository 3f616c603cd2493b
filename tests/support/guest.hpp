// SPDX-License-Identifier: MIT
/// @file
/// Guest programs in tests: every configuration that they should run in, and running them.
#pragma once

#include "support/assembler.hpp"
#include "support/elf_builder.hpp"

#include <mopvm/mopvm.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// Every backend × version × fusion on and off, with all extensions.
inline std::vector<Config> all_configs()
{
    std::vector<Config> configs;
    for (const std::string_view backend : backends())
        for (const Version version : {Version::v0, Version::v1, Version::v2})
            for (const bool fusion : {false, true})
                if (!fusion || version != Version::v0)
                    configs.push_back({.version = version,
                                       .isa_a = true,
                                       .fusion = fusion,
                                       .max_cycles = 10'000'000,
                                       .backend = std::string{backend}});
    return configs;
}

/// A test name suffix such as `interpreter_v2_mop`.
inline std::string config_name(const Config& config)
{
    return config.backend + "_v" + std::to_string(static_cast<int>(config.version)) +
           (config.fusion ? "_mop" : "");
}

}  // namespace mopvm::test

namespace mopvm
{
/// How GoogleTest prints a configuration.
inline void PrintTo(const Config& config, std::ostream* out)
{
    *out << test::config_name(config);
}
}  // namespace mopvm

namespace mopvm::test
{
/// Start of the writable segment that `program` gives every guest, two pages long.
inline constexpr std::uint64_t data_address = 0x40000;

/// A program of @p assembler's code, readable and executable, and two zero pages of data.
inline ElfFile program(const Assembler& assembler)
{
    return {.entry = assembler.base(),
            .segments = {
                {.vaddr = assembler.base(), .flags = elf_flag::code, .bytes = assembler.code()},
                {.vaddr = data_address, .flags = elf_flag::data, .memsz = 2 * page_size}}};
}

/// A machine and how its run ended.
struct Ran
{
    Machine machine;
    Exit exit;

    [[nodiscard]] std::uint64_t reg(Reg index) const { return machine.reg(index); }
};

/// A machine with @p file loaded; the load must succeed.
inline Machine load(const ElfFile& file, const Config& config)
{
    const auto parsed = Program::from_elf(build(file));
    EXPECT_TRUE(parsed) << message(parsed.error());
    auto machine = Machine::create(config);
    EXPECT_TRUE(machine) << message(machine.error());
    const auto loaded = machine->load(*parsed);
    EXPECT_TRUE(loaded) << message(loaded.error());
    return *std::move(machine);
}

/// Loads and runs @p file.
inline Ran run(const ElfFile& file, const Config& config)
{
    Machine machine = load(file, config);
    Exit exit = machine.run();
    return {std::move(machine), std::move(exit)};
}

inline Ran run(const Assembler& assembler, const Config& config)
{
    return run(program(assembler), config);
}

/// A fixture for tests that run in every configuration; instantiate it with MOPVM_ALL_CONFIGS.
class EveryConfig : public testing::TestWithParam<Config>
{
protected:
    [[nodiscard]] static const Config& config() { return GetParam(); }

    static void expect_exit(const Ran& ran, int code)
    {
        EXPECT_EQ(name(ran.exit.reason), "exited") << message(ran.exit.error);
        EXPECT_EQ(ran.exit.exit_code, code);
    }

    static void expect_error(const Ran& ran, const Error& error)
    {
        ASSERT_EQ(name(ran.exit.reason), "error") << "exit code " << int{ran.exit.exit_code};
        EXPECT_EQ(name(ran.exit.error.code), name(error.code));
        EXPECT_EQ(ran.exit.error.address, error.address);
        EXPECT_EQ(ran.exit.error.bits, error.bits);
        EXPECT_EQ(name(ran.exit.error.kind), name(error.kind));
    }
};

#define MOPVM_ALL_CONFIGS(Suite)                                   \
    INSTANTIATE_TEST_SUITE_P(                                      \
        All, Suite, testing::ValuesIn(mopvm::test::all_configs()), \
        [](const auto& test) { return mopvm::test::config_name(test.param); })
}  // namespace mopvm::test
