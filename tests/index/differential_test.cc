// Random changes, persists and reopens: the RocksDB index answers every question as the plain twin does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tests/index/index_test_util.h"

namespace tsdb::index {
namespace {

using Op = Matcher::Op;

class Differential : public testing::TestWithParam<unsigned> {
 protected:
  std::uint64_t Below(std::uint64_t n) { return random_() % n; }

  template <typename T>
  const T& OneOf(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

  std::vector<Label> RandomLabels() {
    std::map<std::string, std::string> labels;
    for (std::uint64_t i = Below(5); i > 0; --i) {
      labels[OneOf(names_)] = OneOf(values_);
    }
    if (Below(3) == 0) {
      labels["user"] = "u" + std::to_string(Below(500));
    }
    std::vector<Label> pairs;
    for (auto& [name, value] : labels) {
      pairs.push_back({name, value});
    }
    return pairs;
  }

  Matcher RandomMatcher() {
    Matcher matcher;
    matcher.name = Below(8) == 0 ? "user" : OneOf(names_);
    matcher.op = static_cast<Op>(Below(6));
    if (matcher.op == Op::kRegex || matcher.op == Op::kNotRegex) {
      matcher.values = {OneOf(patterns_)};
    } else if (matcher.op == Op::kIn || matcher.op == Op::kNotIn) {
      for (std::uint64_t i = Below(4); i > 0; --i) {
        matcher.values.push_back(OneOf(values_));
      }
    } else {
      matcher.values = {Below(10) == 0 ? "nosuch" : OneOf(values_)};
    }
    return matcher;
  }

  std::uint64_t RandomId() {
    // Ids of several blocks, and beyond 32 bits.
    return Below(20) == 0 ? (std::uint64_t{1} << 33) + Below(50) : Below(2) == 0 ? 1 + Below(100) : 65500 + Below(100);
  }

  void Change() {
    ++commit_;
    const std::uint64_t id = RandomId();
    SeriesDefinition definition;
    switch (Below(4)) {
      case 0:
        definition = Drop(id, commit_);
        break;
      case 1:
        definition = ByKey(id, commit_, "key" + std::to_string(Below(40)), RandomLabels());
        break;
      default:
        definition = ByLabels(id, commit_, RandomLabels());
    }
    if (Below(5) == 0 && !definition.dropped) {
      definition.settings.has_duplicates = true;
      definition.settings.duplicates = DuplicatePolicy::kMax;
    }
    twin_->Apply(definition);
    index_->Apply(definition);
    history_.push_back(definition);
  }

  // Forgets the overlay, then catches up from the history as recovery does.
  void Reopen() {
    index_.reset();
    index_ = MustOpen(directory_.path());
    ASSERT_EQ(index_->applied_commit(), persisted_);
    for (const SeriesDefinition& definition : history_) {
      if (definition.commit > persisted_) {
        index_->Apply(definition);
      }
    }
  }

  void Persist() {
    const std::uint64_t behind = persisted_.value;
    persisted_ = CommitNumber{Below(3) == 0 ? behind + Below(commit_ - behind + 1) : commit_};
    const Status status = index_->Persist(persisted_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(index_->applied_commit(), persisted_);
  }

  void Compare() {
    for (int i = 0; i < 12; ++i) {
      std::vector<Matcher> matchers;
      for (std::uint64_t n = Below(4); n > 0; --n) {
        matchers.push_back(RandomMatcher());
      }
      const Selector selector(matchers);
      ASSERT_EQ(Ids(index_->Select(selector)), Ids(twin_->Select(selector))) << selector.ToString();
    }
    ASSERT_EQ(index_->Count().value(), twin_->Count().value());
    const std::string prefix = Below(2) == 0 ? "" : OneOf(values_).substr(0, 1);
    const std::uint64_t limit = Below(2) == 0 ? 0 : 1 + Below(5);
    ASSERT_EQ(index_->LabelNames("", limit).value(), twin_->LabelNames("", limit).value());
    for (const std::string& name : names_) {
      ASSERT_EQ(index_->LabelValues(name, prefix, limit).value(), twin_->LabelValues(name, prefix, limit).value());
    }
    ASSERT_EQ(index_->LabelValues("user", "u1", limit).value(), twin_->LabelValues("user", "u1", limit).value());
    std::vector<SeriesId> ids;
    std::vector<Labels> sets;
    for (int i = 0; i < 20; ++i) {
      ids.push_back(SeriesId{RandomId()});
      sets.push_back(Below(2) == 0 || history_.empty() ? ByLabels(0, 0, RandomLabels()).labels
                                                       : OneOf(history_).labels);
    }
    const auto definitions = twin_->FindByIds(ids).value();
    ASSERT_EQ(index_->FindByIds(ids).value(), definitions);
    const auto infos = index_->InfosByIds(ids).value();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(infos[i] != nullptr, definitions[i].has_value()) << ids[i].value;
      if (infos[i] != nullptr) {
        const SeriesInfo info = definitions[i]->ToInfo();
        ASSERT_EQ(std::tie(infos[i]->id, infos[i]->key, infos[i]->labels, infos[i]->created_by_key, infos[i]->settings),
                  std::tie(info.id, info.key, info.labels, info.created_by_key, info.settings));
      }
    }
    std::vector<const Labels*> pointers;
    for (const Labels& labels : sets) {
      pointers.push_back(&labels);
      const std::string key = labels.CanonicalKey();
      ASSERT_EQ(index_->FindByKey(key).value(), twin_->FindByKey(key).value()) << key;
    }
    ASSERT_EQ(index_->FindByLabels(pointers).value(), twin_->FindByLabels(pointers).value());
    for (int i = 0; i < 40; ++i) {
      const std::string key = "key" + std::to_string(i);
      ASSERT_EQ(index_->FindByKey(key).value(), twin_->FindByKey(key).value()) << key;
      ASSERT_EQ(Ids(index_->Select(Selector::ForKey(key))), Ids(twin_->Select(Selector::ForKey(key)))) << key;
    }
  }

  const std::vector<std::string> names_ = {"__name__", "env", "a", std::string("n\0ul", 4), "ü", "a\x01"};
  const std::vector<std::string> values_ = {
      "", "prod", "dev", "x", "xy", std::string("x\0y", 3), "ünï", "line\nbreak", "\xff\xfe", "\xff", "Prod", "a|b"};
  const std::vector<std::string> patterns_ = {
      "",     ".*",      ".+",    "prod",    "prod|dev", "(prod|)", "p.*",   "(p.*)?", "x.?",      "(?i)prod", ".*d",
      "[^x]", "x|y|ünï", ".+|^$", "u[0-9]+", "u1.*",     "ün.*",    "a\\|b", "line.*", "[^a-z].*", "\\d*",     "...?"};

  std::mt19937_64 random_{GetParam()};
  const TemporaryDirectory directory_;
  std::unique_ptr<SeriesIndex> twin_ = NewMemoryIndex();
  std::unique_ptr<SeriesIndex> index_;
  std::vector<SeriesDefinition> history_;
  std::uint64_t commit_ = 0;
  CommitNumber persisted_;
};

TEST_P(Differential, AnswersAsTheTwin) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  index_ = MustOpen(directory_.path());
  for (int step = 0; step < 60 && !HasFatalFailure(); ++step) {
    for (std::uint64_t n = Below(step % 10 == 0 ? 200 : 20); n > 0; --n) {
      Change();
    }
    Compare();
    if (Below(3) == 0 && commit_ > 0) {
      Persist();
      Compare();
    }
    if (Below(8) == 0) {
      Reopen();
      Compare();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, testing::Range(1u, 9u));

}  // namespace
}  // namespace tsdb::index
