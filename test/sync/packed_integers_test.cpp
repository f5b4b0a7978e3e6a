#include "convoke/sync/packed_integers.hpp"

#include <limits>
#include <random>

#include "convoke/core/aligned_buffer.hpp"
#include "support/catch.hpp"

using namespace convoke;

namespace {

/// Packs and unpacks the numbers; returns the bytes that they took.
std::size_t round_trip(const std::vector<std::int64_t>& values) {
  AlignedBuffer<std::byte> bytes(sync::most_packed_bytes(values.size()));
  const std::size_t used = sync::pack(values, bytes.data());
  CHECK(used <= bytes.size());
  std::vector<std::int64_t> read(values.size(), 7);
  sync::unpack(bytes.data(), read);
  CHECK(read == values);
  std::vector<std::int64_t> sum, expected;  // v - floor(v / 2), which no v makes overflow
  for (const std::int64_t v : values) {
    sum.push_back(-(v >> 1));
    expected.push_back(v - (v >> 1));
  }
  sync::unpack_and_add(bytes.data(), sum);
  CHECK(sum == expected);
  return used;
}

}  // namespace

TEST_CASE("packed integers come back, of every width and number") {
  std::mt19937_64 random(1);
  for (int width = 1; width <= 64; ++width) {
    INFO("width " << width);
    const auto largest = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - width));
    for (const std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}}) {
      std::vector<std::int64_t> values(n);
      for (std::int64_t& v : values) v = static_cast<std::int64_t>(random()) >> (64 - width);
      values.front() = -largest - 1;  // the smallest number of this width
      values.back() = n == 1 ? values.front() : largest;
      round_trip(values);
    }
  }
  round_trip({});
  round_trip({0, 0, 0});
  round_trip({-1});
  round_trip({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
}

TEST_CASE("a block takes as many bits a number as its largest needs") {
  std::vector<std::int64_t> values(512);
  CHECK(round_trip(values) == 8);  // a width of 0 for each block
  values[3] = 1;
  CHECK(round_trip(values) == 8 + 2 * 8);
  values[64] = -(std::int64_t{1} << 33);
  CHECK(round_trip(values) == 8 + 2 * 8 + 34 * 8);
}
