#include "convoke/metrics/json_file.hpp"

#include <fstream>
#include <iterator>

#include "convoke/metrics/json.hpp"

namespace convoke::metrics {

std::optional<Settings> read_json(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return settings_from_json({std::istreambuf_iterator<char>(in), {}}, file.string());
}

}  // namespace convoke::metrics
