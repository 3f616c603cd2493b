// SPDX-License-Identifier: MIT
// Reading guests, and the results that are known of them.

#include "guest.hpp"

#include "kernels.h"
#include "support/assembler.hpp"
#include "support/elf_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>

namespace mopvm::bench
{
namespace
{
constexpr std::string_view example_folder = MOPVM_BENCH_GUESTS;
constexpr std::string_view kernel_file = MOPVM_BENCH_KERNELS;

Program read_program(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    if (bytes.empty())
        throw std::runtime_error{path + " cannot be read"};
    return value_of(Program::from_elf(std::as_bytes(std::span{bytes})));
}

Program read_example(const std::string& name)
{
    return read_program(std::string{example_folder} + '/' + name + ".elf");
}
}  // namespace

const std::vector<Kernel>& kernels()
{
    static const std::vector<Kernel> all{
#define MOPVM_KERNEL(name, size, role) {#name, size, kernel_##name},
#include "kernels.inc"
#undef MOPVM_KERNEL
    };
    return all;
}

std::vector<Guest> guests()
{
    std::vector<Guest> all;
    if (!kernel_file.empty()) {
        const Program program = read_program(std::string{kernel_file});
        for (const Kernel& kernel : kernels()) {
            all.push_back({.name = std::string{kernel.name},
                           .program = program,
                           .arguments = {"kernels", std::string{kernel.name},
                                         std::to_string(kernel.size), "1"},
                           .input = {},
                           .output = std::to_string(kernel.run(kernel.size)) + '\n'});
        }
    }
    all.push_back({.name = "bigint",
                   .program = read_example("bigint"),
                   .arguments = {"bigint"},
                   .input = {},
                   .output = {}});
    all.push_back({.name = "interp",
                   .program = read_example("interp"),
                   .arguments = {"interp", "300"},
                   .input = {},
                   .output = {}});
    all.push_back(
        {.name = "sha256",
         .program = read_example("sha256"),
         .arguments = {"sha256"},
         .input = std::string(16384, 'a'),
         .output = "f3336bea752b5a28743033dd2c844a4a63fba08871aaee2586a2bf2d69be83a2  -\n"});
    return all;
}

std::vector<Guest> guests_of(const std::filesystem::path& folder)
{
    std::vector<Guest> all;
    for (auto& [name, program] : programs_of(folder)) {
        all.push_back({.name = name,
                       .program = std::move(program),
                       .arguments = {name},
                       .input = {},
                       .output = ""});
    }
    return all;
}

Guest exiting_guest()
{
    constexpr std::int32_t exit_number = 93;
    test::Assembler code;
    code.addi(test::a7, test::zero, exit_number);
    code.addi(test::a0, test::zero, 0);
    code.ecall();
    return {
        .name = "exit",
        .program = value_of(Program::from_elf(test::build(
            {.entry = code.base(), .segments = {{.vaddr = code.base(), .bytes = code.code()}}}))),
        .arguments = {"exit"},
        .input = {},
        .output = ""};
}

std::vector<NamedProgram> programs()
{
    std::vector<NamedProgram> all;
    if (!kernel_file.empty())
        all.push_back({"kernels", read_program(std::string{kernel_file})});
    for (const char* name : {"bigint", "interp", "sha256", "picolibc_hello"})
        all.push_back({name, read_example(name)});
    return all;
}

std::vector<NamedProgram> programs_of(const std::filesystem::path& folder)
{
    std::vector<NamedProgram> all;
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() == ".elf")
            all.push_back({entry.path().stem(), read_program(entry.path())});
    }
    std::ranges::sort(all, {}, &NamedProgram::name);
    return all;
}
}  // namespace mopvm::bench
