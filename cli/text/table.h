// Table: a small listing for people, with aligned columns. Not for samples: it holds every cell (see row_writer.h).
//
// Thread safety: none; one thread at a time.
#pragma once

#include <string>
#include <vector>

namespace tsdb::cli {

class Table {
 public:
  /// Without titles there is no header line. `right_aligned` names columns whose cells end at the same place.
  explicit Table(std::vector<std::string> titles = {}, std::vector<bool> right_aligned = {})
      : titles_(std::move(titles)), right_aligned_(std::move(right_aligned)) {}

  /// Cells must be printable (escape.h).
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines with two blanks between columns and none at the end.
  void AppendTo(std::string* out, bool color) const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_aligned_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tsdb::cli
