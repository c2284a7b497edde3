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
    if (state == wal::LogRecord::State::kFailed) {
      if (pending->drop != nullptr) {
        pending->dropped->End(pending->drop->ids, nullptr);
      } else {
        for (const RegistryEntryPtr& entry : *pending->entries) {
          pending->change ? registry.ForgetName(entry) : registry.Remove(entry);
        }
      }
    } else if (pending->drop != nullptr) {
      ApplyDrop(*pending, registry, index);
    } else {
      Apply(*pending, registry, index);
    }
    size_.fetch_sub(1, std::memory_order_release);
    any = true;
  }
  if (any) {
    decided_.NotifyAll();
  }
}

void DefinitionQueue::Apply(const PendingDefinitions& pending, Registry& registry, index::SeriesIndex& index) {
  for (std::size_t i = 0; i < pending.definitions->size(); ++i) {
    const SeriesDefinition& definition = (*pending.definitions)[i];
    try {
      index.Apply(definition);
      pending.generation->AddDefinition(definition);
      if (pending.retention != nullptr) {
        pending.retention->NoteSettings(definition.id, definition.settings);
      }
      if (pending.change) {
        registry.Replace(definition);
        pending.dropped->Remove(definition.id);
      }
    } catch (const std::bad_alloc&) {
      incomplete_.store(true, std::memory_order_release);
    }
  }
  for (const RegistryEntryPtr& entry : *pending.entries) {
    entry->state.store(RegistryEntry::State::kLive, std::memory_order_release);
  }
}

void DefinitionQueue::ApplyDrop(const PendingDefinitions& pending, Registry& registry, index::SeriesIndex& index) {
  const chunk::Drop& drop = *pending.drop;
  try {
    drop.ids.ForEach([&](std::uint64_t id) {
      SeriesDefinition end;
      end.id = SeriesId{id};
      end.commit = drop.commit;
      end.dropped = true;
      index.Apply(end);
      if (const RegistryEntryPtr entry = registry.FindById(end.id)) {
        registry.Remove(entry);
      }
    });
    pending.generation->drops.push_back(drop);
    pending.retention->ForgetOwn(drop.ids);
    pending.dropped->End(drop.ids, &drop);
  } catch (const std::bad_alloc&) {
    incomplete_.store(true, std::memory_order_release);
  }
}

std::vector<SeriesDefinition> DefinitionQueue::DefinitionsOf(const Generation& generation) {
  MutexLock lock(mutex_);
  return generation.definitions;
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
