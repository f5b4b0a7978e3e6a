#include "sources/value_range.hpp"

#include <cstring>

#include "support/catch.hpp"

using convoke::Shape;
using namespace convoke::data_prep;
using convoke::data::SampleType;

namespace {

/// Samples that all hold `values`, except for one that cannot be read.
template <class T>
class Constant final : public Source {
 public:
  Constant(Shape shape, std::vector<T> values, std::size_t count = 3)
      : shape_(std::move(shape)), values_(std::move(values)) {
    catalog_.classes = 2;
    catalog_.items.resize(count);
    catalog_.items[1].fault = "is damaged";
  }
  SampleFormat format() const override {
    return {.shape = shape_,
            .type = sizeof(T) == 1             ? SampleType::kUint8
                    : std::is_same_v<T, float> ? SampleType::kFloat32
                                               : SampleType::kInt32};
  }
  Original read(std::size_t, std::span<std::byte> sample) override {
    ++reads;
    if (sizeof(T) == 1 && values_.size() == 1) {
      std::memset(sample.data(), static_cast<int>(values_[0]), sample.size());
      return {};
    }
    for (std::size_t i = 0; i < sample.size() / sizeof(T); ++i)
      std::memcpy(sample.data() + i * sizeof(T), &values_[i % values_.size()], sizeof(T));
    return {};
  }
  std::size_t reads = 0;

 private:
  Shape shape_;
  std::vector<T> values_;
};

template <class T>
std::string values_of(const Shape& shape, const std::vector<T>& values) {
  Constant<T> source(shape, values);
  const Assumption found = values_taken(source);
  return fmt::format("{}{}: {}", found.doubtful ? "? " : "", found.taken, found.why);
}

}  // namespace

TEST_CASE("the range of the values is said, and which normalization suits it") {
  const Shape picture{1, 4, 4};
  CHECK(values_of<std::uint8_t>(picture, {3, 250}) ==
        "3 to 250 in the first 2 samples: data.normalize = \"unit\" divides them by 255");
  CHECK_THAT(values_of<std::uint8_t>(picture, {0, 1}),
             Contains("? 0 to 1 in the first 2 samples: divided by 255"));
  CHECK_THAT(values_of<float>(picture, {0, 255}), Contains("? 0 to 255 in") && Contains("like 8-bit pixels"));
  CHECK_THAT(values_of<float>(picture, {0, 1}), Contains("0 to 1 in") && Contains("\"none\" keeps them"));
  CHECK_THAT(values_of<float>(picture, {-0.5, 12.25}),
             Contains("-0.5 to 12.25") && Contains("\"standard\" scales"));
  CHECK_THAT(values_of<float>(Shape{5}, {0, 255}), !Contains("?") && Contains("\"standard\" scales"));
  CHECK(values_of<std::int32_t>(Shape{5}, {0, 99}) == "0 to 99 in the first 2 samples: ");
}

TEST_CASE("the first samples decide, up to 32 MiB of them") {
  Constant<std::uint8_t> source(Shape{3, 1024, 1024}, {7}, 50);
  CHECK_THAT(values_taken(source).taken, Contains("7 to 7 in the first 10 samples"));
  CHECK(source.reads == 10);
}
