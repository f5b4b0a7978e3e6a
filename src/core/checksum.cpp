#include "convoke/core/checksum.hpp"

#include <zlib.h>

namespace convoke {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(a, b, static_cast<z_off_t>(b_bytes)));
}

}  // namespace convoke
