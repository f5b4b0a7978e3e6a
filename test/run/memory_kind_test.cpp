#include "convoke/run/machine.hpp"

#include "support/catch.hpp"

using convoke::run::memory_kind_in;

namespace {

// Returns an SMBIOS structure: a fixed part of `length` bytes with `kind` at the position of memory devices,
// and a string.
std::vector<std::uint8_t> structure(std::uint8_t type, std::uint8_t length, std::uint8_t kind) {
  std::vector<std::uint8_t> bytes(length, 0xEE);
  bytes[0] = type, bytes[1] = length;
  if (length > 0x12) bytes[0x12] = kind;
  bytes.insert(bytes.end(), {'D', 'I', 'M', 'M', 0, 0});
  return bytes;
}

std::vector<std::uint8_t> operator+(std::vector<std::uint8_t> a, const std::vector<std::uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("the kind of memory is read from the firmware's table, skipping other structures") {
  const auto bios = structure(0, 24, 0x1A), empty_slot = structure(17, 40, 0x02), end = structure(127, 4, 0);
  CHECK(memory_kind_in(bios + empty_slot + structure(17, 40, 0x22) + end) == "DDR5");
  CHECK(memory_kind_in(structure(17, 21, 0x1A)) == "DDR4");
  CHECK(memory_kind_in(bios + end + structure(17, 40, 0x22)).empty());
  CHECK(memory_kind_in(structure(17, 18, 0x22)).empty());  // too short for a kind
}

TEST_CASE("a truncated or damaged table is not read beyond its end") {
  const auto whole = structure(0, 24, 0) + structure(17, 40, 0x22);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK((memory_kind_in(cut).empty() || length >= 24 + 6 + 40));
  }
  std::vector<std::uint8_t> damaged = whole;
  damaged[1] = 0;
  CHECK(memory_kind_in(damaged).empty());
}
