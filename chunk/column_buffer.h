// ColumnBuffer: a growing pair of arrays, times and values, that decoders write into. What is reserved is not filled
// first: filling would cost as much as decoding.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "chunk/columns.h"
#include "tsdb/types.h"

namespace tsdb::chunk {

class ColumnBuffer {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void Clear() { size_ = 0; }
  /// Makes room for `count` more samples. Throws std::bad_alloc.
  void Reserve(std::size_t count) {
    if (count > capacity_ - size_) {
      Grow(size_ + count);
    }
  }
  /// Where the next samples go: room for what was reserved.
  Timestamp* times_end() { return times_.get() + size_; }
  double* values_end() { return values_.get() + size_; }
  /// `count` samples were written there.
  void Extend(std::size_t count) { size_ += count; }
  ColumnsView view() const { return {{times_.get(), size_}, {values_.get(), size_}}; }

 private:
  void Grow(std::size_t needed) {
    const std::size_t capacity = std::max(needed, capacity_ * 2);
    auto times = std::make_unique_for_overwrite<Timestamp[]>(capacity);
    auto values = std::make_unique_for_overwrite<double[]>(capacity);
    std::copy_n(times_.get(), size_, times.get());
    std::copy_n(values_.get(), size_, values.get());
    times_ = std::move(times);
    values_ = std::move(values);
    capacity_ = capacity;
  }

  std::unique_ptr<Timestamp[]> times_;
  std::unique_ptr<double[]> values_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tsdb::chunk
