// SPDX-License-Identifier: MIT
// Runs that are stopped: wherever limits, single steps and requested pauses cut a run, it stands
// where the model stands, and ends as the whole run does.

#include "support/choices.hpp"
#include "support/fuzz_check.hpp"
#include "support/fuzz_subject.hpp"
#include "support/model_machine.hpp"
#include "support/state_dump.hpp"

#include <mopvm/mopvm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace
{
using namespace mopvm;
using test::StateDump;
using test::Subject;

/// Less than elsewhere: a way is gone by three hosts and with many stops.
constexpr std::uint64_t way_limit = test::way_limit / 4;

/// The usual calls, some of which also ask for a pause as another thread would.
class AskingHandler final : public SyscallHandler
{
public:
    /// Call number n asks when bit n, modulo 64, of @p when is set.
    AskingHandler(test::GuestCalls calls, std::uint64_t when)
        : m_calls{std::move(calls)}, m_when{when}
    {}

    Result<void> initialize(Machine& /*machine*/) noexcept override { return {}; }
    Result<SyscallAnswer> handle(Machine& machine) noexcept override
    {
        if ((m_when >> m_count++ % 64 & 1) != 0)
            machine.pause_handle().request();
        return test::answer(machine, m_calls);
    }

private:
    test::GuestCalls m_calls;
    std::uint64_t m_when;
    unsigned m_count = 0;
};

bool hit_limit(const std::optional<Exit>& exit)
{
    return exit && exit->reason == Exit::Reason::error &&
           exit->error.code == ErrorCode::cycles_exceeded;
}

/// Executes one operation; a pause that was requested executes none.
std::optional<Exit> step(Machine& machine)
{
    const std::uint64_t cycles = machine.cycles();
    auto exit = machine.step();
    if (exit && exit->reason == Exit::Reason::paused && machine.cycles() == cycles)
        exit = machine.step();
    return exit;
}

/// One run in slices beside the model and the whole run.
class SlicedRun
{
public:
    SlicedRun(const Subject& subject, std::string_view backend, const test::Choices& choices)
        : m_subject{subject},
          m_backend{backend},
          m_choices{choices},
          m_whole{subject.machine(backend).value()},
          m_sliced{subject
                       .machine(backend,
                                std::make_shared<AskingHandler>(subject.calls, m_choices.bits64()))
                       .value()},
          m_model{m_sliced, subject.calls}
    {}

    void check()
    {
        test::Way way{m_subject.program};
        while (m_whole.cycles() < way_limit) {
            const auto begin = way.next();
            if (!begin)
                return;
            m_begin = *begin;
            way.stopped(check_leg());
        }
    }

private:
    /// @return where the leg ended.
    std::uint64_t check_leg()
    {
        m_subject.begin_leg(m_whole, m_begin);
        m_subject.begin_leg(m_sliced, m_begin);
        m_subject.begin_leg(m_model, m_begin);
        const Exit end = test::run_leg(m_whole);
        const std::uint64_t last = m_sliced.max_cycles();
        // Slices of a leg are alike, so that some are all short and some all long.
        const std::uint64_t most = m_choices.one_of<std::uint64_t>({8, 40, 200, 800});
        std::uint64_t limit = m_sliced.cycles();
        for (bool ended = false; !ended;) {
            limit = std::min(limit + m_choices.below(most), last);
            ended = run_to(limit) || limit == last;
            limit += 1;
            if (!ended && m_choices.one_in(8))
                ended = lower_and_step(last);
        }
        same(dump(m_model, m_end, true), dump(m_sliced, m_end, true), "the model and the slices");
        same(dump(m_whole, end, true), dump(m_sliced, m_end, true), "the whole run and the slices");
        return end.pc;
    }

    /// @return true when the run ended by itself.
    bool run_to(std::uint64_t limit)
    {
        m_model.set_max_cycles(limit);
        m_sliced.set_max_cycles(limit);
        const Exit wanted = test::run_leg(m_model);
        compare(wanted, test::run_leg(m_sliced));
        return !hit_limit(wanted);
    }

    /// Takes limits back, which stops at once, and then makes single steps under the limit @p last.
    /// @return true when the run ended by itself.
    bool lower_and_step(std::uint64_t last)
    {
        run_to(m_sliced.cycles() / 2);
        m_model.set_max_cycles(last);
        m_sliced.set_max_cycles(last);
        for (std::uint64_t steps = m_choices.below(6); steps != 0; --steps) {
            const auto wanted = m_model.step();
            compare(wanted, step(m_sliced));
            if (wanted && test::ends_leg(*wanted))
                return true;
        }
        return false;
    }

    void compare(const std::optional<Exit>& wanted, const std::optional<Exit>& got)
    {
        // Memory costs the most time and is compared at the ends of legs, and now and then.
        const bool with_pages = m_choices.one_in(16);
        m_end = got;
        same(dump(m_model, wanted, with_pages), dump(m_sliced, got, with_pages),
             "the model and a slice");
    }

    template <typename Host>
    [[nodiscard]] StateDump dump(Host& host, const std::optional<Exit>& exit, bool with_pages) const
    {
        StateDump made =
            with_pages ? test::capture(host, exit) : test::capture_without_pages(host, exit);
        // The model counts always, a machine only when it is told to.
        if (!m_subject.config.count_operations)
            made.stats = {};
        return made;
    }

    void same(const StateDump& wanted, const StateDump& got, std::string_view what) const
    {
        test::check(wanted == got, [&] {
            std::ostringstream out;
            out << what << " on " << m_backend << ", " << m_subject.name() << ", leg from 0x"
                << std::hex << m_begin << '\n'
                << test::difference(wanted, got);
            return out.str();
        });
    }

    const Subject& m_subject;
    std::string_view m_backend;
    test::Choices m_choices;
    Machine m_whole;
    Machine m_sliced;
    test::ModelMachine m_model;
    std::optional<Exit> m_end;  ///< Of the last slice.
    std::uint64_t m_begin = 0;
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    test::Choices choices{std::span{data, size}};
    const test::Choices slices{choices.below(1U << 16)};
    Subject subject = test::make_subject(choices);
    if (!subject.machine("interpreter"))
        return 0;
    for (const std::string_view backend : backends())
        for (const bool fusion : {false, true}) {
            if (fusion && subject.config.version == Version::v0)
                continue;
            subject.config.fusion = fusion;
            SlicedRun{subject, backend, slices}.check();
        }
    return 0;
}
