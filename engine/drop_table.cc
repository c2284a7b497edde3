#include "engine/drop_table.h"

#include <algorithm>
#include <utility>

namespace tsdb::engine {

void DropTable::Refresh() {
  IdSet ids;
  for (const chunk::Drop& drop : drops_) {
    ids |= drop.ids;
  }
  ids_ = std::move(ids);
  any_.store(!ids_.empty() || !ordered_.empty(), std::memory_order_release);
}

void DropTable::Set(std::vector<chunk::Drop> drops) {
  MutexLock lock(mutex_);
  drops_ = std::move(drops);
  Refresh();
}

std::vector<chunk::Drop> DropTable::all() const {
  MutexLock lock(mutex_);
  return drops_;
}

std::uint64_t DropTable::Count() const {
  MutexLock lock(mutex_);
  std::uint64_t count = 0;
  for (const chunk::Drop& drop : drops_) {
    count += drop.dead_from_file == 0 ? drop.ids.Count() : 0;
  }
  return count;
}

bool DropTable::ContainsSlow(SeriesId id) const {
  MutexLock lock(mutex_);
  return ids_.Contains(id.value) || ordered_.Contains(id.value);
}

void DropTable::Begin(const IdSet& ids) {
  MutexLock lock(mutex_);
  ordered_ |= ids;
  any_.store(true, std::memory_order_release);
}

void DropTable::End(const IdSet& ids, const chunk::Drop* drop) {
  MutexLock lock(mutex_);
  ordered_ -= ids;
  // In replay a flush may have brought it into the manifest already.
  if (drop != nullptr && std::ranges::none_of(drops_, [&](const auto& d) { return d.commit == drop->commit; })) {
    drops_.push_back(*drop);
  }
  Refresh();
  settled_.NotifyAll();
}

void DropTable::WaitSettled(SeriesId id) const {
  MutexLock lock(mutex_);
  while (ordered_.Contains(id.value)) {
    settled_.Wait(mutex_);
  }
}

std::optional<chunk::Drop> DropTable::Find(SeriesId id, std::int64_t wall_nanos) const {
  MutexLock lock(mutex_);
  for (const chunk::Drop& drop : drops_) {
    if (drop.ids.Contains(id.value) && drop.dead_from_file == 0 && drop.until_wall_nanos >= wall_nanos) {
      return drop;
    }
  }
  return std::nullopt;
}

void DropTable::Remove(SeriesId id) {
  MutexLock lock(mutex_);
  for (chunk::Drop& drop : drops_) {
    drop.ids.Remove(id.value);
  }
  std::erase_if(drops_, [](const chunk::Drop& drop) { return drop.ids.empty(); });
  Refresh();
}

bool DropTable::Bury(std::int64_t wall_nanos, std::uint64_t next_file_number) {
  MutexLock lock(mutex_);
  bool any = false;
  for (chunk::Drop& drop : drops_) {
    if (drop.dead_from_file == 0 && drop.until_wall_nanos < wall_nanos) {
      drop.dead_from_file = next_file_number;
      any = true;
    }
  }
  return any;
}

IdSet DropTable::Dead() const {
  MutexLock lock(mutex_);
  IdSet dead;
  for (const chunk::Drop& drop : drops_) {
    if (drop.dead_from_file != 0) {
      dead |= drop.ids;
    }
  }
  return dead;
}

IdSet DropTable::Waiting() const {
  MutexLock lock(mutex_);
  IdSet waiting;
  for (const chunk::Drop& drop : drops_) {
    if (drop.dead_from_file == 0) {
      waiting |= drop.ids;
    }
  }
  return waiting;
}

void DropTable::Forget(std::uint64_t lowest_file) {
  MutexLock lock(mutex_);
  std::erase_if(drops_, [lowest_file](const chunk::Drop& drop) {
    return drop.dead_from_file != 0 && drop.dead_from_file <= lowest_file;
  });
  Refresh();
}

}  // namespace tsdb::engine
