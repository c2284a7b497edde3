#include "base/series_definition.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tsdb {

namespace {

// docs/format/definition.md
constexpr std::uint8_t kFlagCreatedByKey = 1;
constexpr std::uint8_t kFlagDropped = 2;
constexpr std::uint8_t kFlagsKnown = kFlagCreatedByKey | kFlagDropped;
constexpr std::uint64_t kTagDuplicates = 1;
constexpr std::uint64_t kTagRetention = 3;

constexpr bool IsRequiredTag(std::uint64_t tag) { return (tag & 1) != 0; }

bool DecodeDuplicates(std::string_view bytes, SeriesSettings* settings) {
  if (bytes.size() != 1 || static_cast<unsigned char>(bytes[0]) > static_cast<unsigned char>(DuplicatePolicy::kSum)) {
    return false;
  }
  settings->duplicates = static_cast<DuplicatePolicy>(bytes[0]);
  settings->has_duplicates = true;
  return true;
}

bool DecodeRetention(std::string_view bytes, SeriesSettings* settings) {
  ByteReader reader(bytes);
  return reader.ReadVarintSigned(&settings->retention) && reader.empty();
}

bool DecodeFields(ByteReader* reader, SeriesSettings* settings) {
  std::uint64_t count = 0;
  if (!reader->ReadVarint(&count)) {
    return false;
  }
  std::uint64_t last_tag = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t tag = 0;
    std::string_view bytes;
    if (!reader->ReadVarint(&tag) || !reader->ReadLengthPrefixed(&bytes) || tag <= last_tag) {
      return false;
    }
    last_tag = tag;
    if (tag == kTagDuplicates) {
      if (!DecodeDuplicates(bytes, settings)) {
        return false;
      }
    } else if (tag == kTagRetention) {
      if (!DecodeRetention(bytes, settings)) {
        return false;
      }
    } else if (IsRequiredTag(tag)) {
      return false;
    }
  }
  return true;
}

bool DecodeLabels(ByteReader* reader, Labels* labels) {
  std::uint64_t count = 0;
  // A pair takes at least 4 bytes (two lengths, a byte of name and of value), so the count cannot make us allocate.
  if (!reader->ReadVarint(&count) || count > reader->remaining() / 4) {
    return false;
  }
  std::vector<Label> pairs;
  pairs.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view name;
    std::string_view value;
    if (!reader->ReadLengthPrefixed(&name) || !reader->ReadLengthPrefixed(&value) || name.empty() || value.empty() ||
        (i > 0 && name <= pairs.back().name)) {
      return false;
    }
    pairs.push_back({std::string(name), std::string(value)});
  }
  auto set = Labels::FromPairs(std::move(pairs));
  if (!set.ok()) {
    return false;
  }
  *labels = *std::move(set);
  return true;
}

bool DecodeBody(ByteReader* reader, SeriesDefinition* definition) {
  std::uint64_t id = 0;
  std::uint8_t flags = 0;
  if (!reader->ReadVarint(&id) || id == 0 || !reader->ReadFixed(&flags) || (flags & ~kFlagsKnown) != 0) {
    return false;
  }
  definition->id = SeriesId{id};
  definition->dropped = (flags & kFlagDropped) != 0;
  definition->created_by_key = (flags & kFlagCreatedByKey) != 0;
  if (!definition->dropped) {
    if (definition->created_by_key) {
      std::string_view key;
      if (!reader->ReadLengthPrefixed(&key) || key.empty() || key.size() > kKeyBytesMax) {
        return false;
      }
      definition->key.assign(key);
    }
    if (!DecodeLabels(reader, &definition->labels)) {
      return false;
    }
  }
  return DecodeFields(reader, &definition->settings);
}

}  // namespace

void EncodeDefinition(const SeriesDefinition& definition, std::string* out) {
  PutVarint(out, definition.id.value);
  const std::uint8_t flags =
      definition.dropped ? kFlagDropped : (definition.created_by_key ? kFlagCreatedByKey : std::uint8_t{0});
  out->push_back(static_cast<char>(flags));
  if (definition.dropped) {
    PutVarint(out, 0);
    return;
  }
  if (definition.created_by_key) {
    PutLengthPrefixed(out, definition.key);
  }
  PutVarint(out, definition.labels.size());
  for (const Label& label : definition.labels.pairs()) {
    PutLengthPrefixed(out, label.name);
    PutLengthPrefixed(out, label.value);
  }
  const SeriesSettings& settings = definition.settings;
  PutVarint(out, (settings.has_duplicates ? 1u : 0u) + (settings.retention != 0 ? 1u : 0u));
  if (settings.has_duplicates) {
    PutVarint(out, kTagDuplicates);
    PutVarint(out, 1);
    out->push_back(static_cast<char>(settings.duplicates));
  }
  if (settings.retention != 0) {
    std::string bytes;
    PutVarintSigned(&bytes, settings.retention);
    PutVarint(out, kTagRetention);
    PutLengthPrefixed(out, bytes);
  }
}

bool DecodeDefinition(ByteReader* reader, SeriesDefinition* definition) {
  SeriesDefinition decoded;
  decoded.commit = definition->commit;
  if (!DecodeBody(reader, &decoded)) {
    return reader->Fail();
  }
  *definition = std::move(decoded);
  return true;
}

}  // namespace tsdb
