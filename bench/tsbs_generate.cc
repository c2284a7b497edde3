// Writes the TSBS cpu-only data set to standard output.
//
//   tsbs_generate influx|csv [--hosts N] [--seconds N] [--seed N] [--doubles]
//   tsbs_generate influx --hosts 100 --seconds 86400 | tsdb-cli ingest -
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "bench/tsbs_generator.h"

namespace {

struct Arguments {
  bool csv = false;
  tsdb::bench::TsbsOptions options;
};

template <typename T>
bool ParsePositive(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value > 0;
}

bool ParseArguments(int argc, char** argv, Arguments* arguments) {
  if (argc < 2) {
    return false;
  }
  const std::string_view format = argv[1];
  if (format != "influx" && format != "csv") {
    return false;
  }
  arguments->csv = format == "csv";
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--doubles") {
      arguments->options.whole_numbers = false;
      continue;
    }
    const std::string_view value = i + 1 < argc ? argv[++i] : "";
    const bool known = name == "--hosts"     ? ParsePositive(value, &arguments->options.hosts)
                       : name == "--seconds" ? ParsePositive(value, &arguments->options.seconds)
                       : name == "--seed"    ? ParsePositive(value, &arguments->options.seed)
                                             : false;
    if (!known) {
      return false;
    }
  }
  return true;
}

bool Write(const std::string& text) { return std::fwrite(text.data(), 1, text.size(), stdout) == text.size(); }

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: %s influx|csv [--hosts N] [--seconds N] [--seed N] [--doubles]\n", argv[0]);
    return 2;
  }
  tsdb::bench::TsbsGenerator generator(arguments.options);
  std::string text = arguments.csv ? tsdb::bench::TsbsGenerator::CsvHeader() : "";
  bool written = true;
  while (written && generator.Next()) {
    if (arguments.csv) {
      generator.AppendCsv(&text);
    } else {
      generator.AppendInflux(&text);
    }
    written = Write(text);
    text.clear();
  }
  if (!written || std::fflush(stdout) != 0) {
    std::perror("tsbs_generate");
    return 1;
  }
  return 0;
}
