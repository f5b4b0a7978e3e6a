#include "convoke/data/batch_loader.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using convoke::Shape;
using namespace convoke::data;
using Catch::Contains;

namespace {

/// `count` samples of shape (C, H, W), held as (N, H, W, C).
struct Held {
  Held(std::int64_t count, const Shape& shape) {
    const auto size = static_cast<std::size_t>(count * shape.elements());
    for (std::size_t i = 0; i < size; ++i) samples.push_back(static_cast<std::uint8_t>(i * i % 256));
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int32_t>(100 - i));
  }
  Split split() const { return {samples, labels}; }

  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;
};

DatasetInfo info_of(const Shape& shape) {
  DatasetInfo info;
  info.sample_shape = shape;
  for (std::int64_t c = 0; c < shape[0]; ++c) {
    info.channel_mean.push_back(100.0 + 10.0 * static_cast<double>(c));
    info.channel_std.push_back(50.0 + static_cast<double>(c));
  }
  return info;
}

}  // namespace

TEST_CASE("normalisations are what their names say") {
  DatasetInfo info = info_of(Shape{2, 4, 5});
  const Normalization unit = normalization_from("unit", info);
  CHECK(unit.scale == std::vector<float>{1 / 255.0F, 1 / 255.0F});
  CHECK(unit.shift == std::vector<float>{0, 0});
  const Normalization standard = normalization_from("standard", info);
  CHECK(standard.scale[1] == Catch::Approx(1 / 51.0));
  CHECK(standard.shift[1] == Catch::Approx(-110 / 51.0));
  const Normalization none = normalization_from("none", info);
  CHECK(none.scale == std::vector<float>{1, 1});
  CHECK(none.shift == std::vector<float>{0, 0});

  info.channel_std[0] = 0;  // a channel that is the same everywhere becomes 0, not infinite
  CHECK(normalization_from("standard", info).scale[0] == 1);
  CHECK(normalization_from("standard", info).shift[0] == -100);
  CHECK_THAT(error_of([&] { normalization_from("units", info); }),
             Contains("unknown normalisation \"units\" (did you mean \"unit\"?)"));
}

TEST_CASE("samples are gathered, transposed to (C, H, W) and normalised") {
  const std::int64_t channels = GENERATE(1, 2, 3, 4);
  const Shape shape{channels, 5, 7};
  const Held held(20, shape);
  const Normalization normalization = normalization_from("standard", info_of(shape));
  const BatchLoader loader(held.split(), shape, normalization);
  const std::vector<std::uint32_t> ids{19, 0, 7, 7, 3};
  std::vector<float> samples(ids.size() * static_cast<std::size_t>(shape.elements()));
  std::vector<std::int32_t> labels(ids.size());
  loader.load(ids, samples, labels);

  bool equal = true;
  const auto c_count = static_cast<std::size_t>(channels);
  for (std::size_t n = 0; n < ids.size(); ++n) {
    CHECK(labels[n] == held.labels[ids[n]]);
    for (std::size_t c = 0; c < c_count; ++c) {
      for (std::size_t y = 0; y < 5; ++y) {
        for (std::size_t x = 0; x < 7; ++x) {
          const double stored = held.samples[((ids[n] * 5 + y) * 7 + x) * c_count + c];
          const double mean = 100.0 + 10.0 * static_cast<double>(c);
          const double expected = (stored - mean) / (50.0 + static_cast<double>(c));
          equal =
              equal && samples[((n * c_count + c) * 5 + y) * 7 + x] == Catch::Approx(expected).margin(1e-5);
        }
      }
    }
  }
  CHECK(equal);

  // Labels may be left out; what was loaded is the same.
  std::vector<float> again(samples.size());
  loader.load(ids, again, {});
  CHECK(again == samples);
}

TEST_CASE("every byte becomes x / 255") {
  Held held(1, Shape{1, 16, 16});
  for (std::size_t i = 0; i < 256; ++i) held.samples[i] = static_cast<std::uint8_t>(i);
  const BatchLoader loader(held.split(), Shape{1, 16, 16},
                           normalization_from("unit", info_of(Shape{1, 16, 16})));
  std::vector<float> samples(256);
  loader.load(std::vector<std::uint32_t>{0}, samples, {});
  for (std::size_t i = 0; i < 256; ++i) {
    CHECK(samples[i] == Catch::Approx(static_cast<double>(i) / 255).epsilon(1e-7));
  }
  CHECK(samples[0] == 0);
  CHECK(samples[255] == 1);
}
