// SPDX-License-Identifier: MIT
/// @file
/// A place where the command runs in this process and touches nothing else: its standard streams
/// are in memory, and its files in a folder of its own.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mopvm::test
{
/// What one run left behind.
struct CommandRun
{
    int status = 0;
    std::string out;
    std::string err;
    std::map<std::string, std::string> written;  ///< Files that are new or changed, by name.
};

/// The folder and the streams. There is one at a time. The calls of `open` in the executable go
/// through the linker's `--wrap=open`: while the command runs they are relative to the folder, and
/// one that would write anywhere else is refused, and then a failure of the run.
class CommandSandbox
{
public:
    /// Makes the folder in that of the system for temporary files, with @p files and an empty
    /// folder `folder`. Ends the process when that cannot be done.
    explicit CommandSandbox(std::map<std::string, std::string> files);
    CommandSandbox(const CommandSandbox&) = delete;
    CommandSandbox& operator=(const CommandSandbox&) = delete;
    /// Removes the folder.
    ~CommandSandbox();

    /// Writes the file @p name, for the next run alone.
    void add(const std::string& name, std::string_view bytes);

    /// Runs the command with @p words and @p input as its stdin, then puts the folder back.
    [[nodiscard]] CommandRun run(std::vector<std::string> words, std::string_view input);

private:
    /// Reads the folder and restores it. @return what was not as before.
    [[nodiscard]] std::map<std::string, std::string> collect();
    void write(const std::string& name, std::string_view bytes) const;

    std::string m_folder;
    std::map<std::string, std::string> m_files;  ///< Those that stay.
    std::map<std::string, std::string> m_added;  ///< Those of the next run.
};
}  // namespace mopvm::test
