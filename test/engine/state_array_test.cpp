#include "convoke/engine/state_array.hpp"

#include <numeric>

#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::engine;

namespace {

StochasticRounding rounding(std::uint32_t step, std::uint32_t array = 0) {
  return {philox_key(7, Purpose::kRounding, step), array};
}

/// Returns `values` after they were written to an array in bf16 from element `first` on, and read again.
template <class... Rounding>
std::vector<float> written(const std::vector<float>& values, std::size_t first, const Rounding&... rounding) {
  std::vector<sync::Bfloat16> memory(first + values.size() + 1);
  const StateArray array{std::span(memory)};
  array.write(first, values, rounding...);
  CHECK(static_cast<float>(memory.back()) == 0);
  std::vector<float> result(values.size());
  array.read(first, result);
  return result;
}

}  // namespace

TEST_CASE("stochastic rounding gives one of both neighbors, and the value on average") {
  // Between 1 and 2, neighbors in bf16 have a distance of 2^-7.
  const float below = 1.5F, distance = 0x1p-7F;
  for (const float part : {0.0F, 0.1F, 0.5F, 0.9F}) {
    for (const float sign : {1.0F, -1.0F}) {
      const std::vector<float> values(100'000, sign * (below + part * distance));
      std::size_t up = 0;
      for (const float value : written(values, 3, rounding(1))) {
        const float magnitude = sign * value;
        if (magnitude != below && magnitude != below + distance) FAIL(magnitude);
        up += magnitude == below ? 0 : 1;
      }
      CHECK(static_cast<double>(up) / 1e5 == Approx(part).margin(0.006));  // four standard deviations
    }
  }
}

TEST_CASE("many small changes add up, which they do not with rounding to the nearest number") {
  std::vector<float> stochastic(2'000, 1.0F), nearest = stochastic;
  for (std::uint32_t step = 0; step < 1'000; ++step) {
    for (float& value : stochastic) value += 0x1p-10F;
    for (float& value : nearest) value += 0x1p-10F;
    stochastic = written(stochastic, 0, rounding(step));
    nearest = written(nearest, 0);
  }
  const double mean = std::accumulate(stochastic.begin(), stochastic.end(), 0.0) / 2'000;
  CHECK(mean == Approx(1 + 1'000 * 0x1p-10).epsilon(0.01));
  CHECK(nearest.front() == 1);
}

TEST_CASE("the random numbers depend on step, array and element, not on the pieces of a write") {
  std::vector<float> values(1'000);
  std::iota(values.begin(), values.end(), 1'000.5F);
  const std::vector<float> whole = written(values, 0, rounding(1));
  std::vector<sync::Bfloat16> memory(values.size());
  const StateArray array{std::span(memory)};
  for (std::size_t first = 0; first < values.size(); first += 77) {
    array.write(first, std::span(values).subspan(first, std::min<std::size_t>(77, values.size() - first)),
                rounding(1));
  }
  std::vector<float> pieces(values.size());
  array.read(0, pieces);
  CHECK(pieces == whole);
  CHECK(written(values, 0, rounding(2)) != whole);
  CHECK(written(values, 0, rounding(1, 1)) != whole);
  CHECK(written(values, 1, rounding(1)) != whole);
}

TEST_CASE("numbers of bf16, infinities and NaN stay what they are") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{0.0F, -0.0F, 1.0F, -0x1.fep127F, 0x1p-133F, infinity, -infinity};
  for (std::uint32_t step = 0; step < 100; ++step) CHECK(written(values, 5, rounding(step)) == values);
  CHECK(written(values, 5) == values);
  for (const std::uint32_t bits : {0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    CHECK(std::isnan(written({std::bit_cast<float>(bits)}, 0, rounding(1)).front()));
  }
}

TEST_CASE("an array in fp32 is read and written without rounding, and both kinds find what is not finite") {
  std::vector<float> floats{1, 2, 3, 4};
  std::vector<sync::Bfloat16> halves(4);
  for (const StateArray& array : {StateArray(std::span(floats)), StateArray(std::span(halves))}) {
    CHECK(array.size() == 4);
    array.write(1, std::array{0.5F, 0.25F}, rounding(1));
    CHECK(array.finite(0, 4));
    array.write(2, std::array{std::numeric_limits<float>::infinity()});
    CHECK_FALSE(array.finite(0, 4));
    CHECK(array.finite(0, 2));
    array.set_to_zero();
    std::vector<float> values(4, 1.0F);
    array.read(0, values);
    CHECK(values == std::vector<float>(4));
  }
  const StateArray array{std::span(floats)};
  array.write(0, std::array{0.1F}, rounding(1));
  CHECK(floats[0] == 0.1F);
  CHECK(array.bytes() == 16);
  CHECK(StateArray(std::span(halves)).bytes() == 8);
}
