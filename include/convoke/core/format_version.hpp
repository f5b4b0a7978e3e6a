#pragma once
#include <cstdint>
#include <string>

#include "convoke/core/error.hpp"

namespace convoke {

/// Thrown for a file of a newer format, which must not be taken for a damaged one.
struct NewerFormat : Error {
  using Error::Error;
};

/// Throws NewerFormat if `file` has a format that is newer than `newest`, the newest that this program reads.
/// docs/formats.md lists the formats.
inline void require_known_format(const std::string& file, std::int64_t format, std::int64_t newest) {
  if (format <= newest) return;
  throw NewerFormat(file + ": was written by a newer Convoke (format " + std::to_string(format) +
                        ", this one reads up to " + std::to_string(newest) + ")",
                    "install the version of Convoke that wrote it, or a later one");
}

}  // namespace convoke
