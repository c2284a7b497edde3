#include "bench/tsbs_generator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

namespace tsdb::bench {

namespace {

constexpr std::array<std::string_view, TsbsGenerator::kFields> kFieldNames = {
    "usage_user", "usage_system",  "usage_idle",  "usage_nice",  "usage_iowait",
    "usage_irq",  "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"};
constexpr std::array<std::string_view, 10> kTagNames = {"hostname", "region",  "datacenter",      "rack",
                                                        "os",       "arch",    "team",            "service",
                                                        "service_version", "service_environment"};

struct Region {
  std::string_view name;
  std::size_t datacenters;
};
constexpr std::array<Region, 9> kRegions = {{{"us-east-1", 5}, {"us-west-1", 2}, {"us-west-2", 3},
                                             {"eu-west-1", 3}, {"eu-central-1", 2}, {"ap-southeast-1", 2},
                                             {"ap-southeast-2", 2}, {"ap-northeast-1", 2}, {"sa-east-1", 3}}};
constexpr std::array<std::string_view, 3> kSystems = {"Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"};
constexpr std::array<std::string_view, 2> kArchitectures = {"x64", "x86"};
constexpr std::array<std::string_view, 4> kTeams = {"SF", "NYC", "LON", "CHI"};
constexpr std::array<std::string_view, 3> kEnvironments = {"production", "staging", "test"};

template <typename T>
void AppendNumber(T value, std::string* out) {
  std::array<char, 32> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out->append(text.data(), result.ptr);
}

}  // namespace

TsbsGenerator::TsbsGenerator(const TsbsOptions& options) : options_(options), random_state_(options.seed) {
  const auto pick = [this](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(Uniform() * static_cast<double>(count)));
  };
  host_tags_.reserve(options.hosts);
  walks_.reserve(options.hosts * kFields);
  for (std::size_t host = 0; host < options.hosts; ++host) {
    const Region& region = kRegions[pick(kRegions.size())];
    const auto zone = static_cast<char>('a' + pick(region.datacenters));
    const std::array<std::string, kTagNames.size()> values = {
        "host_" + std::to_string(host),       std::string(region.name),
        std::string(region.name) + zone,      std::to_string(pick(100)),
        std::string(kSystems[pick(3)]),       std::string(kArchitectures[pick(2)]),
        std::string(kTeams[pick(4)]),         std::to_string(pick(20)),
        std::to_string(pick(2)),              std::string(kEnvironments[pick(3)])};
    std::vector<Label> tags;
    for (std::size_t i = 0; i < kTagNames.size(); ++i) {
      tags.push_back({std::string(kTagNames[i]), values[i]});
    }
    host_tags_.push_back(std::move(tags));
    for (std::size_t field = 0; field < kFields; ++field) {
      walks_.push_back(100 * Uniform());
    }
  }
}

Labels TsbsGenerator::SeriesLabels(std::size_t series) const {
  std::vector<Label> pairs = host_tags_[series / kFields];
  pairs.push_back({std::string(kMetricLabel), "cpu_" + std::string(kFieldNames[series % kFields])});
  return Labels::FromPairs(std::move(pairs)).value();
}

bool TsbsGenerator::Next() {
  ++step_;
  if (step_ * options_.step_seconds >= options_.seconds) {
    return false;
  }
  time_ms_ = options_.start_ms + step_ * options_.step_seconds * 1000;
  if (step_ > 0) {
    for (double& walk : walks_) {
      walk = std::clamp(walk + Normal(), 0.0, 100.0);
    }
  }
  return true;
}

double TsbsGenerator::Value(std::size_t series) const {
  return options_.whole_numbers ? std::trunc(walks_[series]) : walks_[series];
}

void TsbsGenerator::AddTo(std::span<const SeriesRef> refs, WriteBatch* batch) const {
  for (std::size_t series = 0; series < walks_.size(); ++series) {
    batch->Add(refs[series], time_ms_, Value(series));
  }
}

void TsbsGenerator::AppendInflux(std::string* out) const {
  for (std::size_t host = 0; host < host_tags_.size(); ++host) {
    out->append("cpu");
    for (const Label& tag : host_tags_[host]) {
      out->append(",").append(tag.name).append("=").append(tag.value);
    }
    for (std::size_t field = 0; field < kFields; ++field) {
      out->append(field == 0 ? " " : ",").append(kFieldNames[field]).append("=");
      AppendValue(host * kFields + field, out);
      if (options_.whole_numbers) {
        out->push_back('i');
      }
    }
    out->push_back(' ');
    AppendNumber(time_ms_ * 1'000'000, out);
    out->push_back('\n');
  }
}

std::string TsbsGenerator::CsvHeader() {
  std::string header = "time_ms";
  for (const auto name : kTagNames) {
    header.append(",").append(name);
  }
  for (const auto name : kFieldNames) {
    header.append(",").append(name);
  }
  return header + "\n";
}

void TsbsGenerator::AppendCsv(std::string* out) const {
  for (std::size_t host = 0; host < host_tags_.size(); ++host) {
    AppendNumber(time_ms_, out);
    for (const Label& tag : host_tags_[host]) {
      out->append(",").append(tag.value);
    }
    for (std::size_t field = 0; field < kFields; ++field) {
      out->push_back(',');
      AppendValue(host * kFields + field, out);
    }
    out->push_back('\n');
  }
}

void TsbsGenerator::AppendValue(std::size_t series, std::string* out) const {
  if (options_.whole_numbers) {
    AppendNumber(static_cast<std::int64_t>(Value(series)), out);
  } else {
    AppendNumber(Value(series), out);
  }
}

// SplitMix64 (Steele, Lea, Flood 2014): 53 of its bits as a fraction in [0, 1).
double TsbsGenerator::Uniform() {
  std::uint64_t z = (random_state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

// Box and Muller's transform; std::normal_distribution may differ between standard libraries.
double TsbsGenerator::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

}  // namespace tsdb::bench
