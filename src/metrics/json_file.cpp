#include "convoke/metrics/json_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "convoke/core/text_file.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::metrics {

std::optional<Settings> read_json(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text(file);
  if (!text) return std::nullopt;
  return settings_from_json(*text, file.string());
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
