// Keys of the stored index; the layout is docs/format/index.md.
//
// The first byte of a key is its kind; numbers are big-endian, so that keys sort as numbers; text is escaped so that
// keys sort as the texts and no text is a prefix of another.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tsdb/labels.h"

namespace tsdb::index {

/// Bumped when keys or values change their meaning; another version is discarded.
inline constexpr std::uint32_t kIndexFormatVersion = 1;

enum class KeyKind : char {
  kAll = 'A',         // block of the ids of all series
  kDefinition = 'D',  // definition by id
  kIdentity = 'I',    // ids by identity
  kMeta = 'M',        // the one header
  kName = 'N',        // block of the ids that have a label
  kValue = 'V',       // block of the ids that have a label with a value
};

/// What FindByLabels and FindByKey look up: a label set, or the key of a series created by key.
struct Identity {
  bool by_key = false;
  LabelsHash hash;
  friend auto operator<=>(const Identity&, const Identity&) = default;
};
Identity IdentityOfLabels(const Labels& labels);
Identity IdentityOfKey(std::string_view key);

std::string MetaKey();
std::string AllKey(std::uint64_t block);
std::string DefinitionKey(std::uint64_t id);
std::string IdentityKey(const Identity& identity);

/// What the keys of all names, or of all values of a name, begin with. Behind it: escaped text, terminator, block.
std::string NameZone();
std::string ValueZone(std::string_view name);
/// Appends text as it stands in a zone, without the terminator: also the start of every text it is a prefix of.
void AppendEscaped(std::string_view text, std::string* key);
/// zone + text + terminator: what all blocks of one posting list begin with.
std::string PostingKey(std::string_view zone, std::string_view text);
/// The first possible key behind all blocks of the posting list.
std::string PostingKeyEnd(std::string_view zone, std::string_view text);
void AppendBlockNumber(std::uint64_t block, std::string* key);

/// Splits a key of a zone; `text` is unescaped. False when it is not one.
bool ParsePostingKey(std::string_view key, std::string_view zone, std::string* text, std::uint64_t* block);
/// Number behind a fixed prefix of `prefix_bytes`; false when the key has another length.
bool ParseBlockKey(std::string_view key, std::size_t prefix_bytes, std::uint64_t* block);

/// The first key behind all that begin with `prefix`.
std::string PrefixEnd(std::string prefix);

}  // namespace tsdb::index
