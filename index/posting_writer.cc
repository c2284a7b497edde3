#include "index/posting_writer.h"

#include <algorithm>
#include <iterator>

#include "index/id_block.h"
#include "index/index_keys.h"

namespace tsdb::index {

namespace {

constexpr std::size_t kPendingBlocksMax = 1024;

void SortUnique(std::vector<std::uint64_t>* ids) {
  if (!std::is_sorted(ids->begin(), ids->end())) {
    std::sort(ids->begin(), ids->end());
  }
  ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
}

// Moves the ids of `block` from position *next on to `lows`.
void TakeBlock(const std::vector<std::uint64_t>& ids, std::uint64_t block, std::size_t* next,
               std::vector<std::uint16_t>* lows) {
  for (; *next < ids.size() && ids[*next] / kBlockIds == block; ++*next) {
    lows->push_back(static_cast<std::uint16_t>(ids[*next] % kBlockIds));
  }
}

}  // namespace

bool PostingWriter::HasStoredIds(std::uint64_t block) {
  const auto [it, is_new] = has_stored_ids_.try_emplace(block, false);
  if (is_new) {
    it->second = stored_.ids().CountInBlock(block) != 0;
  }
  return it->second;
}

Status PostingWriter::Change(std::string_view posting_key, std::vector<std::uint64_t>* added,
                             std::vector<std::uint64_t>* removed) {
  SortUnique(added);
  SortUnique(removed);
  std::size_t next_added = 0;
  std::size_t next_removed = 0;
  while (next_added < added->size() || next_removed < removed->size()) {
    std::uint64_t block = ~std::uint64_t{0};
    if (next_added < added->size()) {
      block = (*added)[next_added] / kBlockIds;
    }
    if (next_removed < removed->size()) {
      block = std::min(block, (*removed)[next_removed] / kBlockIds);
    }
    Block change;
    change.key = posting_key;
    AppendBlockNumber(block, &change.key);
    TakeBlock(*added, block, &next_added, &change.added);
    TakeBlock(*removed, block, &next_removed, &change.removed);
    change.is_stored = HasStoredIds(block);
    pending_.push_back(std::move(change));
    if (pending_.size() >= kPendingBlocksMax) {
      TSDB_RETURN_IF_ERROR(Flush());
    }
  }
  return Status::Ok();
}

Status PostingWriter::Flush() {
  std::vector<std::string> keys;
  for (const Block& block : pending_) {
    if (block.is_stored) {
      keys.push_back(block.key);
    }
  }
  TSDB_ASSIGN_OR_RETURN(const std::vector<std::optional<std::string>> stored, stored_.snapshot().MultiGet(keys));
  std::size_t next = 0;
  for (const Block& block : pending_) {
    const std::optional<std::string>* old = block.is_stored ? &stored[next++] : nullptr;
    TSDB_RETURN_IF_ERROR(
        Write(block, old != nullptr && old->has_value() ? std::string_view(**old) : std::string_view()));
  }
  pending_.clear();
  return Status::Ok();
}

Status PostingWriter::Write(const Block& block, std::string_view old) {
  std::vector<std::uint16_t> members;
  if (!old.empty()) {
    std::vector<std::uint16_t> before;
    if (!DecodeIdBlock(old, &before)) {
      return Status::Corruption("index: a posting block cannot be decoded");
    }
    std::set_difference(before.begin(), before.end(), block.removed.begin(), block.removed.end(),
                        std::back_inserter(members));
    std::vector<std::uint16_t> merged;
    std::set_union(members.begin(), members.end(), block.added.begin(), block.added.end(),
                   std::back_inserter(merged));
    if (merged == before) {
      return Status::Ok();
    }
    members = std::move(merged);
  } else {
    members = block.added;
  }
  if (members.empty()) {
    return old.empty() ? Status::Ok() : tables_->Delete(block.key);
  }
  std::string bytes;
  EncodeIdBlock(members, &bytes);
  return tables_->Put(block.key, bytes);
}

}  // namespace tsdb::index
