// Bytes of what a manifest keeps of deletes, drops and retention. Byte layout: docs/format/manifest.md.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chunk/manifest.h"

namespace tsdb::chunk {

std::string EncodeTombstone(const Tombstone& tombstone);
std::string EncodeDrops(const std::vector<Drop>& drops);
std::string EncodeRetention(const RetentionPositions& retention);

/// Each reads untrusted bytes; false when they are not such. The tombstone is added to the others.
bool DecodeTombstone(std::string_view value, std::vector<TombstonePtr>* tombstones);
bool DecodeDrops(std::string_view value, std::vector<Drop>* drops);
bool DecodeRetention(std::string_view value, RetentionPositions* retention);

}  // namespace tsdb::chunk
