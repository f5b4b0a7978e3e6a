#include "convoke/core/format_version.hpp"

#include <fmt/format.h>

namespace convoke {

void require_known_format(const std::string& file, std::int64_t format, std::int64_t newest) {
  if (format <= newest) return;
  throw NewerFormat(fmt::format("{}: was written by a newer Convoke (format {}, this one reads up to {})",
                                file, format, newest),
                    "install the version of Convoke that wrote it, or a later one");
}

}  // namespace convoke
