#include "convoke/core/text_file.hpp"

#include <fstream>
#include <iterator>

namespace convoke {

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(file, unknown)) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return std::nullopt;
  return text;
}

}  // namespace convoke
