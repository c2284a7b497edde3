#include "engine/definition_queue.h"

#include <new>

namespace tsdb::engine {

void DefinitionQueue::Push(PendingDefinitions* pending) {
  MutexLock lock(mutex_);
  pending->next = nullptr;
  (back_ == nullptr ? front_ : back_->next) = pending;
  back_ = pending;
  size_.fetch_add(1, std::memory_order_release);
}

void DefinitionQueue::Drain(Registry& registry, index::SeriesIndex& index) {
  if (size_.load(std::memory_order_acquire) == 0) {
    return;
  }
  MutexLock lock(mutex_);
  bool any = false;
  while (front_ != nullptr) {
    const wal::LogRecord::State state = front_->record->state();
    if (state == wal::LogRecord::State::kPending) {
      break;
    }
    PendingDefinitions* pending = front_;
    front_ = pending->next;
    if (front_ == nullptr) {
      back_ = nullptr;
    }
    for (std::size_t i = 0; i < pending->definitions->size(); ++i) {
      const RegistryEntryPtr& entry = (*pending->entries)[i];
      if (state == wal::LogRecord::State::kFailed) {
        registry.Remove(entry);
        continue;
      }
      const SeriesDefinition& definition = (*pending->definitions)[i];
      try {
        index.Apply(definition);
        pending->generation->AddDefinition(definition);
      } catch (const std::bad_alloc&) {
        incomplete_.store(true, std::memory_order_release);
      }
      entry->state.store(RegistryEntry::State::kLive, std::memory_order_release);
    }
    size_.fetch_sub(1, std::memory_order_release);
    any = true;
  }
  if (any) {
    decided_.NotifyAll();
  }
}

void DefinitionQueue::TakeBack(Registry& registry, std::vector<RegistryEntryPtr>* entries) {
  MutexLock lock(mutex_);
  for (const RegistryEntryPtr& entry : *entries) {
    registry.Remove(entry);
  }
  entries->clear();
  decided_.NotifyAll();
}

void DefinitionQueue::WaitDecided(const RegistryEntry& entry) {
  MutexLock lock(mutex_);
  while (entry.state.load(std::memory_order_acquire) == RegistryEntry::State::kOrdered) {
    decided_.Wait(mutex_);
  }
}

}  // namespace tsdb::engine
