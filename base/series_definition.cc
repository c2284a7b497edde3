#include "base/series_definition.h"

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace tsdb {

namespace {

// docs/format/definition.md
constexpr std::uint8_t kFlagCreatedByKey = 1;
constexpr std::uint8_t kFlagDropped = 2;
constexpr std::uint8_t kFlagWhole = 4;
constexpr std::uint8_t kFlagsKnown = kFlagCreatedByKey | kFlagDropped | kFlagWhole;
constexpr std::uint64_t kTagDuplicates = 1;
constexpr std::uint64_t kTagRetention = 3;
constexpr std::uint64_t kTagIgnoreTime = 5;
constexpr std::uint64_t kTagIgnoreValue = 7;
constexpr std::uint64_t kTagExpiry = 9;

constexpr bool IsRequiredTag(std::uint64_t tag) { return (tag & 1) != 0; }

bool DecodeDuplicates(std::string_view bytes, SeriesSettings* settings) {
  if (bytes.size() != 1 || static_cast<unsigned char>(bytes[0]) > static_cast<unsigned char>(DuplicatePolicy::kSum)) {
    return false;
  }
  settings->duplicates = static_cast<DuplicatePolicy>(bytes[0]);
  settings->has_duplicates = true;
  return true;
}

bool DecodeDuration(std::string_view bytes, std::int64_t* duration) {
  ByteReader reader(bytes);
  return reader.ReadVarintSigned(duration) && reader.empty();
}

bool DecodeDouble(std::string_view bytes, double* value) {
  ByteReader reader(bytes);
  std::uint64_t bits = 0;
  if (!reader.ReadFixed(&bits) || !reader.empty()) {
    return false;
  }
  *value = std::bit_cast<double>(bits);
  return true;
}

/// False when a value is damaged, or a reader must know a tag and does not.
bool DecodeField(std::uint64_t tag, std::string_view bytes, SeriesSettings* settings) {
  switch (tag) {
    case kTagDuplicates:
      return DecodeDuplicates(bytes, settings);
    case kTagRetention:
      return DecodeDuration(bytes, &settings->retention);
    case kTagIgnoreTime:
      return DecodeDuration(bytes, &settings->ignore_max_time_diff);
    case kTagIgnoreValue:
      return DecodeDouble(bytes, &settings->ignore_max_value_diff);
    case kTagExpiry:
      return DecodeDuration(bytes, &settings->expiry);
    default:
      return !IsRequiredTag(tag);
  }
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
    if (!DecodeField(tag, bytes, settings)) {
      return false;
    }
  }
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
  if ((flags & kFlagWhole) != 0 && !definition->dropped) {
    return false;
  }
  if (!definition->dropped || (flags & kFlagWhole) != 0) {
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

void EncodeSettings(const SeriesSettings& settings, std::string* out) {
  std::uint64_t count = 0;
  std::string fields;
  const auto add = [&](std::uint64_t tag, std::string_view bytes) {
    ++count;
    PutVarint(&fields, tag);
    PutLengthPrefixed(&fields, bytes);
  };
  const auto add_duration = [&](std::uint64_t tag, std::int64_t duration) {
    if (duration != 0) {
      std::string bytes;
      PutVarintSigned(&bytes, duration);
      add(tag, bytes);
    }
  };
  if (settings.has_duplicates) {
    add(kTagDuplicates, std::string(1, static_cast<char>(settings.duplicates)));
  }
  add_duration(kTagRetention, settings.retention);
  add_duration(kTagIgnoreTime, settings.ignore_max_time_diff);
  if (const auto bits = std::bit_cast<std::uint64_t>(settings.ignore_max_value_diff); bits != 0) {
    std::string bytes;
    PutFixed64(&bytes, bits);
    add(kTagIgnoreValue, bytes);
  }
  add_duration(kTagExpiry, settings.expiry);
  PutVarint(out, count);
  out->append(fields);
}

bool DecodeSettings(ByteReader* reader, SeriesSettings* settings) {
  SeriesSettings decoded;
  if (!DecodeFields(reader, &decoded)) {
    return reader->Fail();
  }
  *settings = decoded;
  return true;
}

void EncodeLabels(const Labels& labels, std::string* out) {
  PutVarint(out, labels.size());
  for (const Label& label : labels.pairs()) {
    PutLengthPrefixed(out, label.name);
    PutLengthPrefixed(out, label.value);
  }
}

void EncodeDefinition(const SeriesDefinition& definition, std::string* out) {
  PutVarint(out, definition.id.value);
  const bool whole = !definition.dropped || definition.created_by_key || !definition.labels.empty();
  unsigned flags = definition.created_by_key ? kFlagCreatedByKey : 0u;
  if (definition.dropped) {
    flags |= kFlagDropped | (whole ? kFlagWhole : 0u);
  }
  out->push_back(static_cast<char>(flags));
  if (!whole) {
    PutVarint(out, 0);
    return;
  }
  if (definition.created_by_key) {
    PutLengthPrefixed(out, definition.key);
  }
  EncodeLabels(definition.labels, out);
  EncodeSettings(definition.settings, out);
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
