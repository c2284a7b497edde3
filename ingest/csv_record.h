// CsvRecord: one record of RFC 4180 as cells. A quoted cell may hold commas, line ends and doubled quotes; a quote
// inside an unquoted cell is an ordinary character. Cells are views into the text, or into the record where quotes were
// undone.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tsdb::ingest {

class CsvRecord {
 public:
  enum class Outcome { kWhole, kMore, kMalformed };

  /// Parses the record at the start of `text`. kMore: it is not whole yet (never under `at_end`). kMalformed: error()
  /// says why. After kWhole, bytes() were used, line end included.
  Outcome Parse(std::string_view text, bool at_end);

  const std::vector<std::string_view>& cells() const { return cells_; }
  std::size_t bytes() const { return bytes_; }
  const char* error() const { return error_; }

 private:
  /// Parses the cell at `*position`, leaving it at the delimiter behind it.
  Outcome ParseCell(std::string_view text, bool at_end, std::size_t* position);
  Outcome ParseQuotedCell(std::string_view text, bool at_end, std::size_t* position);
  Outcome Malformed(const char* error) {
    error_ = error;
    return Outcome::kMalformed;
  }

  std::vector<std::string_view> cells_;
  std::deque<std::string> unquoted_;  // cells with doubled quotes
  std::size_t bytes_ = 0;
  const char* error_ = nullptr;
};

}  // namespace tsdb::ingest
