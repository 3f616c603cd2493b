// SPDX-License-Identifier: MIT
// Parsed programs and the code images that their machines share.

#include "machine/program.hpp"

#include "code/code_view.hpp"

#include <new>
#include <utility>

namespace mopvm
{
std::shared_ptr<code::CodeImage> Program::Impl::code_image(const code::CodeConfig& config,
                                                           const memory::Space& space)
{
    const std::scoped_lock lock{m_mutex};
    for (const SharedImage& shared : m_images) {
        if (shared.config == config)
            return shared.image;
    }
    auto image = std::make_shared<code::CodeImage>(config, code::executable_pages(space));
    if (m_images.size() == max_shared_images)
        m_images.erase(m_images.begin());
    m_images.push_back({config, image});
    return image;
}

Program::Program(std::shared_ptr<Impl> impl) noexcept : m_impl{std::move(impl)} {}

Result<Program> Program::from_elf(std::span<const std::byte> file) noexcept
try {
    auto headers = elf::parse(file);
    if (!headers)
        return std::unexpected{std::move(headers.error())};
    auto impl = std::make_shared<Impl>();
    impl->file.assign(file.begin(), file.end());
    impl->headers = std::move(*headers);
    return Program{std::move(impl)};
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}

std::uint64_t Program::entry() const noexcept
{
    return m_impl->headers.entry;
}

std::span<const Segment> Program::segments() const noexcept
{
    return m_impl->headers.segments;
}

std::span<const std::byte> Program::file() const noexcept
{
    return m_impl->file;
}

std::uint64_t Program::loaded_bytes() const noexcept
{
    return m_impl->headers.loaded_bytes;
}
}  // namespace mopvm
