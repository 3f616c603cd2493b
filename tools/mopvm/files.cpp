// SPDX-License-Identifier: MIT
// Files of the host.

#include "files.hpp"

#include "problem.hpp"
#include "text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace mopvm::tool
{
namespace
{
constexpr std::size_t buffer_size = std::size_t{64} << 10;
constexpr mode_t created_mode = 0666;

[[noreturn]] void fail(std::string_view what, const std::string& path, const std::string& why)
{
    throw Problem{std::string{what} + " '" + printable(path) + "': " + why};
}

[[nodiscard]] std::string reason(int number)
{
    return std::generic_category().message(number);
}

[[nodiscard]] int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept
{
    int fd = -1;
    do
        fd = ::open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}
}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : m_fd{std::exchange(other.m_fd, -1)} {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept
{
    std::swap(m_fd, other.m_fd);
    return *this;
}

Descriptor::~Descriptor()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

std::vector<std::byte> read_program_file(const std::string& path)
{
    constexpr std::string_view what = "cannot read the program";
    // Not waiting for a writer: a FIFO is refused below, not waited for.
    const Descriptor file{open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY)};
    if (file.get() < 0)
        fail(what, path, reason(errno));
    struct stat status{};
    if (::fstat(file.get(), &status) != 0)
        fail(what, path, reason(errno));
    if (S_ISDIR(status.st_mode))
        fail(what, path, "it is a directory");
    if (!S_ISREG(status.st_mode))
        fail(what, path, "it is not a regular file");
    const auto* const too_large = "it is larger than 1 GiB, the largest guest memory";
    if (std::cmp_greater(status.st_size, max_program_file))
        fail(what, path, too_large);

    // One byte more than the size shows the end; files that grow or say 0 are read on in steps.
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size) + 1);
    std::size_t length = 0;
    while (true) {
        const auto got = ::read(file.get(), bytes.data() + length, bytes.size() - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(what, path, reason(errno));
        if (got == 0)
            break;
        length += static_cast<std::size_t>(got);
        if (length > max_program_file)
            fail(what, path, too_large);
        if (length == bytes.size())
            bytes.resize(length + std::max(length, buffer_size));
    }
    bytes.resize(length);
    return bytes;
}

Descriptor open_input(const std::string& path)
{
    constexpr std::string_view what = "cannot read";
    Descriptor file{open_retrying(path.c_str(), O_RDONLY | O_NOCTTY)};
    if (file.get() < 0)
        fail(what, path, reason(errno));
    struct stat status{};
    if (::fstat(file.get(), &status) != 0)
        fail(what, path, reason(errno));
    if (S_ISDIR(status.st_mode))
        fail(what, path, "it is a directory");
    return file;
}

void reserve_standard_descriptors() noexcept
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        // The lowest free number is taken; opened the wrong way round, every use of it fails.
        if (::fcntl(fd, F_GETFD) < 0)
            (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

Output::Output(const std::string& path) : m_name{path == "-" ? "stdout" : path}
{
    if (path == "-")
        return;
    m_file = Descriptor{
        open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, created_mode)};
    if (m_file.get() < 0)
        fail("cannot write", path, reason(errno));
    m_fd = m_file.get();
}

void Output::write(std::string_view text)
{
    m_buffer += text;
    if (m_buffer.size() >= buffer_size)
        flush();
}

void Output::flush()
{
    std::string_view rest = m_buffer;
    while (!rest.empty()) {
        const auto written = ::write(m_fd, rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE)
            throw ClosedPipe{};
        if (written < 0)
            fail("cannot write", m_name, reason(errno));
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    m_buffer.clear();
}
}  // namespace mopvm::tool
