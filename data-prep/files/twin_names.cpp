#include "files/twin_names.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <cstdlib>
#include <map>

#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

// Returns the composed form (Unicode Standard Annex 15); the name itself if it is not UTF-8.
std::string composed(const std::string& name) {
  utf8proc_uint8_t* result = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()),
                                   static_cast<utf8proc_ssize_t>(name.size()), &result,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string text =
      length < 0 ? name
                 : std::string(reinterpret_cast<const char*>(result), static_cast<std::size_t>(length));
  std::free(result);  // NOLINT: allocated by utf8proc
  return text;
}

}  // namespace

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
