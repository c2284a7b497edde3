#include "index/empty_store.h"

namespace tsdb::index {

namespace {

Status ReadOnly() { return Status::ReadOnly("the index is held in memory: nothing is persisted"); }

class EmptyCursor final : public RocksSnapshot::Cursor {
 public:
  void Seek(const std::string&) override {}
  void Next() override {}
  bool Valid() const override { return false; }
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  Status status() const override { return Status::Ok(); }
};

class EmptySnapshot final : public RocksSnapshot {
 public:
  Result<std::optional<std::string>> Get(const std::string&) const override { return std::optional<std::string>(); }
  Result<std::vector<std::optional<std::string>>> MultiGet(std::span<const std::string> keys) const override {
    return std::vector<std::optional<std::string>>(keys.size());
  }
  std::unique_ptr<Cursor> Walk(std::string, std::string) const override { return std::make_unique<EmptyCursor>(); }
};

class EmptyTableSet final : public RocksStore::TableSet {
 public:
  Status Put(std::string_view, std::string_view) override { return ReadOnly(); }
  Status Delete(std::string_view) override { return ReadOnly(); }
};

class EmptyStore final : public RocksStore {
 public:
  std::unique_ptr<RocksSnapshot> TakeSnapshot() const override { return std::make_unique<EmptySnapshot>(); }
  std::unique_ptr<TableSet> NewTableSet() override { return std::make_unique<EmptyTableSet>(); }
  Status Ingest(TableSet&) override { return ReadOnly(); }
  Status CompactIfWorthwhile() override { return Status::Ok(); }
  std::uint64_t cache_bytes() const override { return 0; }
  Status Close() override { return Status::Ok(); }
};

}  // namespace

std::unique_ptr<RocksStore> NewEmptyStore() { return std::make_unique<EmptyStore>(); }

}  // namespace tsdb::index
