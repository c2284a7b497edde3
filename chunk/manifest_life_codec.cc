#include "chunk/manifest_life_codec.h"

#include <memory>
#include <utility>

#include "base/coding.h"

namespace tsdb::chunk {

std::string EncodeTombstone(const Tombstone& tombstone) {
  std::string out;
  PutVarint(&out, tombstone.commit.value);
  PutVarintSigned(&out, tombstone.range.from);
  PutVarintSigned(&out, tombstone.range.to);
  EncodeIds(tombstone.ids, &out);
  return out;
}

std::string EncodeDrops(const std::vector<Drop>& drops) {
  std::string out;
  for (const Drop& drop : drops) {
    PutVarint(&out, drop.commit.value);
    PutVarintSigned(&out, drop.until_wall_nanos);
    PutVarint(&out, drop.dead_from_file);
    EncodeIds(drop.ids, &out);
  }
  return out;
}

std::string EncodeRetention(const RetentionPositions& retention) {
  std::string out;
  PutVarintSigned(&out, retention.floor);
  PutVarintSigned(&out, retention.bytes_floor);
  PutVarintSigned(&out, retention.newest);
  PutVarintSigned(&out, retention.trusted_now);
  EncodeIds(retention.own_settings, &out);
  PutVarint(&out, retention.classes.size());
  for (const RetentionClass& one : retention.classes) {
    PutLengthPrefixed(&out, one.selector);
    PutVarintSigned(&out, one.age);
  }
  return out;
}

bool DecodeTombstone(std::string_view value, std::vector<TombstonePtr>* tombstones) {
  ByteReader reader(value);
  auto tombstone = std::make_shared<Tombstone>();
  reader.ReadVarint(&tombstone->commit.value);
  reader.ReadVarintSigned(&tombstone->range.from);
  reader.ReadVarintSigned(&tombstone->range.to);
  if (!DecodeIds(&reader, &tombstone->ids)) {
    return false;
  }
  tombstones->push_back(std::move(tombstone));
  return reader.empty();
}

bool DecodeDrops(std::string_view value, std::vector<Drop>* drops) {
  ByteReader reader(value);
  while (!reader.empty()) {
    Drop& drop = drops->emplace_back();
    reader.ReadVarint(&drop.commit.value);
    reader.ReadVarintSigned(&drop.until_wall_nanos);
    reader.ReadVarint(&drop.dead_from_file);
    if (!DecodeIds(&reader, &drop.ids)) {
      return false;
    }
  }
  return reader.ok();
}

bool DecodeRetention(std::string_view value, RetentionPositions* retention) {
  ByteReader reader(value);
  std::uint64_t classes = 0;
  reader.ReadVarintSigned(&retention->floor);
  reader.ReadVarintSigned(&retention->bytes_floor);
  reader.ReadVarintSigned(&retention->newest);
  reader.ReadVarintSigned(&retention->trusted_now);
  // A class takes at least 2 bytes.
  if (!DecodeIds(&reader, &retention->own_settings) || !reader.ReadVarint(&classes) ||
      classes > reader.remaining() / 2) {
    return false;
  }
  for (; classes > 0; --classes) {
    std::string_view selector;
    RetentionClass& one = retention->classes.emplace_back();
    if (!reader.ReadLengthPrefixed(&selector) || !reader.ReadVarintSigned(&one.age)) {
      return false;
    }
    one.selector.assign(selector);
  }
  return reader.empty();
}

}  // namespace tsdb::chunk
