#include "ingest/csv_record.h"

namespace tsdb::ingest {
namespace {

/// A record with quoted line ends is followed no further than this, so that one open quote cannot take a file along.
constexpr std::size_t kQuotedBytesMax = 1u << 20;

}  // namespace

CsvRecord::Outcome CsvRecord::Parse(std::string_view text, bool at_end) {
  cells_.clear();
  unquoted_.clear();
  std::size_t i = 0;
  while (true) {
    if (const Outcome cell = ParseCell(text, at_end, &i); cell != Outcome::kWhole) {
      return cell;
    }
    if (i == text.size()) {
      bytes_ = i;
      return Outcome::kWhole;
    }
    if (text[i++] == '\n') {
      bytes_ = i;
      return Outcome::kWhole;
    }
  }
}

CsvRecord::Outcome CsvRecord::ParseCell(std::string_view text, bool at_end, std::size_t* position) {
  const std::size_t start = *position;
  if (start < text.size() && text[start] == '"') {
    return ParseQuotedCell(text, at_end, position);
  }
  std::size_t end = start;
  while (end < text.size() && text[end] != ',' && text[end] != '\n') {
    ++end;
  }
  if (end == text.size() && !at_end) {
    return Outcome::kMore;
  }
  *position = end;
  std::string_view cell = text.substr(start, end - start);
  if ((end == text.size() || text[end] == '\n') && cell.ends_with('\r')) {
    cell.remove_suffix(1);
  }
  cells_.push_back(cell);
  return Outcome::kWhole;
}

CsvRecord::Outcome CsvRecord::ParseQuotedCell(std::string_view text, bool at_end, std::size_t* position) {
  const std::size_t start = *position + 1;
  std::string* undone = nullptr;
  std::size_t from = start;  // of the part not copied yet
  std::size_t end = start;
  while (true) {
    end = text.find('"', end);
    if (end == std::string_view::npos || end > kQuotedBytesMax) {
      const bool more = end == std::string_view::npos && !at_end && text.size() <= kQuotedBytesMax;
      return more ? Outcome::kMore : Malformed("quoted cell without a closing quote");
    }
    if (end + 1 == text.size() && !at_end) {
      return Outcome::kMore;
    }
    if (end + 1 == text.size() || text[end + 1] != '"') {
      break;
    }
    if (undone == nullptr) {
      undone = &unquoted_.emplace_back();
    }
    undone->append(text.substr(from, end + 1 - from));
    end += 2;
    from = end;
  }
  if (undone != nullptr) {
    undone->append(text.substr(from, end - from));
    cells_.emplace_back(*undone);
  } else {
    cells_.push_back(text.substr(start, end - start));
  }
  ++end;
  if (end < text.size() && text[end] == '\r') {
    if (end + 1 == text.size() && !at_end) {
      return Outcome::kMore;
    }
    if (end + 1 == text.size() || text[end + 1] == '\n') {
      ++end;
    }
  }
  if (end < text.size() && text[end] != ',' && text[end] != '\n') {
    return Malformed("text after the closing quote of a cell");
  }
  *position = end;
  return Outcome::kWhole;
}

}  // namespace tsdb::ingest
