#include "convoke/data_prep/files/names.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>

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

std::string composed(const std::string& text) {
  utf8proc_uint8_t* result = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &result,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string joined =
      length < 0 ? text
                 : std::string(reinterpret_cast<const char*>(result), static_cast<std::size_t>(length));
  std::free(result);  // NOLINT: allocated by utf8proc
  return joined;
}

std::optional<std::pair<std::string, std::string>> find_twins(std::span<const std::string> names) {
  std::map<std::string, std::string> seen;
  for (const std::string& name : names) {
    const auto [first, is_new] = seen.emplace(composed(name), name);
    if (!is_new && first->second != name) return std::pair(first->second, name);
  }
  return {};
}

std::string spelled(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    if (length <= 1) {
      text += name.front();
    } else {
      text += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(code_point(name)));
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string twins_text(const std::pair<std::string, std::string>& twins) {
  return fmt::format("\"{}\" and \"{}\" look alike", spelled(twins.first), spelled(twins.second));
}

}  // namespace convoke::data_prep
