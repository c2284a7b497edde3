#include "engine/query/query_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace tsdb::engine {

bool SampleFilter::MayPass(Timestamp first, Timestamp last) const {
  if (times.empty()) {
    return true;
  }
  const auto it = std::lower_bound(times.begin(), times.end(), first);
  return it != times.end() && *it <= last;
}

bool SampleFilter::Passes(Timestamp time, double value) const {
  return (!values || values->Contains(value)) &&
         (times.empty() || std::binary_search(times.begin(), times.end(), time));
}

Status QueryPlan::Spend(std::uint64_t samples) {
  if (spec.limits.samples_max != 0 &&
      samples_.fetch_add(samples, std::memory_order_relaxed) + samples > spec.limits.samples_max) {
    return Status::ResourceExhausted(
        fmt::format("the query reads more than {} samples, its limit: narrow the selector or the range, or raise "
                    "samples_max",
                    spec.limits.samples_max));
  }
  if (spec.stop.stop_requested()) {
    return Status::Cancelled("the query was stopped by its caller");
  }
  if (deadline != Clock::time_point::max() && Clock::now() > deadline) {
    return Status::Cancelled(fmt::format(
        "the query ran longer than {} ms, its limit: narrow the selector or the range, or raise time_ms_max",
        spec.limits.time_ms_max));
  }
  return Status::Ok();
}

Status QueryPlan::CheckHeld(std::uint64_t rows, const char* what) const {
  if (rows <= spec.limits.buckets_max) {
    return Status::Ok();
  }
  return Status::ResourceExhausted(fmt::format("the query makes more than {} {}, its limit: take a shorter range or "
                                               "wider buckets, or raise buckets_max",
                                               spec.limits.buckets_max, what));
}

void AddStatistics(const QueryStatistics& part, QueryStatistics* sum) {
  sum->series += part.series;
  sum->files += part.files;
  sum->chunks += part.chunks;
  sum->chunks_answered += part.chunks_answered;
  sum->chunks_passed_over += part.chunks_passed_over;
  sum->pages_answered += part.pages_answered;
  sum->pages_passed_over += part.pages_passed_over;
  sum->samples_answered += part.samples_answered;
  sum->samples_decoded += part.samples_decoded;
  sum->samples_in_memory += part.samples_in_memory;
  sum->find_seconds += part.find_seconds;
  sum->aggregate_seconds += part.aggregate_seconds;
}

}  // namespace tsdb::engine
