#include "interop/tensor.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

template <class T, std::size_t n>
std::vector<float> floats_of(NumberType type, const std::array<T, n>& stored) {
  const auto bytes = std::as_bytes(std::span(stored));
  return read_floats(tensor_in_memory("x", {static_cast<std::int64_t>(n)}, type, bytes));
}

}  // namespace

TEST_CASE("half precision numbers are read exactly") {
  // IEEE 754: one, -2, the largest, the smallest normal, the smallest subnormal, -0
  const std::array<std::uint16_t, 6> halves{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000};
  const std::vector<float> values = floats_of(NumberType::kFloat16, halves);
  CHECK(values == std::vector<float>{1, -2, 65504, 0x1p-14F, 0x1p-24F, -0.0F});
  CHECK(std::signbit(values[5]));
  CHECK(std::isinf(floats_of(NumberType::kFloat16, std::array<std::uint16_t, 1>{0x7C00})[0]));
  CHECK(std::isnan(floats_of(NumberType::kFloat16, std::array<std::uint16_t, 1>{0x7C01})[0]));
  CHECK(floats_of(NumberType::kBfloat16, std::array<std::uint16_t, 2>{0x3F80, 0xC049}) ==
        std::vector<float>{1, -3.140625F});
}

TEST_CASE("whole numbers and doubles are converted") {
  CHECK(floats_of(NumberType::kInt8, std::array<std::int8_t, 2>{-3, 127}) == std::vector<float>{-3, 127});
  CHECK(floats_of(NumberType::kInt64, std::array<std::int64_t, 1>{1LL << 40}) == std::vector<float>{0x1p40F});
  CHECK(floats_of(NumberType::kFloat64, std::array<double, 1>{0.5}) == std::vector<float>{0.5F});
  const std::array<float, 1> real{1};
  CHECK_THROWS_AS(
      read_integers(tensor_in_memory("x", {1}, NumberType::kFloat32, std::as_bytes(std::span(real)))), Error);
}

TEST_CASE("a tensor whose shape and bytes disagree is refused") {
  const std::array<float, 4> values{};
  const auto bytes = std::as_bytes(std::span(values));
  CHECK_THROWS_WITH(tensor_in_memory("w", {5}, NumberType::kFloat32, bytes),
                    Contains("tensor w: has 16 bytes, but (5) of float32 needs 20"));
  CHECK_THROWS_AS(tensor_in_memory("w", {-4}, NumberType::kFloat32, bytes), Error);
  CHECK_THROWS_AS(tensor_in_memory("w", {1LL << 40, 1LL << 40}, NumberType::kFloat32, bytes), Error);
}

TEST_CASE("axes are permuted as by a slow loop") {
  const Shape shape{2, 3, 4, 5};
  std::vector<float> values(120), out(120);
  for (std::size_t i = 0; i < 120; ++i) values[i] = static_cast<float>(i);
  const std::array<std::size_t, 4> axes{2, 0, 3, 1};
  permute(values, shape, axes, out);
  std::size_t at = 0;
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t d = 0; d < 5; ++d)
        for (std::size_t b = 0; b < 3; ++b) CHECK(out[at++] == values[((a * 3 + b) * 4 + c) * 5 + d]);
}
