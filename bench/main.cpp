// SPDX-License-Identifier: MIT
// The benchmarks' main: registers all stages, runs what the command line chooses, and fails when a
// guest gave a wrong result.

#include "registration.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return EXIT_FAILURE;
    try {
        mopvm::bench::add_execute();
        mopvm::bench::add_load();
        mopvm::bench::add_decode();
        mopvm::bench::add_fusion();
    } catch (const std::exception& error) {
        std::cerr << "mopvm-bench: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
    const std::size_t run = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return run == 0 || mopvm::bench::any_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
