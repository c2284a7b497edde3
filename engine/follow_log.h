// FollowLog: puts what a reader wants of the log into a generation: all samples, those of some series, or none.
//
// Thread safety: one visitor per pass; the samples go in under the stripes, so that queries may run beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/core.h"
#include "wal/replay.h"

namespace tsdb::engine {

enum class WantedSamples : std::uint8_t {
  kNone,
  kOfKnownSeries,  // of the series the generation has already
  kAll,
};

class FollowLogVisitor final : public wal::ReplayVisitor {
 public:
  /// `definition` is called for each one, in order; may be empty. Commits above `through` are left out.
  FollowLogVisitor(Core& core, Generation* generation, WantedSamples samples, CommitNumber through,
                   std::function<void(const SeriesDefinition&)> definition)
      : core_(core),
        generation_(generation),
        samples_(samples),
        through_(through),
        definition_(std::move(definition)) {}

  bool wants_puts() const override { return samples_ != WantedSamples::kNone && commit_ <= through_; }
  Status OnCommit(CommitNumber commit, std::int64_t wall_nanos) override;
  Status OnPuts(std::span<const wal::Put> puts) override;
  Status OnDefinition(const SeriesDefinition& definition) override;
  Status OnDelete(const wal::DeleteOperation& operation) override;
  Status OnDrop(const wal::DropOperation& operation) override;
  Status OnFloor(const wal::FloorOperation& operation) override;
  Status OnSettings(const wal::SettingsOperation& operation) override;

 private:
  void PutAll(std::span<const wal::Put> puts);

  Core& core_;
  Generation* const generation_;
  const WantedSamples samples_;
  const CommitNumber through_;
  const std::function<void(const SeriesDefinition&)> definition_;
  CommitNumber commit_;
};

}  // namespace tsdb::engine
