#include "convoke/core/listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke {

std::string listing(std::span<const std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  return join(names.first(names.size() - more)) +
         (more > 0 ? fmt::format(" and {} more", format_count(static_cast<std::int64_t>(more))) : "");
}

}  // namespace convoke
