// SPDX-License-Identifier: MIT
/// @file
/// Text in columns.
#pragma once

#include <string>
#include <vector>

namespace mopvm::tool
{
/// Rows of cells of printable ASCII. The first column is aligned left, the others right.
class Table
{
public:
    /// Appends a row; cells that are missing at its end are empty.
    void add(std::vector<std::string> cells) { m_rows.push_back(std::move(cells)); }

    /// Appends @p rows below a row with @p heading alone; nothing when there are none.
    void add_under(std::string heading, Table rows);

    /// All rows, a line each.
    [[nodiscard]] std::string text() const;

private:
    std::vector<std::vector<std::string>> m_rows;
};
}  // namespace mopvm::tool
