// SPDX-License-Identifier: MIT
// Emitting all handlers, and placing them.

#include "asm_x64/handlers.hpp"

#include "asm_x64/emitter.hpp"
#include "support/noise.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

namespace mopvm::asm_x64
{
namespace
{
/// Keeps the first error; without one, asmjit passes over what it cannot encode.
class FirstError final : public asmjit::ErrorHandler
{
public:
    void handleError(asmjit::Error error,
                     const char* message,
                     asmjit::BaseEmitter* /*origin*/) override
    {
        if (m_error == asmjit::kErrorOk) {
            m_error = error;
            m_message = message;
        }
    }
    [[nodiscard]] bool occurred() const noexcept { return m_error != asmjit::kErrorOk; }
    [[nodiscard]] std::string text() const
    {
        return "the handlers cannot be emitted: " + m_message;
    }

private:
    asmjit::Error m_error = asmjit::kErrorOk;
    std::string m_message;
};

std::unexpected<std::string> host_refuses(const char* what)
{
    return std::unexpected{std::string{what} + ": " + std::generic_category().message(errno)};
}

std::unexpected<std::string> asmjit_refuses(asmjit::Error error)
{
    return std::unexpected{std::string{"the handlers cannot be emitted: "} +
                           asmjit::DebugUtils::errorAsString(error)};
}

constexpr HostCode::Host system_host{
    .map = [](std::size_t size) noexcept -> std::byte* {
        void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
    },
    .protect =
        [](std::byte* memory, std::size_t size) noexcept {
            return ::mprotect(memory, size, PROT_READ | PROT_EXEC) == 0;
        },
    .unmap = [](std::byte* memory, std::size_t size) noexcept { ::munmap(memory, size); },
};

/// Room for handlers of @p sequences: more than any code takes. What is not written costs nothing.
std::size_t room_for(std::span<const Sequence> sequences) noexcept
{
    constexpr std::size_t bytes_per_unit = support::noise ? 400 : 160;
    std::size_t units = unit_count;
    for (const Sequence& sequence : sequences)
        units += sequence.span().size();
    constexpr std::size_t shared_bytes = 4096;
    return shared_bytes + bytes_per_unit * (units + sequences.size());
}

/// Memory of @p size bytes that handlers can address.
std::expected<HostCode, std::string> memory_for(std::size_t size, const HostCode::Host& host)
{
    std::byte* const memory = host.map(size);
    if (memory == nullptr)
        return host_refuses("the host gives no memory below 2 GiB for emitted code");
    HostCode owned{host, memory, size};
    if (reinterpret_cast<std::uintptr_t>(memory) + size > std::numeric_limits<std::uint32_t>::max())
        return std::unexpected{"the host's memory for emitted code is above 4 GiB"};
    support::fill_with_noise(memory, size);
    return owned;
}

/// Lets asmjit write to @p memory rather than to memory of its own, and never beyond.
void write_to(asmjit::CodeHolder& code, std::span<std::byte> memory) noexcept
{
    asmjit::CodeBuffer& buffer = code.textSection()->buffer();
    buffer._data = reinterpret_cast<std::uint8_t*>(memory.data());
    buffer._size = 0;
    buffer._capacity = memory.size();
    buffer._flags = asmjit::CodeBufferFlags::kIsExternal | asmjit::CodeBufferFlags::kIsFixed;
}

/// Makes @p code, written to @p memory, ready to run there.
asmjit::Error settle(asmjit::CodeHolder& code, std::span<std::byte> memory)
{
    if (const auto error = code.flatten(); error != asmjit::kErrorOk)
        return error;
    if (const auto error = code.resolveUnresolvedLinks(); error != asmjit::kErrorOk)
        return error;
    if (code.hasUnresolvedLinks())
        return asmjit::kErrorInvalidLabel;
    return code.relocateToBase(reinterpret_cast<std::uint64_t>(memory.data()));
}
}  // namespace

HostFeatures HostFeatures::of_this_host() noexcept
{
#ifdef MOPVM_ASM_X64_BASELINE
    return {};
#else
    // Not from asmjit: what it knows of the processor costs dozens of CPUID instructions, each of
    // which leaves a virtual machine.
    return {.popcnt = __builtin_cpu_supports("popcnt") != 0,
            .lzcnt = __builtin_cpu_supports("lzcnt") != 0,
            .bmi1 = __builtin_cpu_supports("bmi") != 0,
            .bmi2 = __builtin_cpu_supports("bmi2") != 0,
            .pclmul = __builtin_cpu_supports("pclmul") != 0};
#endif
}

const HostCode::Host& HostCode::system() noexcept
{
    return system_host;
}

std::expected<Handlers, std::string> Handlers::emit(std::span<const Sequence> sequences,
                                                    const EmitOptions& options)
{
    if (sequences.size() > SequenceMatcher::max_sequences)
        return std::unexpected{std::to_string(sequences.size()) + " sequences are more than " +
                               std::to_string(SequenceMatcher::max_sequences)};
    // First, so that what this needs for a while is there for asmjit, and not new from the host.
    SequenceMatcher matcher{sequences};
    FirstError error;
    asmjit::CodeHolder code;
    if (const auto refused = code.init(asmjit::Environment::host()); refused != asmjit::kErrorOk)
        return asmjit_refuses(refused);
    code.setErrorHandler(&error);
    const std::size_t room = room_for(sequences);
    auto memory = memory_for(room, options.host);
    if (!memory)
        return std::unexpected{std::move(memory.error())};
    const std::span<std::byte> bytes{memory->begin(), room};
    write_to(code, bytes);
    Emitter emitter{code, options.features};
    emitter.emit_shared();

    const auto count = [&](std::size_t handler) {
        return options.runs.empty() ? nullptr : &options.runs[handler];
    };
    std::array<std::size_t, unit_count> units{};
    for (std::size_t i = 1; i < unit_count; ++i) {
        const Token token{.unit = static_cast<Unit>(i)};
        if (has_handler(token.unit))
            units[i] = emitter.emit_handler({&token, 1}, count(i));
    }
    std::vector<std::size_t> offsets;
    offsets.reserve(sequences.size());
    for (const Sequence& sequence : sequences)
        offsets.push_back(
            emitter.emit_handler(sequence.span(), count(unit_count + offsets.size())));
    if (options.tamper != nullptr)
        options.tamper(code);
    if (error.occurred())
        return std::unexpected{error.text()};

    if (const auto unsettled = settle(code, bytes); unsettled != asmjit::kErrorOk)
        return asmjit_refuses(unsettled);
    if (!options.host.protect(bytes.data(), bytes.size()))
        return host_refuses("the host lets no emitted code be executed");

    Handlers handlers;
    handlers.m_code = std::move(*memory);
    handlers.m_code_bytes = code.codeSize();
    const auto address = [&](std::size_t offset) {
        return static_cast<std::uint32_t>(
            reinterpret_cast<std::uintptr_t>(handlers.m_code.begin() + offset));
    };
    for (std::size_t i = 1; i < unit_count; ++i) {
        if (has_handler(static_cast<Unit>(i)))
            handlers.m_units[i] = address(units[i]);
    }
    for (const std::size_t offset : offsets)
        handlers.m_sequences.push_back(address(offset));
    handlers.m_enter =
        reinterpret_cast<Leave (*)(Frame*)>(std::uintptr_t{address(emitter.entry())});
    handlers.m_matcher = std::move(matcher);
    return handlers;
}
}  // namespace mopvm::asm_x64
