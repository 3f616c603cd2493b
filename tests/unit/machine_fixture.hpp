// SPDX-License-Identifier: MIT
/// @file
/// What the tests of the machine share: handlers made of functions, and loaded machines.
#pragma once

#include "support/guest.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace mopvm::test
{
/// A handler made of two functions.
class Handler final : public SyscallHandler
{
public:
    using Handle = std::function<Result<SyscallAnswer>(Machine&)>;
    using Initialize = std::function<Result<void>(Machine&)>;

    explicit Handler(Handle handle, Initialize initialize = {})
        : m_handle{std::move(handle)}, m_initialize{std::move(initialize)}
    {}
    Result<void> initialize(Machine& machine) noexcept override
    {
        return m_initialize ? m_initialize(machine) : Result<void>{};
    }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override { return m_handle(machine); }

private:
    Handle m_handle;
    Initialize m_initialize;
};

/// A handler that always answers @p answer.
inline std::shared_ptr<Handler> answers(SyscallAnswer answer)
{
    return std::make_shared<Handler>([answer](Machine&) { return answer; });
}

/// A program that makes system call 7 and exits with a0.
inline Assembler one_call()
{
    Assembler a;
    a.li(a7, 7);
    a.ecall();
    a.exit_with_a0();
    return a;
}

/// A fixture with machines in every configuration.
class MachineTest : public EveryConfig
{
protected:
    /// A machine with @p a loaded and @p handlers added before.
    static Machine loaded(const Assembler& a,
                          const std::vector<std::shared_ptr<SyscallHandler>>& handlers = {},
                          const Config& config = GetParam())
    {
        auto machine = Machine::create(config);
        for (const auto& handler : handlers)
            EXPECT_TRUE(machine->add_syscalls(handler));
        const auto bytes = machine->load(*Program::from_elf(build(program(a))));
        EXPECT_TRUE(bytes);
        return *std::move(machine);
    }
    /// Runs `one_call` with @p handlers.
    static Exit call(const std::vector<std::shared_ptr<SyscallHandler>>& handlers)
    {
        return loaded(one_call(), handlers).run();
    }
};
}  // namespace mopvm::test
