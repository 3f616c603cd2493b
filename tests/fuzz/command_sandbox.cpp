// SPDX-License-Identifier: MIT
// Standard streams in memory, and a folder that a run cannot leave.

#include "command_sandbox.hpp"

#include "command_line.hpp"
#include "support/fuzz_check.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

extern "C" {
/// Where sanitizers report to; null without one.
__attribute__((weak)) void __sanitizer_set_report_fd(void* fd);
int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...);
}

namespace
{
/// The folder of the run; -1 while none runs.
int folder_of_run = -1;
/// A path at which the run would have written, had it been let.
std::string left_folder;

void require(bool done, const char* what)
{
    mopvm::test::check(done, [&] { return std::string{"the host refuses "} + what; });
}
}  // namespace

int __wrap_open(const char* path, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    if (folder_of_run < 0)
        return __real_open(path, flags, mode);
    if ((flags & O_ACCMODE) != O_RDONLY && std::string_view{path}.contains('/')) {
        left_folder = path;
        errno = EACCES;
        return -1;
    }
    return ::openat(folder_of_run, path, flags, mode);
}

namespace mopvm::test
{
namespace
{
/// Files in memory that stand in for descriptors 0 to 2 while this lives.
class StreamsInMemory
{
public:
    explicit StreamsInMemory(std::string_view input)
    {
        for (int fd = 0; fd < 3; ++fd) {
            const auto at = static_cast<std::size_t>(fd);
            m_memory[at] = ::memfd_create("stream", MFD_CLOEXEC);
            require(m_memory[at] > 2, "a file in memory");
        }
        require(std::cmp_equal(::write(m_memory[0], input.data(), input.size()), input.size()),
                "a file in memory");
        ::lseek(m_memory[0], 0, SEEK_SET);
        for (int fd = 0; fd < 3; ++fd) {
            const auto at = static_cast<std::size_t>(fd);
            m_saved[at] = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
            ::dup2(m_memory[at], fd);
        }
        if (__sanitizer_set_report_fd != nullptr)
            __sanitizer_set_report_fd(reinterpret_cast<void*>(std::intptr_t{m_saved[2]}));
    }
    StreamsInMemory(const StreamsInMemory&) = delete;
    StreamsInMemory& operator=(const StreamsInMemory&) = delete;
    ~StreamsInMemory()
    {
        if (__sanitizer_set_report_fd != nullptr)
            __sanitizer_set_report_fd(reinterpret_cast<void*>(std::intptr_t{2}));
        for (int fd = 0; fd < 3; ++fd) {
            const auto at = static_cast<std::size_t>(fd);
            if (m_saved[at] >= 0)
                ::dup2(m_saved[at], fd);
            else
                ::close(fd);
            ::close(m_saved[at]);
            ::close(m_memory[at]);
        }
    }

    /// What was written to @p fd.
    [[nodiscard]] std::string text(int fd) const
    {
        const int memory = m_memory[static_cast<std::size_t>(fd)];
        std::string bytes(static_cast<std::size_t>(::lseek(memory, 0, SEEK_END)), '\0');
        require(std::cmp_equal(::pread(memory, bytes.data(), bytes.size(), 0), bytes.size()),
                "a file in memory");
        return bytes;
    }

private:
    std::array<int, 3> m_memory{-1, -1, -1};
    std::array<int, 3> m_saved{-1, -1, -1};
};

[[nodiscard]] int lowest_free_descriptor()
{
    const int fd = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
    return fd;
}

[[nodiscard]] std::string content(const std::filesystem::path& path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}
}  // namespace

CommandSandbox::CommandSandbox(std::map<std::string, std::string> files) : m_files{std::move(files)}
{
    m_folder = (std::filesystem::temp_directory_path() / "mopvm-fuzz-XXXXXX").string();
    require(::mkdtemp(m_folder.data()) != nullptr, "a temporary folder");
    std::filesystem::create_directory(m_folder + "/folder");
    for (const auto& [name, bytes] : m_files)
        write(name, bytes);
}

CommandSandbox::~CommandSandbox()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

void CommandSandbox::write(const std::string& name, std::string_view bytes) const
{
    std::ofstream file{m_folder + '/' + name, std::ios::binary};
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.flush().good(), "a file in the temporary folder");
}

void CommandSandbox::add(const std::string& name, std::string_view bytes)
{
    write(name, bytes);
    m_added[name] = bytes;
}

CommandRun CommandSandbox::run(std::vector<std::string> words, std::string_view input)
{
    CommandRun result;
    const int folder = __real_open(m_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(folder >= 0, "a folder of its own");
    {
        const StreamsInMemory streams{input};
        const int free_before = lowest_free_descriptor();
        folder_of_run = folder;
        result.status = tool::run_command_line(std::move(words));
        folder_of_run = -1;
        const int free_behind = lowest_free_descriptor();
        result.out = streams.text(1);
        result.err = streams.text(2);
        result.status = free_before == free_behind ? result.status : -1;
    }
    ::close(folder);
    check(result.status >= 0, [] { return std::string{"a descriptor is left open"}; });
    check(left_folder.empty(), [] { return "not to be written to: " + left_folder; });
    result.written = collect();
    return result;
}

std::map<std::string, std::string> CommandSandbox::collect()
{
    std::map<std::string, std::string> changed;
    for (const auto& entry : std::filesystem::directory_iterator{m_folder}) {
        const std::string name = entry.path().filename();
        if (name == "folder")
            continue;
        std::string found = content(entry.path());
        const auto added = m_added.find(name);
        const auto kept = m_files.find(name);
        const bool as_before =
            (added != m_added.end() && added->second == found) ||
            (added == m_added.end() && kept != m_files.end() && kept->second == found);
        if (kept == m_files.end())
            std::filesystem::remove(entry.path());
        else if (found != kept->second)
            write(name, kept->second);
        if (!as_before)
            changed[name] = std::move(found);
    }
    m_added.clear();
    return changed;
}
}  // namespace mopvm::test
