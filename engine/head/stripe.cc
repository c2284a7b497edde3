#include "engine/head/stripe.h"

#include <new>

namespace tsdb::engine {
namespace {

/// Room for samples kept between batches.
constexpr std::size_t kKeptUnapplied = 1024;

}  // namespace

std::size_t ApplyPuts(Generation* generation, const wal::Put* puts, HeadSeries* const* series, std::size_t count) {
  constexpr std::size_t kAhead = 8;
  std::ptrdiff_t grown = 0;
  std::size_t i = 0;
  try {
    for (; i < count; ++i) {
      if (i + kAhead < count) {
        __builtin_prefetch(series[i + kAhead]->tail(), 1);
      }
      grown += series[i]->Put(puts[i].time, puts[i].value);
    }
  } catch (const std::bad_alloc&) {
    // The caller keeps the rest.
  }
  generation->AddMemory(grown);
  generation->AddSamples(i);
  return i;
}

void Stripe::ReserveFor(std::size_t puts) {
  const std::size_t needed = unapplied.size() + queued + puts;
  if (unapplied.capacity() < needed) {
    unapplied.reserve(needed);
  }
}

void Stripe::Drain() {
  while (front != nullptr) {
    const wal::LogRecord::State state = front->record->state();
    if (state == wal::LogRecord::State::kPending) {
      return;
    }
    PendingSlice* slice = front;
    front = slice->next;
    if (front == nullptr) {
      back = nullptr;
    }
    queued -= slice->count;
    if (state != wal::LogRecord::State::kWritten) {
      continue;
    }
    if (sink != nullptr && sink->wanted()) [[unlikely]] {
      Tell(*slice);
    }
    if (slice->tombstone != nullptr) {
      ApplyDelete(*slice);
      continue;
    }
    std::size_t applied = 0;
    if (unapplied.empty()) [[likely]] {
      applied = ApplyPuts(slice->generation, slice->puts, slice->series, slice->count);
    }
    for (; applied < slice->count; ++applied) {
      const wal::Put& put = slice->puts[applied];
      unapplied.push_back({slice->generation, slice->series[applied], put.time, put.value, nullptr, 0});  // reserved
    }
  }
  if (unapplied.empty() && unapplied.capacity() > kKeptUnapplied) {
    unapplied = {};
  }
}

void Stripe::Tell(const PendingSlice& slice) {
  if (slice.tombstone != nullptr) {
    sink->OnDelete(slice.record->commit(), slice.tombstone->range, slice.tombstone->ids, slice.stripe);
  } else {
    sink->OnPuts(slice.record->commit(), slice.puts, slice.count);
  }
}

void Stripe::ApplyDelete(const PendingSlice& slice) {
  if (unapplied.empty()) {
    try {
      slice.generation->ApplyDelete(slice.stripe, slice.tombstone);
      return;
    } catch (const std::bad_alloc&) {
      // What was done stays; all of it is done again.
    }
  }
  unapplied.push_back({slice.generation, nullptr, 0, 0, slice.tombstone, slice.stripe});  // reserved
}

bool Stripe::Settle() {
  std::size_t done = 0;
  try {
    for (; done < unapplied.size(); ++done) {
      const Unapplied& put = unapplied[done];
      if (put.tombstone != nullptr) {
        put.generation->ApplyDelete(put.stripe, put.tombstone);
        continue;
      }
      put.generation->AddMemory(put.series->Put(put.time, put.value));
      put.generation->AddSamples(1);
    }
  } catch (const std::bad_alloc&) {
    // The next caller tries again.
  }
  unapplied.erase(unapplied.begin(), unapplied.begin() + static_cast<std::ptrdiff_t>(done));
  return unapplied.empty();
}

}  // namespace tsdb::engine
