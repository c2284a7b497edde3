// Runs a fuzz target over its corpus without libFuzzer: each file as it is, cut off at many places, and with seeded
// random changes. A target that fails crashes this program; so does a folder without files, by exit code.
//
//   fuzz_x [--mutations N] [--seed N] FILE-OR-FOLDER...
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kCutsMax = 256;

struct Arguments {
  std::uint64_t mutations = 200;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> paths;
};

bool ParseNumber(std::string_view text, std::uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseArguments(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--mutations" || argument == "--seed") {
      std::uint64_t* value = argument == "--seed" ? &arguments->seed : &arguments->mutations;
      if (++i == argc || !ParseNumber(argv[i], value)) {
        return false;
      }
    } else {
      arguments->paths.emplace_back(argument);
    }
  }
  return !arguments->paths.empty();
}

std::vector<std::filesystem::path> ListFiles(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::directory_iterator(path)) {
        files.push_back(entry.path());
      }
    } else if (std::filesystem::exists(path)) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Runs a copy of exactly the input's size, so that AddressSanitizer sees a read one byte too far.
void Run(std::string_view input) {
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

void RunCuts(const std::string& input) {
  const std::size_t step = std::max<std::size_t>(1, input.size() / kCutsMax);
  for (std::size_t size = 0; size < input.size(); size += step) {
    Run(std::string_view(input).substr(0, size));
  }
}

/// One to four changes: a bit flipped, a byte set, a run removed or repeated.
std::string Mutate(std::string input, std::mt19937_64& random) {
  const std::uint64_t changes = 1 + random() % 4;
  for (std::uint64_t i = 0; i < changes && !input.empty(); ++i) {
    const std::size_t at = random() % input.size();
    const std::size_t length = 1 + random() % std::min<std::size_t>(16, input.size() - at);
    switch (random() % 4) {
      case 0:
        input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1u << (random() % 8)));
        break;
      case 1:
        input[at] = static_cast<char>(random() % 256);
        break;
      case 2:
        input.erase(at, length);
        break;
      default:
        input.insert(at, input.substr(at, length));
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: %s [--mutations N] [--seed N] FILE-OR-FOLDER...\n", argv[0]);
    return 2;
  }
  const auto files = ListFiles(arguments.paths);
  if (files.empty()) {
    std::fprintf(stderr, "%s: no file in the corpus\n", argv[0]);
    return 1;
  }
  std::printf("%zu files, %llu mutations each, seed %llu\n", files.size(),
              static_cast<unsigned long long>(arguments.mutations), static_cast<unsigned long long>(arguments.seed));
  std::mt19937_64 random(arguments.seed);
  Run({});
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (!stream) {
      std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
      return 1;
    }
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // names the file that crashes
    Run(input);
    RunCuts(input);
    for (std::uint64_t i = 0; i < arguments.mutations; ++i) {
      Run(Mutate(input, random));
    }
  }
  return 0;
}
