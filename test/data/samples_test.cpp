#include "convoke/data/samples.hpp"

#include "support/catch.hpp"

using convoke::Shape;
using namespace convoke::data;

TEST_CASE("every type has ranks, a name and a size") {
  const auto ranks = [](SampleType type) {
    std::vector<std::size_t> may;
    for (std::size_t rank = 0; rank < 6; ++rank) {
      if (may_have_rank(type, rank)) may.push_back(rank);
    }
    return may;
  };
  CHECK(ranks(SampleType::kUint8) == std::vector<std::size_t>{3});
  CHECK(ranks(SampleType::kInt32) == std::vector<std::size_t>{1});
  CHECK(ranks(SampleType::kFloat32) == std::vector<std::size_t>{1, 2, 3});
  CHECK(name_of(SampleType::kUint8) == "uint8");
  CHECK(name_of(SampleType::kInt32) == "int32");
  CHECK(name_of(SampleType::kFloat32) == "float32");
  CHECK(size_of(SampleType::kUint8) == sizeof(std::uint8_t));
  CHECK(size_of(SampleType::kInt32) == sizeof(std::int32_t));
  CHECK(size_of(SampleType::kFloat32) == sizeof(float));
}

TEST_CASE("a view of samples knows its type and size") {
  const std::vector<std::uint8_t> pixels(6);
  const std::vector<std::int32_t> tokens(5);
  const std::vector<float> numbers(4);
  CHECK(type_of(pixels) == SampleType::kUint8);
  CHECK(type_of(tokens) == SampleType::kInt32);
  CHECK(type_of(numbers) == SampleType::kFloat32);
  CHECK(values_in(tokens) == 5);
  CHECK(bytes_of(numbers).size() == 16);
  CHECK(bytes_of(numbers).data() == std::as_bytes(std::span(numbers)).data());
}

TEST_CASE("only images are stored and seen in different orders") {
  CHECK(seen_shape(Shape{28, 20, 3}) == Shape{3, 28, 20});
  CHECK(stored_shape(Shape{3, 28, 20}) == Shape{28, 20, 3});
  for (const Shape& same : {Shape{7}, Shape{80, 4}}) {
    CHECK(seen_shape(same) == same);
    CHECK(stored_shape(same) == same);
  }
  CHECK(channel_count(SampleType::kUint8, Shape{3, 28, 20}) == 3);
  CHECK(channel_count(SampleType::kFloat32, Shape{3, 28, 20}) == 3);
  CHECK(channel_count(SampleType::kFloat32, Shape{80, 4}) == 4);
  CHECK(channel_count(SampleType::kFloat32, Shape{7}) == 7);
  CHECK(channel_count(SampleType::kInt32, Shape{80}) == 0);
  CHECK(kind_of(SampleType::kUint8, Shape{3, 28, 20}) == "images");
  CHECK(kind_of(SampleType::kFloat32, Shape{80, 4}) == "sequences");
  CHECK(kind_of(SampleType::kFloat32, Shape{7}) == "features");
  CHECK(kind_of(SampleType::kInt32, Shape{80}) == "tokens");
}
