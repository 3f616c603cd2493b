// SPDX-License-Identifier: MIT
// Registering benchmarks, and what all of them report.

#include "registration.hpp"

#include <mopvm/machine.hpp>

#include <exception>
#include <utility>

namespace mopvm::bench
{
namespace
{
bool& failed() noexcept
{
    static bool value = false;
    return value;
}
}  // namespace

benchmark::internal::Benchmark* add(const std::string& name,
                                    std::function<void(benchmark::State&)> body)
{
    return benchmark::RegisterBenchmark(name.c_str(),
                                        [body = std::move(body)](benchmark::State& state) {
                                            try {
                                                body(state);
                                            } catch (const std::exception& error) {
                                                state.SkipWithError(error.what());
                                                failed() = true;
                                            }
                                        });
}

bool any_failed() noexcept
{
    return failed();
}

benchmark::Counter time_per(std::uint64_t count)
{
    using enum benchmark::Counter::Flags;
    return {static_cast<double>(count), kIsIterationInvariantRate | kInvert};
}

benchmark::Counter total(std::uint64_t value)
{
    return {static_cast<double>(value)};
}

std::vector<Engine> engines()
{
    std::vector<Engine> all;
    for (const std::string_view backend : backends()) {
        for (const bool fusion : {false, true}) {
            Config config;
            config.backend = backend;
            config.fusion = fusion;
            all.push_back({std::string{backend} + (fusion ? "+mop" : ""), config});
        }
    }
    return all;
}
}  // namespace mopvm::bench
