#include "chunk/columns.h"

#include <algorithm>
#include <queue>

namespace tsdb::chunk {
namespace {

void CopyTail(ColumnsView view, std::size_t from, std::size_t to, Columns* out) {
  const auto first = static_cast<std::ptrdiff_t>(from);
  const auto last = static_cast<std::ptrdiff_t>(to);
  out->times.insert(out->times.end(), view.times.begin() + first, view.times.begin() + last);
  out->values.insert(out->values.end(), view.values.begin() + first, view.values.begin() + last);
}

/// First position at or after `from` whose time is not below `bound`; looks near `from` first, so that a merge of runs
/// costs by the number of runs, not of samples.
std::size_t Gallop(std::span<const Timestamp> times, std::size_t from, Timestamp bound) {
  std::size_t low = from;
  std::size_t step = 1;
  while (low + step < times.size() && times[low + step] < bound) {
    low += step;
    step *= 2;
  }
  const std::size_t high = std::min(times.size(), low + step + 1);
  const auto begin = times.begin();
  return static_cast<std::size_t>(
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), bound) -
      begin);
}

/// `newer` wins on equal times.
void MergeTwo(ColumnsView older, ColumnsView newer, Columns* out) {
  std::size_t i = 0;
  std::size_t j = 0;
  const std::size_t n = older.times.size();
  const std::size_t m = newer.times.size();
  while (i < n && j < m) {
    if (older.times[i] < newer.times[j]) {
      const std::size_t end = Gallop(older.times, i, newer.times[j]);
      CopyTail(older, i, end, out);
      i = end;
    } else {
      const std::size_t end = older.times[i] == newer.times[j] ? j + 1 : Gallop(newer.times, j, older.times[i]);
      i += older.times[i] == newer.times[j] ? 1 : 0;
      CopyTail(newer, j, end, out);
      j = end;
    }
  }
  CopyTail(older, i, n, out);
  CopyTail(newer, j, m, out);
}

/// Many inputs that overlap: a heap of their next times; of equal times the latest input comes out first and the rest
/// are dropped.
void MergeMany(std::span<const ColumnsView> inputs, Columns* out) {
  struct Head {
    Timestamp time;
    std::size_t input;
    std::size_t position;
    bool operator<(const Head& other) const {
      return time != other.time ? time > other.time : input < other.input;
    }
  };
  std::priority_queue<Head> heads;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    heads.push({inputs[k].times[0], k, 0});
  }
  while (!heads.empty()) {
    Head head = heads.top();
    heads.pop();
    const ColumnsView& view = inputs[head.input];
    std::size_t end = head.position;
    if (out->times.empty() || out->times.back() != head.time) {
      end = heads.empty() ? view.times.size() : Gallop(view.times, head.position, heads.top().time);
      end = std::max(end, head.position + 1);
      CopyTail(view, head.position, end, out);
    } else {
      ++end;
    }
    if (end < view.times.size()) {
      heads.push({view.times[end], head.input, end});
    }
  }
}

}  // namespace

void MergeColumns(std::span<const ColumnsView> oldest_first, Columns* out) {
  out->Clear();
  std::vector<ColumnsView> inputs;
  std::size_t total = 0;
  for (const ColumnsView& view : oldest_first) {
    if (!view.times.empty()) {
      inputs.push_back(view);
      total += view.times.size();
    }
  }
  out->times.reserve(total);
  out->values.reserve(total);
  // Inputs are cut into groups whose time spans overlap one another; a group of one is copied whole. The sort is
  // stable, but the order within a group must be the order of the inputs, so groups are sorted back by position.
  std::vector<std::size_t> order(inputs.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    order[k] = k;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return inputs[a].times.front() < inputs[b].times.front();
  });
  std::vector<ColumnsView> group;
  for (std::size_t begin = 0; begin < order.size();) {
    Timestamp last = inputs[order[begin]].times.back();
    std::size_t end = begin + 1;
    while (end < order.size() && inputs[order[end]].times.front() <= last) {
      last = std::max(last, inputs[order[end]].times.back());
      ++end;
    }
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end));
    group.clear();
    for (std::size_t k = begin; k < end; ++k) {
      group.push_back(inputs[order[k]]);
    }
    if (group.size() == 1) {
      CopyTail(group[0], 0, group[0].times.size(), out);
    } else if (group.size() == 2) {
      MergeTwo(group[0], group[1], out);
    } else {
      MergeMany(group, out);
    }
    begin = end;
  }
}

ColumnsView Slice(ColumnsView columns, TimeRange range) {
  if (range.empty()) {
    return {};
  }
  const auto begin = columns.times.begin();
  const auto end = columns.times.end();
  const auto first = std::lower_bound(begin, end, range.from);
  const auto last = std::upper_bound(first, end, range.to);
  const auto offset = static_cast<std::size_t>(first - begin);
  const auto count = static_cast<std::size_t>(last - first);
  return {columns.times.subspan(offset, count), columns.values.subspan(offset, count)};
}

}  // namespace tsdb::chunk
