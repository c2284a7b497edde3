#include "ingest/line_importer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tsdb::ingest {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

Result<Labels> WithExtraLabels(std::vector<Label> labels, const std::vector<Label>& extra) {
  const std::size_t own = labels.size();
  for (const Label& label : extra) {
    const bool taken = std::any_of(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(own),
                                   [&](const Label& l) { return l.name == label.name && !l.value.empty(); });
    if (!taken) {
      labels.push_back(label);
    }
  }
  return Labels::FromPairs(std::move(labels));
}

LineImporter::LineImporter(const ImportOptions& options, BatchSink sink, std::size_t line_bytes_max)
    : options_(options),
      writer_(options, std::move(sink),
              [this](std::string_view prefix, std::string_view field) { return BuildLabels(prefix, field); }),
      line_bytes_max_(line_bytes_max) {}

std::size_t LineImporter::SkipByteOrderMark(std::string_view bytes) {
  std::size_t used = 0;
  while (!mark_done_ && used < bytes.size()) {
    if (bytes[used] != kByteOrderMark[mark_bytes_]) {
      carry_.assign(kByteOrderMark.substr(0, mark_bytes_));  // it was data
      mark_done_ = true;
      break;
    }
    ++used;
    ++mark_bytes_;
    mark_done_ = mark_bytes_ == kByteOrderMark.size();
  }
  return used;
}

std::string_view LineImporter::RefuseLongLine(std::string_view text) {
  writer_.RejectLine(line_, fmt::format("line longer than {} MiB", line_bytes_max_ >> 20));
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos) {
    skipping_ = true;
    return {};
  }
  ++line_;
  ++writer_.summary().lines;
  return text.substr(newline + 1);
}

std::string_view LineImporter::TakeRecords(std::string_view text, bool at_end) {
  while (!text.empty() && writer_.ok()) {
    const std::size_t newline = text.find('\n');
    if (std::min(newline, text.size()) > line_bytes_max_) {
      text = RefuseLongLine(text);
      continue;
    }
    if (newline == std::string_view::npos && !at_end) {
      break;
    }
    const std::size_t taken = TakeRecord(text, at_end);
    if (taken == 0) {
      break;
    }
    std::uint64_t newlines = 1;
    if (taken != newline + 1) {  // several lines, or the last one without its end
      const std::string_view record = text.substr(0, taken);
      newlines = static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n')) + (record.back() != '\n');
    }
    line_ += newlines;
    writer_.summary().lines += newlines;
    text.remove_prefix(taken);
    writer_.SendIfFull();
  }
  return text;
}

Status LineImporter::Feed(std::string_view bytes) {
  if (finished_) {
    return Status::InvalidArgument("Feed after Finish");
  }
  writer_.summary().bytes += bytes.size();
  bytes.remove_prefix(SkipByteOrderMark(bytes));
  while (!bytes.empty() && writer_.ok()) {
    if (skipping_) {
      const std::size_t newline = bytes.find('\n');
      if (newline == std::string_view::npos) {
        break;
      }
      bytes.remove_prefix(newline + 1);
      skipping_ = false;
      ++line_;
      ++writer_.summary().lines;
      continue;
    }
    if (carry_.empty()) {
      carry_.assign(TakeRecords(bytes, false));
      retry_bytes_ = 0;
      break;
    }
    // Complete the carried record with as little copying as it takes: up to the next newline.
    const std::size_t newline = bytes.find('\n');
    const std::size_t part = newline == std::string_view::npos ? bytes.size() : newline + 1;
    carry_.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
    if ((newline != std::string_view::npos && carry_.size() >= retry_bytes_) || carry_.size() > line_bytes_max_) {
      const std::size_t left = TakeRecords(carry_, false).size();
      carry_.erase(0, carry_.size() - left);
      // A record that goes on over line ends is tried again when there is twice as much of it, not at each line.
      retry_bytes_ = carry_.find('\n') == std::string::npos ? 0 : 2 * left;
    }
  }
  return writer_.status();
}

Status LineImporter::Flush() {
  writer_.Send();
  return writer_.status();
}

Status LineImporter::Finish() {
  if (finished_) {
    return writer_.status();
  }
  finished_ = true;
  if (!mark_done_) {
    carry_.assign(kByteOrderMark.substr(0, mark_bytes_));
  }
  TakeRecords(carry_, true);
  carry_.clear();
  if (writer_.ok()) {
    AtEnd();
  }
  writer_.Send();
  return writer_.status();
}

}  // namespace tsdb::ingest
