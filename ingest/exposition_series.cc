// Labels of the exposition formats.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ingest/exposition_importer.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Reads `name{a="b"}` from left to right.
class SeriesReader {
 public:
  explicit SeriesReader(std::string_view text) : text_(text), rest_(text) {}

  Result<std::vector<Label>> Read() {
    std::string metric;
    const std::string_view plain = TakeName(true);
    SkipBlanks();
    if (!plain.empty()) {
      metric = plain;
    }
    if (Take('{')) {
      TSDB_RETURN_IF_ERROR(ReadLabels(&metric));
    }
    if (!rest_.empty()) {
      return Bad("unexpected text behind the labels", rest_);
    }
    const bool named =
        std::any_of(labels_.begin(), labels_.end(), [](const Label& l) { return l.name == kMetricLabel; });
    if (metric.empty() && !named) {
      return Bad("no metric name", text_);
    }
    if (!metric.empty()) {
      labels_.push_back({std::string(kMetricLabel), std::move(metric)});
    }
    std::sort(labels_.begin(), labels_.end());
    const auto repeated = std::adjacent_find(labels_.begin(), labels_.end(),
                                             [](const Label& a, const Label& b) { return a.name == b.name; });
    if (repeated != labels_.end()) {
      return Bad("label given twice", repeated->name);
    }
    return std::move(labels_);
  }

 private:
  static Status Bad(std::string_view reason, std::string_view text) {
    return Status::InvalidArgument(std::string(reason) + ": " + QuoteForMessage(text));
  }
  void SkipBlanks() { rest_ = TrimLeft(rest_); }
  bool Take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  /// A plain metric (`colon_allowed`) or label name; empty when there is none.
  std::string_view TakeName(bool colon_allowed) {
    std::size_t n = 0;
    const auto is_start = [&](char c) { return IsNameStart(c) || (colon_allowed && c == ':'); };
    while (n < rest_.size() && (is_start(rest_[n]) || (n > 0 && IsDigit(rest_[n])))) {
      ++n;
    }
    const std::string_view name = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return name;
  }
  /// A quoted string; the three escapes are \\, \" and \n, any other backslash is itself.
  Status ReadString(std::string* out) {
    const std::string_view start = rest_;
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\' && rest_.size() > 1) {
        const char next = rest_[1];
        if (next == '\\' || next == '"' || next == 'n') {
          *out += next == 'n' ? '\n' : next;
        } else {
          out->append(rest_.substr(0, 2));
        }
        rest_.remove_prefix(2);
        continue;
      }
      *out += rest_.front();
      rest_.remove_prefix(1);
    }
    if (!Take('"')) {
      return Bad("label value without a closing quote", start);
    }
    return IsValidUtf8(*out) ? Status() : Bad("label that is not UTF-8", *out);
  }
  /// What stands between the braces, and the closing one.
  Status ReadLabels(std::string* metric) {
    while (true) {
      SkipBlanks();
      if (Take('}')) {
        return {};
      }
      TSDB_RETURN_IF_ERROR(ReadLabel(metric));
      SkipBlanks();
      if (!Take(',') && !rest_.starts_with('}')) {
        return Bad("expected ',' or '}' between labels", rest_);
      }
    }
  }
  Status ReadLabel(std::string* metric) {
    Label label;
    const bool quoted = rest_.starts_with('"');
    if (quoted) {
      TSDB_RETURN_IF_ERROR(ReadString(&label.name));
    } else {
      label.name = TakeName(false);
    }
    if (label.name.empty()) {
      return Bad("not a label name", rest_);
    }
    SkipBlanks();
    if (!rest_.starts_with('=')) {
      if (quoted && metric->empty()) {
        *metric = std::move(label.name);
        return {};
      }
      return Bad("label without '='", label.name);
    }
    rest_.remove_prefix(1);
    SkipBlanks();
    if (!rest_.starts_with('"')) {
      return Bad("label value without quotes", rest_);
    }
    TSDB_RETURN_IF_ERROR(ReadString(&label.value));
    labels_.push_back(std::move(label));
    return {};
  }

  std::string_view text_;
  std::string_view rest_;
  std::vector<Label> labels_;
};

}  // namespace

Result<std::vector<Label>> ParseExpositionSeries(std::string_view text) { return SeriesReader(text).Read(); }

}  // namespace tsdb::ingest
