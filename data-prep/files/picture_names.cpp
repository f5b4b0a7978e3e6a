#include "convoke/data_prep/files/picture_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "convoke/core/csv.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

std::string lower_ending(const std::filesystem::path& file) { return lower_case(file.extension().string()); }

}  // namespace

bool is_picture_name(const std::filesystem::path& file) {
  const std::string ending = lower_ending(file);
  return std::find(kPictureEndings.begin(), kPictureEndings.end(), ending) != kPictureEndings.end();
}

bool is_foreign_picture_name(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 9> kEndings{".gif",  ".tif",  ".tiff", ".webp", ".avif",
                                                     ".heic", ".heif", ".jp2",  ".ppm"};
  const std::string ending = lower_ending(file);
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool is_hidden(const std::filesystem::path& path) { return path.filename().native().starts_with('.'); }

std::string printable(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const auto first = static_cast<unsigned char>(name[0]);
    const bool control = first < 0x20 || first == 0x7F || name.starts_with("\\x");
    const std::size_t bytes = control ? 0 : utf8_length(name);
    if (bytes == 0) {
      text += fmt::format("\\x{:02X}", first);
      name.remove_prefix(1);
    } else {
      text += name.substr(0, bytes);
      name.remove_prefix(bytes);
    }
  }
  return text;
}

}  // namespace convoke::data_prep
