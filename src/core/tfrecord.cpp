#include "convoke/core/tfrecord.hpp"

#include <bit>
#include <cstring>

#include "convoke/core/checksum.hpp"

namespace convoke {
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
