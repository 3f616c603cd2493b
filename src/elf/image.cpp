// SPDX-License-Identifier: MIT
/// @file
/// Reading ELF and program headers, in the order in which faults are reported.

#include "elf/image.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace mopvm::elf
{
namespace
{
/// Offsets in the ELF identification and header.
namespace header
{
constexpr std::size_t class_ = 4;
constexpr std::size_t data = 5;
constexpr std::size_t identification_size = 16;
constexpr std::size_t type = 16;
constexpr std::size_t machine = 18;
constexpr std::size_t entry = 24;
constexpr std::size_t program_headers_offset = 32;
constexpr std::size_t flags = 48;
constexpr std::size_t program_header_size = 54;
constexpr std::size_t program_header_count = 56;
constexpr std::size_t size_32 = 52;
constexpr std::size_t size_64 = 64;
}  // namespace header

/// Offsets in a program header.
namespace program_header
{
constexpr std::size_t type = 0;
constexpr std::size_t flags = 4;
constexpr std::size_t offset = 8;
constexpr std::size_t virtual_address = 16;
constexpr std::size_t file_size = 32;
constexpr std::size_t memory_size = 40;
}  // namespace program_header

constexpr std::uint32_t type_load = 1;
constexpr std::byte magic[] = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
constexpr std::byte class_32{1};
constexpr std::byte class_64{2};
constexpr std::byte little_endian{1};
constexpr std::byte big_endian{2};

/// Fields of a file in its byte order; offsets are inside it.
class Fields
{
public:
    Fields(std::span<const std::byte> bytes, bool is_big_endian) noexcept
        : m_bytes{bytes}, m_big_endian{is_big_endian}
    {}

    template <typename T>
    [[nodiscard]] T at(std::size_t offset) const noexcept
    {
        T value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t position = m_big_endian ? i : sizeof(T) - 1 - i;
            const auto byte = std::to_integer<std::uint64_t>(m_bytes[offset + position]);
            value = static_cast<T>(std::uint64_t{value} << 8 | byte);
        }
        return value;
    }

    [[nodiscard]] Fields from(std::size_t offset) const noexcept
    {
        return {m_bytes.subspan(offset), m_big_endian};
    }

private:
    std::span<const std::byte> m_bytes;
    bool m_big_endian;
};

std::unexpected<Error> unreadable(std::string text)
{
    return std::unexpected{Error{.code = ErrorCode::elf_parse_error, .text = std::move(text)}};
}

std::unexpected<Error> refuse_segment(ErrorCode code, std::uint64_t address) noexcept
{
    return std::unexpected{Error{.code = code, .address = address}};
}

std::string decimal(std::byte value)
{
    return std::to_string(std::to_integer<int>(value));
}

/// Steps 1 to 6: up to knowing that a whole 64-bit ELF header is there.
Result<void> check_header(std::span<const std::byte> file)
{
    const std::string length = std::to_string(file.size());
    if (file.size() < header::identification_size)
        return unreadable("the file has " + length + " bytes, its identification needs " +
                          std::to_string(header::identification_size));
    if (!std::ranges::equal(file.first(std::size(magic)), magic))
        return unreadable("bytes 0 to 3 are not 7f 45 4c 46, so this is not an ELF file");
    const std::byte class_ = file[header::class_];
    if (class_ != class_32 && class_ != class_64)
        return unreadable("byte 4, the class, is " + decimal(class_) +
                          ", neither 1 (32 bits) nor 2 (64 bits)");
    const std::byte data = file[header::data];
    if (data != little_endian && data != big_endian)
        return unreadable("byte 5, the byte order, is " + decimal(data) +
                          ", neither 1 (little-endian) nor 2 (big-endian)");
    const std::size_t needed = class_ == class_64 ? header::size_64 : header::size_32;
    if (file.size() < needed)
        return unreadable("the file has " + length + " bytes, its header needs " +
                          std::to_string(needed));
    if (class_ != class_64)
        return std::unexpected{Error{.code = ErrorCode::elf_bits}};
    return {};
}

/// Makes sure that @p count program headers from @p offset on are inside a file of @p length bytes.
Result<void> check_program_headers(std::uint64_t offset, std::uint64_t count, std::uint64_t length)
{
    if (count > length / program_header_size)
        return unreadable("e_phnum is " + std::to_string(count) + ", but a file of " +
                          std::to_string(length) + " bytes holds at most " +
                          std::to_string(length / program_header_size) + " program headers");
    if (count == 0)
        return {};
    if (offset > length || count * program_header_size > length - offset)
        return unreadable(std::to_string(count) + " program headers of " +
                          std::to_string(program_header_size) + " bytes from offset " +
                          std::to_string(offset) + " on do not fit in the file of " +
                          std::to_string(length) + " bytes");
    return {};
}

/// The segment that @p fields describe, in 64-bit arithmetic that wraps.
Result<Segment> read_segment(const Fields& fields, std::uint64_t file_length) noexcept
{
    const auto address = fields.at<std::uint64_t>(program_header::virtual_address);
    const auto file_offset = fields.at<std::uint64_t>(program_header::offset);
    const auto file_size = fields.at<std::uint64_t>(program_header::file_size);
    const auto flags = fields.at<std::uint32_t>(program_header::flags);

    const std::uint64_t file_end = file_offset + file_size;
    if (file_offset > file_end || file_end > file_length)
        return refuse_segment(ErrorCode::elf_segment_addr_or_size_error, address);
    if ((flags & segment_flag::read) == 0)
        return refuse_segment(ErrorCode::elf_segment_unreadable, address);
    if ((flags & segment_flag::write) != 0 && (flags & segment_flag::execute) != 0)
        return refuse_segment(ErrorCode::elf_segment_writable_and_executable, address);

    const std::uint64_t padding = address % page_size;
    const auto memory_size = fields.at<std::uint64_t>(program_header::memory_size);
    return Segment{.address = address - padding,
                   .size = (memory_size + padding + (page_size - 1)) & ~(page_size - 1),
                   .padding = padding,
                   .file_offset = file_offset,
                   .file_size = file_size,
                   .elf_flags = flags};
}

Result<Image> parse_headers(std::span<const std::byte> file)
{
    if (auto readable = check_header(file); !readable)
        return std::unexpected{std::move(readable.error())};

    Image image;
    image.big_endian = file[header::data] == big_endian;
    const Fields fields{file, image.big_endian};
    image.entry = fields.at<std::uint64_t>(header::entry);
    image.type = fields.at<std::uint16_t>(header::type);
    image.machine = fields.at<std::uint16_t>(header::machine);
    image.flags = fields.at<std::uint32_t>(header::flags);
    image.declared_header_size = fields.at<std::uint16_t>(header::program_header_size);
    image.program_headers = fields.at<std::uint16_t>(header::program_header_count);

    const auto table = fields.at<std::uint64_t>(header::program_headers_offset);
    if (auto inside = check_program_headers(table, image.program_headers, file.size()); !inside)
        return std::unexpected{std::move(inside.error())};

    static_assert(sizeof(Segment) <= program_header_size, "memory is bounded by the file's size");
    image.segments.reserve(image.program_headers);
    for (std::size_t i = 0; i < image.program_headers; ++i) {
        const Fields entry = fields.from(table + i * program_header_size);
        if (entry.at<std::uint32_t>(program_header::type) != type_load)
            continue;
        const auto segment = read_segment(entry, file.size());
        if (!segment)
            return std::unexpected{segment.error()};
        image.segments.push_back(*segment);
        // Cannot wrap: at most 65535 ranges, each inside the file.
        image.loaded_bytes += segment->file_size;
    }
    return image;
}
}  // namespace

Result<Image> parse(std::span<const std::byte> file) noexcept
try {
    return parse_headers(file);
} catch (const std::bad_alloc&) {
    return std::unexpected{Error{.code = ErrorCode::out_of_memory}};
}
}  // namespace mopvm::elf
