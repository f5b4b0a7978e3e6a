#include "convoke/core/checksum.hpp"

#include "support/catch.hpp"

using convoke::crc32;
using convoke::crc32_join;
using convoke::crc32c;

namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Computes bit by bit, from the definition: the reflected polynomial 0xEDB88320, all ones before and after.
std::uint32_t slow_crc32(std::span<const std::byte> data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : data) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("crc32 gives the published check value") {
  CHECK(crc32(bytes("123456789")) == 0xCBF43926);
  CHECK(crc32(bytes("")) == 0);
  CHECK(crc32(bytes("The quick brown fox jumps over the lazy dog")) == 0x414FA339);
}

TEST_CASE("crc32 in pieces equals crc32 of the whole, and the definition") {
  std::vector<std::byte> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * i % 251);
  const std::span<const std::byte> all(data);
  const std::uint32_t whole = slow_crc32(all);
  CHECK(crc32(all) == whole);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{333}, std::size_t{1000}}) {
    const auto a = all.first(cut);
    const auto b = all.subspan(cut);
    CHECK(crc32(b, crc32(a)) == whole);
    CHECK(crc32_join(crc32(a), crc32(b), b.size()) == whole);
  }
}

TEST_CASE("crc32c gives the published check values") {
  CHECK(crc32c(bytes("123456789")) == 0xE3069283);
  CHECK(crc32c(bytes("")) == 0);
  // RFC 3720, B.4
  std::vector<std::byte> data(32);
  CHECK(crc32c(data) == 0x8A9136AA);
  std::fill(data.begin(), data.end(), std::byte{0xFF});
  CHECK(crc32c(data) == 0x62A8AB43);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  CHECK(crc32c(data) == 0x46DD794E);
  std::reverse(data.begin(), data.end());
  CHECK(crc32c(data) == 0x113FDB5C);
  const std::span<const std::byte> all(data);
  for (std::size_t cut = 0; cut <= data.size(); ++cut)
    CHECK(crc32c(all.subspan(cut), crc32c(all.first(cut))) == 0x113FDB5C);
}
