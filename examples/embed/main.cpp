// SPDX-License-Identifier: MIT
// The example of the README: runs a program inside this process and says how it ended.

#include <mopvm/mopvm.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>

int main(int argc, char** argv)
{
    std::ifstream file{argc > 1 ? argv[1] : "", std::ios::binary};
    const std::string elf{std::istreambuf_iterator<char>{file}, {}};

    const auto program = mopvm::Program::from_elf(std::as_bytes(std::span{elf}));
    auto machine = mopvm::Machine::create({.max_cycles = 100'000'000});
    if (!program || !machine || !machine->load(*program))
        return std::cerr << "not a program that can be loaded\n", 124;
    const mopvm::Exit exit = machine->run();  // whatever the guest does, it ends here
    std::cout << name(exit.reason) << " after " << exit.cycles << " cycles\n";
    if (exit.reason == mopvm::Exit::Reason::exited)
        return exit.exit_code;
    return std::cerr << mopvm::message(exit.error) << '\n', 125;
}
