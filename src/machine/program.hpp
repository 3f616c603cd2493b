// SPDX-License-Identifier: MIT
/// @file
/// What a `Program` holds: the parsed file, and the code images that its machines share.
#pragma once

#include "code/code_image.hpp"
#include "elf/image.hpp"

#include <mopvm/program.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace mopvm
{
/// Configurations whose decoded code a program keeps; the oldest makes room for a further one.
inline constexpr std::size_t max_shared_images = 8;

struct Program::Impl
{
    std::vector<std::byte> file;
    elf::Image headers;

    /// The code image for @p config, shared with all machines of that configuration. @p space has
    /// just been loaded with this program, and nothing else in it is executable.
    /// @throws std::bad_alloc
    [[nodiscard]] std::shared_ptr<code::CodeImage> code_image(const code::CodeConfig& config,
                                                              const memory::Space& space);

private:
    struct SharedImage
    {
        code::CodeConfig config;
        std::shared_ptr<code::CodeImage> image;
    };

    std::mutex m_mutex;  ///< Guards `m_images`; taken once for each load.
    std::vector<SharedImage> m_images;
};
}  // namespace mopvm
