#include "cli/text/table.h"

#include <algorithm>

#include "cli/text/escape.h"

namespace tsdb::cli {
namespace {

void Widen(const std::vector<std::string>& cells, std::vector<std::size_t>* widths) {
  if (widths->size() < cells.size()) {
    widths->resize(cells.size());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    (*widths)[i] = std::max((*widths)[i], DisplayWidth(cells[i]));
  }
}

}  // namespace

void Table::AppendTo(std::string* out, bool color) const {
  std::vector<std::size_t> widths;
  Widen(titles_, &widths);
  for (const auto& row : rows_) {
    Widen(row, &widths);
  }
  const auto append_row = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - DisplayWidth(cells[i]), ' ');
      const bool right = i < right_aligned_.size() && right_aligned_[i];
      const bool last = i + 1 == cells.size();
      *out += right ? padding + cells[i] : last ? cells[i] : cells[i] + padding;
      *out += last ? "" : "  ";
    }
  };
  if (!titles_.empty()) {
    *out += color ? "\x1b[1m" : "";
    append_row(titles_);
    *out += color ? "\x1b[0m\n" : "\n";
  }
  for (const auto& row : rows_) {
    append_row(row);
    *out += '\n';
  }
}

}  // namespace tsdb::cli
