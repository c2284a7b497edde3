// The planner: from matchers to the set of series, by posting lists. The same for every PostingSource.
//
// Order: values named outright first, then "has the label" and regular expressions over the values of a label, then
// what only takes away. As soon as few candidates are left the rest is decided by reading their labels instead, so that
// a label with very many values does not dominate.
//
// An absent label is an empty value: a matcher that accepts "" also takes the series without the label.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "base/id_set.h"
#include "index/posting_source.h"
#include "index/value_matcher.h"
#include "tsdb/result.h"

namespace tsdb::index {

Result<IdSet> EvaluateMatchers(const std::vector<ValueMatcher>& matchers, const PostingSource& source);

}  // namespace tsdb::index
