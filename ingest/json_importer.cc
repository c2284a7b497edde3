#include "ingest/json_importer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ingest/decimal_time.h"
#include "ingest/number.h"
#include "ingest/text_util.h"

namespace tsdb::ingest {
namespace {

constexpr std::size_t kJsonLineBytesMax = 64u << 20;
constexpr const char* kNotJson = "not a JSON object";

/// Copies `text` to `buffer` with the room behind it that simdjson reads, and gives the view to parse.
simdjson::padded_string_view Pad(std::string_view text, std::string* buffer) {
  buffer->assign(text);
  buffer->append(simdjson::SIMDJSON_PADDING, ' ');
  return simdjson::padded_string_view(buffer->data(), text.size(), buffer->size());
}

std::string_view Trimmed(std::string_view token) { return TrimRight(TrimLeft(token)); }

}  // namespace

JsonImporter::JsonImporter(const ImportOptions& options, BatchSink sink)
    : LineImporter(options, std::move(sink), kJsonLineBytesMax),
      unit_(options.has_unit ? options.unit : options.database_unit) {}

std::size_t JsonImporter::TakeRecord(std::string_view text, bool /*at_end*/) {
  const std::size_t newline = text.find('\n');
  const std::string_view line_text = Trimmed(text.substr(0, newline));
  if (!line_text.empty()) {
    if (const char* reason = TakeLine(line_text); reason != nullptr) {
      writer().RejectLine(line(), reason, fail_text_);
    }
  }
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

const char* JsonImporter::TakeLine(std::string_view text) {
  fail_text_ = {};
  if (const char* reason = TakeObject(text); reason != nullptr) {
    return reason;
  }
  if ((members_ & kLabels) == 0 && options().metric.empty()) {
    return "no \"metric\" or \"labels\" member";
  }
  const unsigned samples = members_ & ~kLabels;
  if (samples != (kTimes | kValues) && samples != (kTime | kValue) && samples != kValue && samples != kSamples) {
    return "expected \"timestamps\" and \"values\", or \"t\" and \"v\", or \"samples\"";
  }
  if (samples == kValue) {
    times_.push_back(writer().Now());
  }
  if (times_.size() != values_.size()) {
    return "\"timestamps\" and \"values\" differ in length";
  }
  const std::uint32_t slot = writer().cache().FindOnly((members_ & kLabels) != 0 ? labels_json_ : "{}");
  if (writer().AddSeries(line(), slot, times_, values_)) {
    writer().CountRounded(rounded_);
  }
  return nullptr;
}

const char* JsonImporter::TakeObject(std::string_view text) {
  times_.clear();
  values_.clear();
  rounded_ = 0;
  members_ = 0;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser_.iterate(Pad(text, &padded_)).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Fail(kNotJson, text);
  }
  for (auto entry : object) {
    simdjson::ondemand::field field;
    std::string_view name;
    if (std::move(entry).get(field) != simdjson::SUCCESS || field.unescaped_key().get(name) != simdjson::SUCCESS) {
      return Fail(kNotJson, text);
    }
    static constexpr std::pair<std::string_view, Member> kNames[] = {
        {"metric", kLabels}, {"labels", kLabels}, {"timestamps", kTimes}, {"values", kValues},
        {"t", kTime},        {"v", kValue},       {"samples", kSamples}};
    const auto known =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.first == name; });
    if (known == std::end(kNames)) {
      continue;  // what other programs add is not ours to judge
    }
    if ((members_ & known->second) != 0) {
      return Fail("member given twice", known->first);
    }
    members_ |= known->second;
    if (const char* reason = TakeMember(known->second, field.value()); reason != nullptr) {
      return reason;
    }
  }
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  return at_end ? nullptr : Fail("text after the JSON object", text);
}

const char* JsonImporter::TakeMember(Member member, Value value) {
  switch (member) {
    case kLabels: {
      simdjson::ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS ||
          object.raw_json().get(labels_json_) != simdjson::SUCCESS) {
        return "\"metric\" or \"labels\" is not an object";
      }
      return nullptr;
    }
    case kTimes:
      return TakeTimes(value);
    case kValues:
      return TakeValues(value);
    case kTime:
      return AddTime(value);
    case kValue:
      return AddValue(value);
    case kSamples:
      return TakeSamples(value);
  }
  return nullptr;
}

const char* JsonImporter::TakeTimes(Value value) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return "\"timestamps\" is not an array";
  }
  for (auto element : array) {
    Value time;
    if (std::move(element).get(time) != simdjson::SUCCESS) {
      return "malformed array of timestamps";
    }
    if (const char* reason = AddTime(time); reason != nullptr) {
      return reason;
    }
  }
  return nullptr;
}

