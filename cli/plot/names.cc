#include "cli/plot/names.h"

#include <algorithm>

#include "cli/text/escape.h"

namespace tsdb::cli {
namespace {

/// Labels that all series have with the same value.
std::vector<Label> CommonLabels(const std::vector<SeriesInfo>& series) {
  std::vector<Label> common;
  for (const Label& label : series.front().labels.pairs()) {
    if (std::all_of(series.begin(), series.end(),
                    [&](const SeriesInfo& s) { return s.labels.Get(label.name) == label.value; })) {
      common.push_back(label);
    }
  }
  return common;
}

/// The labels that are not among the common ones, as a selector writes them.
std::string Rest(const Labels& labels, const std::vector<Label>& common) {
  std::vector<Label> rest;
  for (const Label& label : labels.pairs()) {
    if (std::find(common.begin(), common.end(), label) == common.end()) {
      rest.push_back(label);
    }
  }
  const Result<Labels> own = Labels::FromPairs(std::move(rest));
  if (!own.ok() || own->empty()) {
    return "";
  }
  const std::string text = own->CanonicalKey();
  return text.starts_with("{") && text.ends_with("}") ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

LineNames NameLines(const std::vector<SeriesInfo>& series) {
  LineNames result;
  if (series.size() == 1) {
    result.title = Printable(series.front().key);
    result.names.emplace_back();
    return result;
  }
  const bool by_labels = std::none_of(series.begin(), series.end(),
                                      [](const SeriesInfo& s) { return s.created_by_key || s.labels.empty(); });
  if (series.empty() || !by_labels) {
    for (const SeriesInfo& s : series) {
      result.names.push_back(Printable(s.key));
    }
    return result;
  }
  const std::vector<Label> common = CommonLabels(series);
  if (const Result<Labels> shared = Labels::FromPairs(common); shared.ok() && !shared->empty()) {
    result.title = Printable(shared->CanonicalKey());
  }
  for (const SeriesInfo& s : series) {
    std::string name = Rest(s.labels, common);
    result.names.push_back(name.empty() ? Printable(s.key) : Printable(name));
  }
  return result;
}

}  // namespace tsdb::cli
