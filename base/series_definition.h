// SeriesDefinition: everything the log, the catalogue and the index keep of a series, and its bytes.
//
// Thread safety: value type.
#pragma once

#include <string>
#include <string_view>

#include "base/coding.h"
#include "tsdb/labels.h"
#include "tsdb/options.h"
#include "tsdb/query.h"
#include "tsdb/types.h"

namespace tsdb {

struct SeriesDefinition {
  SeriesId id;
  /// Commit that created or last changed it.
  CommitNumber commit;
  /// Given by the user for a series created by key; empty for one created by labels (its key is CanonicalKey()).
  std::string key;
  Labels labels;
  bool created_by_key = false;
  /// True: the series ends here. Only id and commit count then; key, labels and settings may be there still, for the
  /// case that it comes back.
  bool dropped = false;
  SeriesSettings settings;

  /// The shown key.
  std::string ShownKey() const { return created_by_key ? key : labels.CanonicalKey(); }
  SeriesInfo ToInfo() const { return {id, ShownKey(), labels, created_by_key, settings}; }
  friend bool operator==(const SeriesDefinition&, const SeriesDefinition&) = default;
};

/// The fields of a definition: settings that differ from the default.
void EncodeSettings(const SeriesSettings& settings, std::string* out);
bool DecodeSettings(ByteReader* reader, SeriesSettings* settings);
/// The labels of a definition: count, then names and values.
void EncodeLabels(const Labels& labels, std::string* out);
bool DecodeLabels(ByteReader* reader, Labels* labels);

/// Appends the bytes described in docs/format/definition.md (without the commit, which the container knows). The id
/// must not be 0, nor the key of a series created by key empty: such bytes would not decode. Of a dropped series
/// without key and labels only the id is kept.
void EncodeDefinition(const SeriesDefinition& definition, std::string* out);
/// Reads one definition; false (and reader.ok() false) when the bytes are not one. Leaves `commit` alone.
bool DecodeDefinition(ByteReader* reader, SeriesDefinition* definition);

}  // namespace tsdb