const char* JsonImporter::TakeValues(Value value) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return "\"values\" is not an array";
  }
  for (auto element : array) {
    Value number;
    if (std::move(element).get(number) != simdjson::SUCCESS) {
      return "malformed array of values";
    }
    if (const char* reason = AddValue(number); reason != nullptr) {
      return reason;
    }
  }
  return nullptr;
}

const char* JsonImporter::TakeSamples(Value value) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return "\"samples\" is not an array";
  }
  for (auto element : array) {
    simdjson::ondemand::array pair;
    if (element.get_array().get(pair) != simdjson::SUCCESS) {
      return "a sample is not an array [time, value]";
    }
    std::size_t position = 0;
    for (auto part : pair) {
      Value item;
      if (std::move(part).get(item) != simdjson::SUCCESS || position > 1) {
        return "a sample is not an array [time, value]";
      }
      if (const char* reason = position == 0 ? AddTime(item) : AddValue(item); reason != nullptr) {
        return reason;
      }
      ++position;
    }
    if (position != 2) {
      return "a sample is not an array [time, value]";
    }
  }
  return nullptr;
}

const char* JsonImporter::AddTime(Value value) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) {
    return "malformed time";
  }
  Timestamp time = 0;
  const char* reason = nullptr;
  std::string_view text;
  if (type == simdjson::ondemand::json_type::string) {
    if (value.get_string().get(text) != simdjson::SUCCESS) {
      return "malformed time";
    }
    reason = ParseTimeCell(text, unit_, options().database_unit, &time);
  } else {
    text = Trimmed(value.raw_json_token());
    double checked = 0;  // the grammar of JSON numbers; the digits themselves are converted exactly below
    if (type != simdjson::ondemand::json_type::number || value.get_double().get(checked) != simdjson::SUCCESS) {
      return Fail("time is neither a number nor a string", text);
    }
    reason = ParseDecimalTime(text, unit_, options().database_unit, true, &time);
  }
  if (reason != nullptr) {
    return Fail(reason, text);
  }
  times_.push_back(time);
  return nullptr;
}

const char* JsonImporter::AddValue(Value value) {
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) {
    return "malformed value";
  }
  if (type == simdjson::ondemand::json_type::string) {
    std::string_view text;
    double special = 0;
    if (value.get_string().get(text) != simdjson::SUCCESS) {
      return "malformed value";
    }
    if (!ParseSpecialValue(text, &special)) {
      return Fail("a value in quotes can be NaN, +Inf or -Inf", text);
    }
    values_.push_back(special);
    return nullptr;
  }
  const std::string_view token = Trimmed(value.raw_json_token());
  double checked = 0;
  if (type != simdjson::ondemand::json_type::number || value.get_double().get(checked) != simdjson::SUCCESS) {
    return Fail("value is not a number that fits a double", token);
  }
  // Parsed again by our own rules, so that every format rounds and counts alike.
  ParsedNumber number;
  if (const char* reason = ParseDecimal(token, false, &number); reason != nullptr) {
    return Fail(reason, token);
  }
  rounded_ += number.rounded ? 1 : 0;
  values_.push_back(number.value);
  return nullptr;
}

Result<Labels> JsonImporter::BuildLabels(std::string_view prefix, std::string_view /*field*/) {
  std::vector<Label> labels;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  const Status malformed = Status::InvalidArgument("malformed labels: " + QuoteForMessage(prefix));
  if (label_parser_.iterate(Pad(prefix, &label_padded_)).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return malformed;
  }
  for (auto entry : object) {
    simdjson::ondemand::field field;
    std::string_view name;
    std::string_view value;
    if (std::move(entry).get(field) != simdjson::SUCCESS || field.unescaped_key().get(name) != simdjson::SUCCESS) {
      return malformed;
    }
    Label label{std::string(name), {}};
    if (field.value().get_string().get(value) != simdjson::SUCCESS) {
      return Status::InvalidArgument("label value is not a string: " + QuoteForMessage(label.name));
    }
    label.value = value;
    labels.push_back(std::move(label));
  }
  const bool named = std::any_of(labels.begin(), labels.end(),
                                 [](const Label& l) { return l.name == kMetricLabel && !l.value.empty(); });
  if (!named && !options().metric.empty()) {
    labels.push_back({std::string(kMetricLabel), options().metric});
  }
  TSDB_ASSIGN_OR_RETURN(Labels result, WithExtraLabels(std::move(labels), options().extra_labels));
  if (result.empty()) {
    return Status::InvalidArgument("no labels: name the metric");
  }
  return result;
}

}  // namespace tsdb::ingest
