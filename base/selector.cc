#include "tsdb/selector.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/label_text.h"
#include "tsdb/labels.h"

namespace tsdb {

namespace {

std::string_view OpText(Matcher::Op op) {
  switch (op) {
    case Matcher::Op::kEqual:
    case Matcher::Op::kIn: return "=";
    case Matcher::Op::kNotEqual:
    case Matcher::Op::kNotIn: return "!=";
    case Matcher::Op::kRegex: return "=~";
    case Matcher::Op::kNotRegex: return "!~";
  }
  return "=";
}

void AppendMatcher(const Matcher& matcher, std::string* out) {
  AppendLabelName(matcher.name, out);
  out->append(OpText(matcher.op));
  if (matcher.op != Matcher::Op::kIn && matcher.op != Matcher::Op::kNotIn) {
    AppendQuoted(matcher.values.empty() ? std::string_view() : std::string_view(matcher.values.front()), out);
    return;
  }
  out->push_back('(');
  for (std::size_t i = 0; i < matcher.values.size(); ++i) {
    if (i > 0) {
      out->push_back(',');
    }
    AppendQuoted(matcher.values[i], out);
  }
  out->push_back(')');
}

// True when the first matcher can stand before the braces: it fixes a plain metric and nothing else is said of it.
bool HasPrefixMetric(const std::vector<Matcher>& matchers) {
  const auto about_metric = [](const Matcher& matcher) { return matcher.name == kMetricLabel; };
  return !matchers.empty() && about_metric(matchers.front()) && matchers.front().op == Matcher::Op::kEqual &&
         !matchers.front().values.empty() && IsPlainMetricName(matchers.front().values.front()) &&
         std::count_if(matchers.begin(), matchers.end(), about_metric) == 1;
}

}  // namespace

Result<Selector> Selector::Parse(std::string_view text) {
  auto matchers = ParseMatchers(text);
  if (!matchers.ok()) {
    return matchers.status().WithContext("selector");
  }
  return Selector(*std::move(matchers));
}

Selector Selector::ForKey(std::string key) {
  Selector selector;
  selector.key_ = std::move(key);
  selector.is_key_ = true;
  return selector;
}

std::string Selector::ToString() const {
  if (is_key_) {
    return key_;
  }
  std::string out;
  std::size_t next = 0;
  if (HasPrefixMetric(matchers_)) {
    out.append(matchers_.front().values.front());
    next = 1;
    if (matchers_.size() == 1) {
      return out;
    }
  }
  out.push_back('{');
  for (std::size_t i = next; i < matchers_.size(); ++i) {
    if (i > next) {
      out.push_back(',');
    }
    AppendMatcher(matchers_[i], &out);
  }
  out.push_back('}');
  return out;
}

}  // namespace tsdb
