#include "engine/head/stripe.h"

namespace tsdb::engine {

void ApplyPuts(Generation* generation, const wal::Put* puts, HeadSeries* const* series, std::size_t count) {
  constexpr std::size_t kAhead = 8;
  std::ptrdiff_t grown = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      __builtin_prefetch(series[i + kAhead]->tail(), 1);
    }
    grown += series[i]->Put(puts[i].time, puts[i].value);
  }
  generation->AddMemory(grown);
  generation->AddSamples(count);
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
    if (state == wal::LogRecord::State::kWritten) {
      ApplyPuts(slice->generation, slice->puts, slice->series, slice->count);
    }
  }
}

}  // namespace tsdb::engine
