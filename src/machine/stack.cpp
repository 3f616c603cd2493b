// SPDX-License-Identifier: MIT
/// @file
/// Writing a program's arguments to its stack. Addresses wrap, as the stores' checks expect.

#include "machine/stack.hpp"

namespace mopvm::machine
{
namespace
{
constexpr std::uint64_t word_size = 8;
constexpr std::uint64_t stack_alignment = 16;

constexpr std::uint64_t align_down(std::uint64_t address) noexcept
{
    return address & ~(stack_alignment - 1);
}

/// Bytes of @p argument with its terminating zero.
std::uint64_t stored_size(std::string_view argument) noexcept
{
    return argument.size() + 1;
}

/// Writes the strings downwards from the end of memory, the first one highest.
/// @return the address of the last.
Result<std::uint64_t> write_strings(Memory memory,
                                    std::span<const std::string_view> arguments) noexcept
{
    std::uint64_t address = memory.size();
    for (const std::string_view argument : arguments) {
        address -= stored_size(argument);
        auto done = memory.write(address, std::as_bytes(std::span{argument}));
        if (done)
            done = memory.store(address + argument.size(), std::uint8_t{0});
        if (!done)
            return std::unexpected{std::move(done.error())};
    }
    return address;
}

/// Version 0: count and pointers directly below @p strings, pushed from the last to the first; of
/// each word only the low half is stored.
Result<std::uint64_t> push_narrow_words(Memory memory,
                                        std::span<const std::string_view> arguments,
                                        std::uint64_t strings) noexcept
{
    std::uint64_t sp = strings;
    const auto push = [&](std::uint64_t word) {
        sp -= word_size;
        return memory.store(sp, static_cast<std::uint32_t>(word));
    };

    std::uint64_t string = strings;
    for (std::size_t i = arguments.size(); i-- > 0;) {
        if (auto done = push(string); !done)
            return std::unexpected{std::move(done.error())};
        string += stored_size(arguments[i]);
    }
    if (auto done = push(arguments.size()); !done)
        return std::unexpected{std::move(done.error())};
    return sp;
}

/// From version 1 on: count, pointers and a null, upwards from an aligned address below
/// @p strings. Without arguments nothing is written: memory is zero.
Result<std::uint64_t> store_words(Memory memory,
                                  std::span<const std::string_view> arguments,
                                  std::uint64_t strings) noexcept
{
    if (arguments.empty())
        return align_down(strings - word_size);

    const std::uint64_t sp = align_down(strings - word_size * (arguments.size() + 2));
    std::uint64_t address = sp;
    const auto append = [&](std::uint64_t word) {
        auto done = memory.store(address, word);
        address += word_size;
        return done;
    };

    if (auto done = append(arguments.size()); !done)
        return std::unexpected{std::move(done.error())};
    std::uint64_t string = memory.size();
    for (const std::string_view argument : arguments) {
        string -= stored_size(argument);
        if (auto done = append(string); !done)
            return std::unexpected{std::move(done.error())};
    }
    if (auto done = append(0); !done)
        return std::unexpected{std::move(done.error())};
    return sp;
}
}  // namespace

Result<InitialStack> build_stack(Memory memory,
                                 Version version,
                                 std::span<const std::string_view> arguments) noexcept
{
    const std::uint64_t top = memory.size();
    const auto strings = write_strings(memory, arguments);
    if (!strings)
        return std::unexpected{strings.error()};
    const auto sp = version == Version::v0 ? push_narrow_words(memory, arguments, *strings)
                                           : store_words(memory, arguments, *strings);
    if (!sp)
        return std::unexpected{sp.error()};
    if (*sp < top - top / 4)
        return std::unexpected{Error{.code = ErrorCode::mem_out_of_stack}};
    return InitialStack{.sp = *sp, .bytes = top - *sp};
}
}  // namespace mopvm::machine
