// SPDX-License-Identifier: MIT
// Uses what an embedder uses: exit status 0 when the library answers as it should.

#include <mopvm/mopvm.hpp>

#include <cstdlib>

int main()
{
    const auto machine = mopvm::Machine::create({});
    const auto program = mopvm::Program::from_elf({});
    const bool right = machine.has_value() && machine->cycles() == 0 && !program.has_value() &&
                       program.error().code == mopvm::ErrorCode::elf_parse_error;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
