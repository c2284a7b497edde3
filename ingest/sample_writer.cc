#include "ingest/sample_writer.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "ingest/text_util.h"
#include "ingest/time_scale.h"

namespace tsdb::ingest {
namespace {

Timestamp ClockNow(TimeUnit unit) {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  Timestamp out = 0;
  TimeScale(TimeUnit::kNanoseconds, unit).Convert(now.count(), &out);
  return out;
}

}  // namespace

SampleWriter::SampleWriter(const ImportOptions& options, BatchSink sink, LabelBuilder build_labels)
    : options_(options), sink_(std::move(sink)), build_labels_(std::move(build_labels)) {
  options_.batch_samples = std::max<std::size_t>(1, options_.batch_samples);
  if (!options_.now) {
    options_.now = [unit = options_.database_unit] { return ClockNow(unit); };
  }
}

std::string SampleWriter::At(std::uint64_t line, std::string_view message) const {
  return fmt::format("{}:{}: {}", options_.source, line, message);
}

void SampleWriter::Refuse(std::uint64_t line, StatusCode code, std::string_view message) {
  ++summary_.rejected;
  if (summary_.errors.size() < kErrorsShownMax) {
    summary_.errors.push_back(At(line, message));
  }
  if (options_.stop_on_error && status_.ok()) {
    status_ = Status(code, At(line, message));
  }
}

void SampleWriter::RejectLine(std::uint64_t line, std::string_view reason, std::string_view text) {
  if (options_.stop_on_error) {
    // What stands before the bad line is stored, and what was refused there is what the caller hears of.
    Send();
    if (!status_.ok()) {
      return;
    }
  }
  ++summary_.read;
  if (!options_.stop_on_error && summary_.errors.size() >= kErrorsShownMax) {
    ++summary_.rejected;
    return;
  }
  const std::string message = text.empty() ? std::string(reason) : fmt::format("{}: {}", reason, QuoteForMessage(text));
  Refuse(line, StatusCode::kInvalidArgument, message);
}

bool SampleWriter::Resolve(std::uint64_t line, std::span<const SlotValue> row) {
  fresh_.clear();
  for (const SlotValue& sample : row) {
    const SeriesCache::Slot& slot = cache_.slot(sample.slot);
    if (IsResolved(slot)) {
      continue;
    }
    Result<Labels> labels = build_labels_(cache_.prefix_text(slot.prefix), slot.field_text());
    if (!labels.ok()) {
      RejectLine(line, labels.status().message());
      return false;
    }
    fresh_.emplace_back(sample.slot, std::move(labels).value());
  }
  for (auto& [number, labels] : fresh_) {
    SeriesCache::Slot& slot = cache_.slot(number);
    if (IsResolved(slot)) {
      continue;  // the same field twice on the line
    }
    slot.local = batch_.AddLabels(std::move(labels)).index;
    slot.batch = batch_number_;
    local_slots_.push_back(number);
  }
  return true;
}

bool SampleWriter::AddRow(std::uint64_t line, Timestamp time, std::span<const SlotValue> row) {
  bool resolved = true;
  for (const SlotValue& sample : row) {
    resolved = resolved && IsResolved(cache_.slot(sample.slot));
  }
  if (!resolved && !Resolve(line, row)) {
    return false;
  }
  StartLine(line);
  for (const SlotValue& sample : row) {
    Push(cache_.slot(sample.slot), time, sample.value);
  }
  summary_.read += row.size();
  return true;
}

bool SampleWriter::AddSeries(std::uint64_t line, std::uint32_t slot, std::span<const Timestamp> times,
                             std::span<const double> values) {
  for (std::size_t i = 0; i < times.size() && ok(); ++i) {
    const SlotValue sample{slot, values[i]};
    if (!AddRow(line, times[i], {&sample, 1})) {
      return false;
    }
    if (batch_.size() >= options_.batch_samples) {
      Send();
    }
  }
  return true;
}

std::uint64_t SampleWriter::LineOf(std::size_t index) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), index,
                                      [](std::size_t i, const LineStart& start) { return i < start.index; });
  return after == lines_.begin() ? 0 : std::prev(after)->line;
}

