// LabelText: the lexical side of label sets and selectors: which names may stand unquoted, quoting, and the parser of
// `metric{label="v",...}` shared by Labels and Selector.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tsdb/result.h"
#include "tsdb/selector.h"

namespace tsdb {

/// [a-zA-Z_:][a-zA-Z0-9_:]*
bool IsPlainMetricName(std::string_view text);
/// [a-zA-Z_][a-zA-Z0-9_]*
bool IsPlainLabelName(std::string_view text);

/// `text` in double quotes, escaped so that the parser gives the same bytes back.
void AppendQuoted(std::string_view text, std::string* out);
/// A label name: as it is when plain, quoted otherwise.
void AppendLabelName(std::string_view name, std::string* out);

/// Parses the whole of `text` as described at Selector::Parse; matchers in the order of the text.
/// kInvalidArgument: "at byte <offset, from 0> of '<text>': <what>".
Result<std::vector<Matcher>> ParseMatchers(std::string_view text);

}  // namespace tsdb
