// Fills a database with the TSBS cpu-only data set and asks it the fifteen queries, in this process.
//
//   tsbs_run [--hosts N] [--seconds N] [--runs N] [--compacted] [--dump FILE]   medians as a table; FILE: all answers
//   tsbs_run serve [--hosts N] [--seconds N] [--compacted]                      answers requests on standard input
//
// The database is asked as its background jobs left it; with --compacted in its final form. A request is a line
// `QUERY FROM TO HOSTS` (milliseconds; hosts with commas, or -); the reply a line `NANOSECONDS ROWS` and the rows,
// see TsbsAnswer::ToText. Times are those from the request to the answer in memory.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scratch_database.h"
#include "bench/tsbs_generator.h"
#include "bench/tsbs_queries.h"

namespace tsdb::bench {
namespace {

struct Arguments {
  bool serve = false;
  bool compacted = false;
  std::size_t hosts = 100;
  std::int64_t seconds = 24 * 3600;
  std::uint64_t runs = 5;
  std::string dump;
};

template <typename T>
bool ParsePositive(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value > 0;
}

bool ParseArguments(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "serve" && i == 1) {
      arguments->serve = true;
      continue;
    }
    if (name == "--compacted") {
      arguments->compacted = true;
      continue;
    }
    const std::string_view value = i + 1 < argc ? argv[++i] : "";
    const bool parsed = name == "--hosts"     ? ParsePositive(value, &arguments->hosts)
                        : name == "--seconds" ? ParsePositive(value, &arguments->seconds)
                        : name == "--runs"    ? ParsePositive(value, &arguments->runs)
                                              : name == "--dump" && !value.empty();
    if (!parsed) {
      return false;
    }
    arguments->dump = name == "--dump" ? value : arguments->dump;
  }
  return arguments->seconds >= 12 * 3600;  // the longest window
}

struct TimedAnswer {
  TsbsAnswer answer;
  std::int64_t nanoseconds = 0;
};

TimedAnswer Ask(Database& database, const TsbsRequest& request) {
  TimedAnswer timed;
  const auto start = std::chrono::steady_clock::now();
  timed.answer = Must(RunTsbsQuery(database, request));
  timed.nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

Result<TsbsRequest> ParseRequest(const std::string& line) {
  const std::vector<std::string> words = Split(line, ' ');
  TsbsRequest request;
  if (words.size() != 4 || !ParsePositive(words[1], &request.from) || !ParsePositive(words[2], &request.to)) {
    return Status::InvalidArgument("a request is QUERY FROM TO HOSTS, not '" + line + "'");
  }
  request.query = words[0];
  if (words[3] != "-") {
    request.hosts = Split(words[3], ',');
  }
  return request;
}

int Serve(Database& database) {
  std::cout << "ready\n" << std::flush;
  std::string line;
  while (std::getline(std::cin, line)) {
    const TimedAnswer timed = Ask(database, Must(ParseRequest(line)));
    std::cout << timed.nanoseconds << ' ' << timed.answer.rows() << '\n' << timed.answer.ToText() << std::flush;
  }
  return 0;
}

int Measure(Database& database, const Arguments& arguments, const TsbsDataSet& data) {
  std::ofstream dump;
  if (!arguments.dump.empty()) {
    dump.open(arguments.dump);
  }
  std::printf("| query | median ms | best ms | rows |\n|---|---|---|---|\n");
  for (const std::string& query : TsbsQueryNames()) {
    std::vector<std::int64_t> times;
    std::size_t rows = 0;
    for (std::uint64_t round = 0; round <= arguments.runs; ++round) {
      const TimedAnswer timed = Ask(database, MakeTsbsRequest(data, query, 42, round));
      rows = timed.answer.rows();
      if (round != 0) {  // the first one warms up
        times.push_back(timed.nanoseconds);
      }
      if (dump.is_open()) {
        dump << "# " << query << " round " << round << "\n" << timed.answer.ToText();
      }
    }
    std::sort(times.begin(), times.end());
    std::printf("| %s | %.3f | %.3f | %zu |\n", query.c_str(), static_cast<double>(times[times.size() / 2]) / 1e6,
                static_cast<double>(times.front()) / 1e6, rows);
    std::fflush(stdout);
  }
  if (dump.is_open() && !dump.flush()) {
    std::fprintf(stderr, "%s: cannot be written\n", arguments.dump.c_str());
    return 1;
  }
  return 0;
}

int Run(const Arguments& arguments) {
  const TsbsOptions options{.hosts = arguments.hosts, .seconds = arguments.seconds};
  TsbsGenerator generator(options);
  ScratchDatabase database;
  database.Fill(&generator);
  MustBeOk(database->Flush());
  if (arguments.compacted) {
    Must(database->Compact());
  } else {
    database.WaitForJobs();
  }
  if (arguments.serve) {
    return Serve(*database);
  }
  return Measure(*database, arguments,
                 {.hosts = arguments.hosts,
                  .start_ms = options.start_ms,
                  .end_ms = options.start_ms + arguments.seconds * 1000});
}

}  // namespace
}  // namespace tsdb::bench

int main(int argc, char** argv) {
  tsdb::bench::Arguments arguments;
  if (!tsdb::bench::ParseArguments(argc, argv, &arguments)) {
    std::fprintf(stderr,
                 "usage: tsbs_run [serve] [--hosts N] [--seconds N] [--runs N] [--compacted] [--dump FILE]\n"
                 "       12 hours of data are the least\n");
    return 2;
  }
  return tsdb::bench::Run(arguments);
}
