// SPDX-License-Identifier: MIT
// Text in columns.

#include "table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mopvm::tool
{
void Table::add_under(std::string heading, Table rows)
{
    if (rows.m_rows.empty())
        return;
    add({std::move(heading)});
    std::ranges::move(rows.m_rows, std::back_inserter(m_rows));
}

std::string Table::text() const
{
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i != row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }

    std::string text;
    for (const auto& row : m_rows) {
        std::string line;
        for (std::size_t i = 0; i != row.size(); ++i) {
            const std::string padding(widths[i] - row[i].size(), ' ');
            line += i == 0 ? row[i] + padding : "  " + padding + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}
}  // namespace mopvm::tool
