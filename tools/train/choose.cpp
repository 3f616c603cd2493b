// SPDX-License-Identifier: MIT
// Choosing sequences by merging the most frequent neighbours.

#include "choose.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mopvm::train
{
namespace
{
using asm_x64::Relation;
using asm_x64::Sequence;
using asm_x64::SequenceMatcher;
using asm_x64::Token;

/// A part of a run that one handler executes.
struct Part
{
    std::uint16_t begin = 0;
    std::uint16_t length = 1;
    /// What this part and the next one together are, as an index into the merger's sequences.
    std::uint32_t joined = 0;
};

struct WeightedRun
{
    std::span<const Relation> units;
    std::vector<Part> parts{};
    double weight = 0;
};

struct SequenceHash
{
    std::size_t operator()(const Sequence& sequence) const noexcept
    {
        std::size_t hash = sequence.length;
        for (const Token& token : sequence.span())
            hash = hash * 0x9e37'79b9'7f4a'7c15U + index(token.unit) * 1024U + token.first * 128U +
                   token.second * 16U + token.over;
        return hash;
    }
};
struct SequenceEqual
{
    bool operator()(const Sequence& a, const Sequence& b) const noexcept
    {
        return std::ranges::equal(a.span(), b.span());
    }
};

class Merger
{
public:
    explicit Merger(std::span<const Profile* const> profiles)
    {
        for (const Profile* profile : profiles)
            add(*profile);
    }

    [[nodiscard]] std::vector<Sequence> merge(std::size_t count)
    {
        std::vector<Sequence> chosen;
        while (chosen.size() < count) {
            const std::uint32_t best = best_pair();
            if (best == cannot_join)
                break;
            apply(best);
            chosen.push_back(m_sequences[best]);
        }
        return chosen;
    }

private:
    static constexpr std::uint32_t cannot_join = 0;

    void add(const Profile& profile)
    {
        double total = 0;
        for (const Run& run : profile.runs)
            total += static_cast<double>(run.count) * static_cast<double>(run.units.size());
        for (const Run& run : profile.runs) {
            WeightedRun made{.units = run.units, .weight = static_cast<double>(run.count) / total};
            // What runs less than this cannot matter among hundreds of sequences.
            if (made.weight < 1e-7)
                continue;
            for (std::size_t i = 0; i < run.units.size(); ++i)
                made.parts.push_back({.begin = static_cast<std::uint16_t>(i)});
            for (std::size_t i = 0; i + 1 < made.parts.size(); ++i)
                update(made, i);
            m_runs.push_back(std::move(made));
        }
    }

    /// Counts the pair of the @p i-th part and the next one under what they are together.
    void update(WeightedRun& run, std::size_t i)
    {
        Part& part = run.parts[i];
        part.joined = cannot_join;
        if (i + 1 < run.parts.size())
            part.joined = joined(run.units, part.begin, part.length + run.parts[i + 1U].length);
        m_weights[part.joined] += run.weight;
    }
    void forget(const WeightedRun& run, std::size_t i)
    {
        m_weights[run.parts[i].joined] -= run.weight;
    }

    std::uint32_t joined(std::span<const Relation> units, std::size_t begin, std::size_t length)
    {
        if (length > asm_x64::max_sequence_length)
            return cannot_join;
        Sequence sequence{.length = static_cast<std::uint8_t>(length)};
        for (std::size_t i = 0; i < length; ++i) {
            const asm_x64::Shape of = shape(units[begin + i].unit());
            if (!asm_x64::can_be_in_sequence(of) || (transfers(of) && i + 1 < length))
                return cannot_join;
            sequence.tokens[i] = units[begin + i].token(i);
        }
        const auto [place, is_new] =
            m_ids.try_emplace(sequence, static_cast<std::uint32_t>(m_sequences.size()));
        if (is_new) {
            m_sequences.push_back(sequence);
            m_weights.push_back(0);
        }
        return place->second;
    }

    [[nodiscard]] std::uint32_t best_pair() const
    {
        const auto most = std::ranges::max_element(m_weights.begin() + 1, m_weights.end());
        // Less is what adding and subtracting leaves.
        return most == m_weights.end() || *most < 1e-9
                   ? cannot_join
                   : static_cast<std::uint32_t>(most - m_weights.begin());
    }

    /// Makes neighbours that are @p wanted together one part everywhere.
    void apply(std::uint32_t wanted)
    {
        for (WeightedRun& run : m_runs) {
            for (std::size_t i = 0; i + 1 < run.parts.size(); ++i) {
                if (run.parts[i].joined != wanted)
                    continue;
                if (i > 0)
                    forget(run, i - 1);
                forget(run, i);
                forget(run, i + 1);
                run.parts[i].length =
                    static_cast<std::uint16_t>(run.parts[i].length + run.parts[i + 1].length);
                run.parts.erase(run.parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                if (i > 0)
                    update(run, i - 1);
                update(run, i);
            }
        }
    }

    std::vector<WeightedRun> m_runs;
    // By number: what parts can be together, and how often they are. The first stands for none.
    std::vector<Sequence> m_sequences{1};
    std::vector<double> m_weights{0.0};
    std::unordered_map<Sequence, std::uint32_t, SequenceHash, SequenceEqual> m_ids;
};
}  // namespace

std::vector<Sequence> choose(std::span<const Profile* const> profiles, std::size_t count)
{
    // The same sequence can come about in several ways.
    std::vector<Sequence> distinct;
    for (const Sequence& sequence : Merger{profiles}.merge(count)) {
        const bool is_new = std::ranges::none_of(
            distinct, [&](const Sequence& other) { return SequenceEqual{}(other, sequence); });
        if (is_new)
            distinct.push_back(sequence);
    }
    return distinct;
}

double dispatches(const Profile& profile, std::span<const Sequence> sequences)
{
    const SequenceMatcher matcher{sequences};
    double sum = 0;
    for (const Run& run : profile.runs) {
        std::uint64_t count = 0;
        for (std::size_t begin = 0; begin < run.units.size(); ++count) {
            SequenceMatcher::Walk walk{matcher};
            for (std::size_t i = begin; i < run.units.size(); ++i) {
                if (!walk.advance(run.units[i].token(i - begin)))
                    break;
            }
            begin += walk.longest().length;
        }
        sum += static_cast<double>(count) * static_cast<double>(run.count);
    }
    return sum / static_cast<double>(profile.instructions);
}
}  // namespace mopvm::train
