#include "convoke/sync/packed_sum.hpp"

#include <limits>
#include <random>

#include "convoke/core/aligned_buffer.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;

namespace {

// Numbers of very different size, so that messages differ in length from rank to rank.
std::int64_t number(int rank, std::size_t i) {
  const int shift = static_cast<int>((i / 50 + static_cast<std::size_t>(rank) * 17) % 58);
  return (static_cast<std::int64_t>(i % 13) - 6) * (std::int64_t{1} << shift) + rank;
}

}  // namespace

TEST_CASE("a packed sum is the sum of the ranks, whatever the length of their messages") {
  const sync::SumChannels channels(world());
  for (const std::size_t size : {1, 2, 63, 64, 1000, 30'011}) {
    std::vector<std::int64_t> values(size), expected(size);
    sync::PackedSum sum(channels, values);
    for (int step = 0; step < 2; ++step) {
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = number(world().rank(), i + static_cast<std::size_t>(step));
        expected[i] = 0;
        for (int rank = 0; rank < world().size(); ++rank)
          expected[i] += number(rank, i + static_cast<std::size_t>(step));
      }
      sum.start();
      while (!sum.combine(false)) {
      }
      sum.finish(true);
      INFO("size " << size << ", step " << step);
      CHECK(values == expected);
    }
  }
}

TEST_CASE("packed sums that run at the same time do not mix") {
  const sync::SumChannels channels(world());
  std::vector<std::vector<std::int64_t>> values(5, std::vector<std::int64_t>(300));
  std::vector<std::unique_ptr<sync::PackedSum>> sums;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t i = 0; i < 300; ++i) values[k][i] = number(world().rank(), i + 100 * k);
    sums.push_back(std::make_unique<sync::PackedSum>(channels, values[k]));
    sums.back()->start();
  }
  // Each rank begins the second phases at its own pace.
  std::size_t combined = 0;
  for (int call = 0; combined < sums.size(); ++call) {
    if (call % (world().rank() + 1) == 0 && sums[combined]->combine(false)) ++combined;
  }
  for (auto& sum : sums) sum->finish(true);
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (std::size_t i = 0; i < 300; ++i) {
      std::int64_t expected = 0;
      for (int rank = 0; rank < world().size(); ++rank) expected += number(rank, i + 100 * k);
      CHECK(values[k][i] == expected);
    }
  }
}

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
