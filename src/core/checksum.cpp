#include "convoke/core/checksum.hpp"

#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>

namespace convoke {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kStep = 8;

// table[k][b]: the remainder of byte b followed by k zero bytes.
constexpr auto make_crc32c_tables() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41, bits reversed
  std::array<std::array<std::uint32_t, 256>, kStep> table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t rest = b;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table[0][b] = rest;
  }
  for (std::size_t k = 1; k < kStep; ++k) {
    for (std::size_t b = 0; b < 256; ++b)
      table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xFF];
  }
  return table;
}

constexpr auto kCrc32c = make_crc32c_tables();

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(a, b, static_cast<z_off_t>(b_bytes)));
}

// Takes eight bytes at a time, "slicing by 8" (Kounavis and Berry, ISCC 2005).
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  while (bytes.size() >= kStep) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kStep);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < kStep; ++k) crc ^= kCrc32c[kStep - 1 - k][word >> (8 * k) & 0xFF];
    bytes = bytes.subspan(kStep);
  }
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ kCrc32c[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return ~crc;
}

namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
std::string bytes_of(T number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string with_checksum(const std::string& bytes) {
  return bytes + bytes_of(tfrecord_checksum(std::as_bytes(std::span(bytes))));
}

}  // namespace

std::uint32_t tfrecord_checksum(std::span<const std::byte> bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

std::string tfrecord(std::string_view data) {
  return with_checksum(bytes_of(std::uint64_t{data.size()})) + with_checksum(std::string(data));
}

}  // namespace convoke
