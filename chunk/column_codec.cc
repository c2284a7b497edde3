// The names; the times are in time_column.cc, the values in value_column_encoder.cc and value_column_decoder.cc.
#include "chunk/column_codec.h"

namespace tsdb::chunk {

std::string_view TimeEncodingName(TimeEncoding encoding) {
  switch (encoding) {
    case TimeEncoding::kConstantStep:
      return "constant step";
    case TimeEncoding::kDeltaBlocks:
      return "delta blocks";
    case TimeEncoding::kTokens:
      return "tokens";
  }
  return "unknown";
}

std::string_view ValueEncodingName(ValueEncoding encoding) {
  switch (encoding) {
    case ValueEncoding::kConstant:
      return "constant";
    case ValueEncoding::kDecimalBlocks:
      return "decimal blocks";
    case ValueEncoding::kBits:
      return "bits";
    case ValueEncoding::kTokens:
      return "tokens";
    case ValueEncoding::kApart:
      return "pages apart";
  }
  return "unknown";
}

}  // namespace tsdb::chunk
