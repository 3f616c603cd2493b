// SPDX-License-Identifier: MIT
// What is decided when a process uses the engine for the first time.

#include "asm_x64/handlers.hpp"
#include "support/child_process.hpp"
#include "support/refused_mappings.hpp"

#include <gtest/gtest.h>

namespace mopvm::test
{
namespace
{
using asm_x64::Sequence;
using asm_x64::SequenceMatcher;
using asm_x64::Token;
using asm_x64::Unit;

const Token addi{.unit = Unit::addi};

/// The sequence that two additions are; `no_sequence` if none.
std::uint16_t of_two_additions(const asm_x64::Handlers& handlers)
{
    SequenceMatcher::Walk walk{handlers.matcher()};
    return walk.advance(addi) && walk.advance(addi) && walk.longest().length == 2
               ? walk.longest().sequence
               : SequenceMatcher::no_sequence;
}

TEST(AsmStart, takes_the_sequences_that_were_chosen)
{
    EXPECT_EQ(
        status_of_child([] {
            const auto& handlers = asm_x64::handlers();
            return handlers && of_two_additions(*handlers) != SequenceMatcher::no_sequence ? 0 : 1;
        }),
        0);
}

TEST(AsmStart, takes_others_if_it_is_told_so_before)
{
    static constexpr Sequence other{.tokens = {{{.unit = Unit::add}, {.unit = Unit::sub}}},
                                    .length = 2};
    EXPECT_EQ(status_of_child([] {
                  asm_x64::use_sequences({&other, 1});
                  const auto& handlers = asm_x64::handlers();
                  if (!handlers || of_two_additions(*handlers) != SequenceMatcher::no_sequence)
                      return 1;
                  // Too late.
                  asm_x64::use_sequences(asm_x64::chosen_sequences());
                  return of_two_additions(*asm_x64::handlers()) == SequenceMatcher::no_sequence ? 0
                                                                                                : 2;
              }),
              0);
}

TEST(AsmStart, does_without_the_engine_if_the_host_gives_no_memory)
{
    EXPECT_EQ(status_of_child([] {
                  mappings_to_refuse = 1;
                  const auto& handlers = asm_x64::handlers();
                  mappings_to_refuse = 0;
                  return !handlers && handlers.error() ==
                                          "the host gives no memory below 2 GiB for emitted code: "
                                          "Cannot allocate memory"
                             ? 0
                             : 1;
              }),
              0);
}

TEST(AsmStart, does_without_the_engine_if_a_handler_is_wrong)
{
    // A store has no result that could replace another's.
    static constexpr Sequence unsound{
        .tokens = {{{.unit = Unit::addi}, {.unit = Unit::sd, .over = 1}}}, .length = 2};
    EXPECT_EQ(status_of_child([] {
                  asm_x64::use_sequences({&unsound, 1});
                  const auto& handlers = asm_x64::handlers();
                  return !handlers && handlers.error() ==
                                          "the emitted handler of the sequence addi sd gives a "
                                          "wrong result on this processor"
                             ? 0
                             : 1;
              }),
              0);
}
}  // namespace
}  // namespace mopvm::test
