#include "convoke/sync/ordered_sum.hpp"

#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;
using sync::Bfloat16;
using sync::OrderedSum;
using sync::SumChannels;

namespace {

// Returns element i of a rank: numbers that bf16 does not hold, of very different size.
float value(int rank, std::size_t i) {
  return std::ldexp(1.0F + static_cast<float>(i % 101) / 127.0F, static_cast<int>(i % 7) * 4 - 12) *
         (rank % 2 == 0 ? 1.0F : -0.7F);
}

std::vector<float> values_of(int rank, std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = value(rank, i);
  return values;
}

template <class Sum>
void run(Sum& sum) {
  sum.start();
  sum.combine(true);
  sum.finish(true);
}

/// CHECKs that totals[i] is `sums` times the sum of value(rank, i), up to a part of the sum of their sizes.
template <class Number>
void check_near(const std::vector<Number>& totals, int sums, double part) {
  std::size_t far = 0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    double exact = 0, largest = 0;
    for (int rank = 0; rank < world().size(); ++rank) {
      exact += static_cast<double>(value(rank, i));
      largest += std::abs(static_cast<double>(value(rank, i)));
    }
    far += std::abs(static_cast<double>(totals[i]) - sums * exact) > part * largest;
  }
  CHECK(far == 0);
}

}  // namespace

TEST_CASE("numbers are rounded to the nearest bfloat16, and in a tie to the even one") {
  const auto rounded = [](float x) { return static_cast<float>(Bfloat16(x)); };
  CHECK(rounded(1.0F) == 1.0F);
  CHECK(rounded(1.0F + 0x1p-8F) == 1.0F);                // a tie
  CHECK(rounded(1.0F + 3 * 0x1p-8F) == 1.0F + 0x1p-6F);  // a tie
  CHECK(rounded(1.0F + 0x1.8p-8F) == 1.0F + 0x1p-7F);
  CHECK(rounded(-0x1.fep127F) == -0x1.fep127F);
  CHECK(std::isinf(rounded(std::numeric_limits<float>::max())));
  CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(static_cast<float>(Bfloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST_CASE("a sum adds the ranks in their order, bit for bit") {
  const SumChannels channels(world());
  for (const std::size_t size : {1, 3, 16, 1000, 4099}) {
    std::vector<float> expected = values_of(0, size);
    for (int rank = 1; rank < world().size(); ++rank)
      for (std::size_t i = 0; i < size; ++i) expected[i] += value(rank, i);
    std::vector<float> values = values_of(world().rank(), size);
    OrderedSum<float> sum(channels, values);
    run(sum);
    CHECK(values == expected);
  }
}

TEST_CASE("sums that run at the same time do not mix") {
  const SumChannels channels(world());
  std::vector<std::vector<float>> values(5, values_of(world().rank(), 300));
  std::vector<std::unique_ptr<OrderedSum<float>>> sums;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (float& v : values[k]) v *= static_cast<float>(k + 1);
    sums.push_back(std::make_unique<OrderedSum<float>>(channels, values[k]));
    sums.back()->start();
  }
  // Each rank begins the second phases at its own pace.
  std::size_t combined = 0;
  for (int call = 0; combined < sums.size(); ++call) {
    if (call % (world().rank() + 1) == 0 && sums[combined]->combine(false)) ++combined;
  }
  for (auto& sum : sums) sum->finish(true);
  for (std::size_t k = 1; k < values.size(); ++k)
    for (std::size_t i = 0; i < 300; ++i)
      CHECK(std::abs(values[k][i] - values[0][i] * static_cast<float>(k + 1)) <=
            1e-5F * std::abs(values[k][i]) + 1e-6F);
}

TEST_CASE("with bfloat16 all ranks get the same numbers, near the sum") {
  const SumChannels channels(world());
  std::vector<float> values = values_of(world().rank(), 1000);
  OrderedSum<Bfloat16> sum(channels, values);
  run(sum);
  check_near(values, 1, 1.0 / 128);
  const std::vector<float> mine = values;
  mpi::Communicator(world()).broadcast(std::as_writable_bytes(std::span(values)));
  CHECK(values == mine);
}

// After t sums the error of their total is one rounding, not t of them.
TEST_CASE("what rounding takes away is added to the next sum") {
  const SumChannels channels(world());
  constexpr int kSums = 200;
  std::vector<float> values(64);
  OrderedSum<Bfloat16> sum(channels, values);
  std::vector<double> totals(values.size());
  for (int t = 0; t < kSums; ++t) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(world().rank(), i);
    run(sum);
    for (std::size_t i = 0; i < values.size(); ++i) totals[i] += static_cast<double>(values[i]);
  }
  check_near(totals, kSums, 1.0 / 64);
}
