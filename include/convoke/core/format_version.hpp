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
void require_known_format(const std::string& file, std::int64_t format, std::int64_t newest);

}  // namespace convoke
