#include <algorithm>

#include "index/series_index.h"
#include "index/value_matcher.h"

namespace tsdb::index {

struct CompiledSelector::Impl {
  bool is_key = false;
  std::string key;
  std::vector<ValueMatcher> matchers;
};

CompiledSelector::CompiledSelector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CompiledSelector::CompiledSelector(CompiledSelector&&) noexcept = default;
CompiledSelector& CompiledSelector::operator=(CompiledSelector&&) noexcept = default;
CompiledSelector::~CompiledSelector() = default;

Result<CompiledSelector> CompiledSelector::Compile(const Selector& selector) {
  auto impl = std::make_unique<Impl>();
  impl->is_key = selector.is_key();
  if (impl->is_key) {
    impl->key = selector.key();
  } else {
    TSDB_ASSIGN_OR_RETURN(impl->matchers, CompileMatchers(selector.matchers()));
  }
  return CompiledSelector(std::move(impl));
}

bool CompiledSelector::Matches(const SeriesDefinition& definition) const {
  if (definition.dropped) {
    return false;
  }
  if (impl_->is_key) {
    return definition.ShownKey() == impl_->key;
  }
  return std::all_of(impl_->matchers.begin(), impl_->matchers.end(), [&](const ValueMatcher& matcher) {
    return matcher.Accepts(definition.labels.Get(matcher.name()));
  });
}

}  // namespace tsdb::index