void SampleWriter::Append(const WriteBatch& batch, std::span<const std::uint32_t> local_slots,
                          std::vector<std::size_t>* dropped,
                          const std::function<std::uint64_t(std::size_t)>& line_of) {
  Result<AppendResult> appended = sink_(batch);
  if (!appended.ok()) {
    status_ = appended.status().WithContext(fmt::format("{}:{}", options_.source, line_of(0)));
    return;
  }
  const AppendResult& result = *appended;
  summary_.stored += result.stored - std::min(result.replaced, result.stored);
  summary_.replaced += result.replaced;
  summary_.ignored += result.ignored;
  summary_.new_series += result.new_series;
  for (std::size_t i = 0; i < local_slots.size() && i < result.refs.size(); ++i) {
    cache_.slot(local_slots[i]).ref = result.refs[i].id.value;
  }
  for (const RejectedSample& refused : result.rejected) {
    const bool by_ref = refused.index < batch.size() &&
                        (batch.entries()[refused.index].series & WriteBatch::Entry::kLocal) == 0;
    if (dropped != nullptr && by_ref && refused.status.code() == StatusCode::kDropped) {
      dropped->push_back(refused.index);
    } else {
      Refuse(line_of(refused.index), refused.status.code(), refused.status.message());
    }
  }
}

void SampleWriter::RetryDropped(const std::vector<std::size_t>& dropped) {
  // Slots know their ref but not the other way round: dropping a series during an import is rare, so look through all.
  std::unordered_map<std::uint64_t, std::uint32_t> slot_of;
  for (const std::size_t index : dropped) {
    slot_of.emplace(batch_.entries()[index].series, SeriesCache::kNone);
  }
  for (std::uint32_t i = 0; i < cache_.slot_count(); ++i) {
    if (const auto found = slot_of.find(cache_.slot(i).ref); found != slot_of.end()) {
      found->second = i;
      cache_.slot(i).ref = 0;
    }
  }
  WriteBatch again;
  std::vector<std::uint32_t> local_slots;
  std::unordered_map<std::uint64_t, WriteBatch::LocalSeries> local_of;
  std::vector<std::size_t> position;  // in batch_, of each entry of `again`
  for (const std::size_t index : dropped) {
    const WriteBatch::Entry& entry = batch_.entries()[index];
    const std::uint32_t number = slot_of[entry.series];
    auto local = local_of.find(entry.series);
    if (local == local_of.end()) {
      const SeriesCache::Slot& slot = cache_.slot(number);
      Result<Labels> labels = build_labels_(cache_.prefix_text(slot.prefix), slot.field_text());
      if (!labels.ok()) {
        Refuse(LineOf(index), labels.status().code(), labels.status().message());
        continue;
      }
      local = local_of.emplace(entry.series, again.AddLabels(std::move(labels).value())).first;
      local_slots.push_back(number);
    }
    again.Add(local->second, entry.time, entry.value);
    position.push_back(index);
  }
  if (!again.empty()) {
    Append(again, local_slots, nullptr, [&](std::size_t i) { return LineOf(i < position.size() ? position[i] : 0); });
  }
}

void SampleWriter::Send() {
  if (batch_.empty() || !status_.ok()) {
    return;
  }
  std::vector<std::size_t> dropped;
  Append(batch_, local_slots_, &dropped, [this](std::size_t i) { return LineOf(i); });
  if (!dropped.empty() && status_.ok()) {
    RetryDropped(dropped);
  }
  batch_.Clear();
  ++batch_number_;
  local_slots_.clear();
  lines_.clear();
}

void SampleWriter::SendIfFull() {
  if (batch_.size() < options_.batch_samples) {
    return;
  }
  Send();
  if (cache_.bytes() > kCacheBytesMax) {
    cache_.Clear();
  }
}

}  // namespace tsdb::ingest
