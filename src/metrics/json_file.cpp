#include "convoke/metrics/json_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "convoke/metrics/json.hpp"

namespace convoke::metrics {

std::optional<Settings> read_json(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return settings_from_json({std::istreambuf_iterator<char>(in), {}}, file.string());
}

std::vector<Settings> read_json_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<Settings> lines;
  std::int64_t number = 1;
  for (std::string line; std::getline(in, line) && !in.eof(); ++number) {
    lines.push_back(settings_from_json(line, fmt::format("{}:{}", file.string(), number)));
  }
  return lines;
}

}  // namespace convoke::metrics
