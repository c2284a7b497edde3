#include "data_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unordered_map>

namespace tsdb::chunk {
namespace {

std::string ReadGzip(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return text;
  }
  std::array<char, 1 << 16> buffer;
  for (int n = gzread(file, buffer.data(), buffer.size()); n > 0; n = gzread(file, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  gzclose(file);
  return text;
}

DataFile LoadCsv(const std::filesystem::path& path) {
  DataFile file;
  file.name = path.filename().string();
  file.name.resize(file.name.find('.'));
  const std::string text = ReadGzip(path.string());
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
  std::unordered_map<std::string, std::size_t> index;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.size(), rest.find('\n'));
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    const std::size_t value_at = line.rfind(',') + 1;
    const std::size_t time_comma = line.rfind(',', value_at - 2);
    const std::size_t time_at = time_comma == std::string_view::npos ? 0 : time_comma + 1;
    const std::string_view name = line.substr(0, time_at);
    const auto [place, added] = index.try_emplace(std::string(name), file.series.size());
    if (added) {
      file.series.emplace_back();
      file.names.emplace_back(name.substr(0, name.empty() ? 0 : name.size() - 1));
    }
    Timestamp time = 0;
    std::from_chars(line.data() + time_at, line.data() + value_at - 1, time);
    std::string_view number = line.substr(value_at);
    if (!number.empty() && number[0] == '+') {
      number.remove_prefix(1);
    }
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    Columns& columns = file.series[place->second];
    if (columns.empty() || time > columns.times.back()) {
      columns.Append(time, value);
    }
  }
  return file;
}

}  // namespace

std::vector<DataFile> LoadFiles() {
  const char* env = std::getenv("TSDB_DATA_DIR");
  const std::filesystem::path folder =
      env != nullptr ? std::filesystem::path(env)
                     : std::filesystem::path(__FILE__).parent_path() / ".." / ".." / "shared" / "data";
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().ends_with(".csv.gz")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<DataFile> files;
  for (const auto& path : paths) {
    files.push_back(LoadCsv(path));
  }
  return files;
}

}  // namespace tsdb::chunk
