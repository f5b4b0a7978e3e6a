#include "convoke/data/batch_loader.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;

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

TEST_CASE("normalizations compute their formulas") {
  DatasetInfo info = info_of(Shape{2, 4, 5});
  const Normalization unit = normalization_from("unit", info);
  CHECK(unit.scale == std::vector<float>{1 / 255.0F, 1 / 255.0F});
  CHECK(unit.shift == std::vector<float>{0, 0});
  const Normalization standard = normalization_from("standard", info);
  CHECK(standard.scale[1] == Approx(1 / 51.0));
  CHECK(standard.shift[1] == Approx(-110 / 51.0));
  const Normalization none = normalization_from("none", info);
  CHECK(none.scale == std::vector<float>{1, 1});
  CHECK(none.shift == std::vector<float>{0, 0});

  info.channel_std[0] = 0;  // a constant channel becomes 0, not infinite
  CHECK(normalization_from("standard", info).scale[0] == 1);
  CHECK(normalization_from("standard", info).shift[0] == -100);
  CHECK_THAT(error_of([&] { normalization_from("units", info); }),
             Contains("unknown normalization \"units\" (did you mean \"unit\"?)"));
}

namespace {

/// Gathers five of 20 samples, `held` as they are stored, and compares them with the formula. `scale`: of
/// mean and standard deviation.
template <class T>
void check_gathered(const Shape& seen, const std::vector<T>& held, double scale, double margin) {
  INFO(seen.to_string());
  const std::vector<std::int32_t> labels = example_labels(20);
  DatasetInfo info = typed_info(type_of(held), seen);
  const auto channels = static_cast<std::size_t>(channel_count(info.sample_type, seen));
  for (std::size_t c = 0; c < channels; ++c) {
    info.channel_mean.push_back(scale * static_cast<double>(c));
    info.channel_std.push_back(2.0 + static_cast<double>(c));
  }
  const BatchLoader loader({held, labels}, seen, normalization_from("standard", info));
  CHECK(loader.sample_type() == info.sample_type);
  const std::vector<std::uint32_t> ids{19, 0, 7, 7, 3};
  const auto size = static_cast<std::size_t>(seen.elements());
  std::vector<float> samples(ids.size() * size), again(samples.size());
  std::vector<std::int32_t> loaded(ids.size());
  loader.load(ids, samples, loaded);
  bool equal = true;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    CHECK(loaded[n] == labels[ids[n]]);
    for (std::size_t v = 0; v < size; ++v) {  // v: place in the stored sample, whose last axis is c
      const std::size_t c = v % channels;
      const std::size_t to = seen.rank() == 3 ? c * (size / channels) + v / channels : v;
      const double expected =
          (static_cast<double>(held[ids[n] * size + v]) - info.channel_mean[c]) / info.channel_std[c];
      equal = equal && samples[n * size + to] == Approx(expected).margin(margin);
    }
  }
  CHECK(equal);
  loader.load(ids, again, {});  // without labels
  CHECK(again == samples);
}

}  // namespace

TEST_CASE("samples are gathered and normalized per channel or feature; images are transposed to (C, H, W)") {
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const Shape seen{channels, 5, 7};
    check_gathered(seen, Held(20, seen).samples, 10, 1e-4);
  }
  for (const Shape& seen : {Shape{4}, Shape{1}, Shape{5, 2}, Shape{7, 1}, Shape{1, 5, 7}, Shape{2, 5, 7},
                            Shape{3, 5, 7}, Shape{5, 2, 3}}) {
    check_gathered(seen, example_numbers(20, stored_shape(seen)), 1000, 2e-4);
  }
  // Without normalization the bits of numbers do not change.
  const std::vector<float> held = example_numbers(20, Shape{10});
  const std::vector<std::int32_t> labels = example_labels(20);
  const BatchLoader plain({held, labels}, Shape{10},
                          normalization_from("none", typed_info(SampleType::kFloat32, Shape{10})));
  std::vector<float> samples(10);
  plain.load(std::vector<std::uint32_t>{19}, samples, {});
  CHECK(std::equal(samples.begin(), samples.end(), held.begin() + 190));
}

TEST_CASE("the normalizations of published weights equal torchvision's and Keras'") {
  // x = np.array([[0, 128, 255], [7, 90, 200]], "uint8")                              two pixels, RGB
  // torchvision: T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])(T.ToTensor()(x[None]))
  // Keras: keras.applications.imagenet_utils.preprocess_input(x.astype("float32"), mode="tf" or "caffe")
  const std::vector<std::uint8_t> pixels{0, 128, 255, 7, 90, 200};
  const std::vector<std::int32_t> labels{0};
  DatasetInfo info;
  info.sample_shape = {3, 1, 2};
  const auto check = [&](const char* name, const std::vector<float>& expected) {
    INFO(name);
    const BatchLoader loader({pixels, labels}, info.sample_shape, normalization_from(name, info));
    std::vector<float> samples(6);
    loader.load(std::vector<std::uint32_t>{0}, samples, {});
    for (std::size_t i = 0; i < 6; ++i) CHECK(samples[i] == Approx(expected[i]).epsilon(2e-6));
  };
  check("imagenet", {-2.1179039F, -1.9980307F, 0.20518219F, -0.46008399F, 2.6400001F, 1.6813945F});
  check("keras-tf", {-1, -0.94509804F, 0.0039216280F, -0.29411763F, 1, 0.56862748F});
  check("keras-caffe", {151.061F, 96.061F, 11.221F, -26.779F, -123.68F, -116.68F});
}

TEST_CASE("reading or writing beyond the end is refused in every build") {
  const Held held(3, Shape{2, 4, 5});
  const Normalization two{{1, 1}, {0, 0}};
  CHECK_THAT(error_of([&] {
               BatchLoader(held.split(), Shape{2, 4, 5}, {{1}, {0}});
             }),
             Contains("have 2 channels, but the normalization has 1"));
  CHECK_THAT(error_of([&] {
               BatchLoader(held.split(), Shape{2, 4, 6}, two);
             }),
             Contains("a sample for each label"));
  const BatchLoader loader(held.split(), Shape{2, 4, 5}, two);
  std::vector<float> samples(2 * 40);
  const std::vector<std::uint32_t> beyond{0, 3}, many{0, 1, 2};
  CHECK_THAT(error_of([&] { loader.load(beyond, samples, {}); }),
             Contains("a sample id lies within the split"));
  CHECK_THAT(error_of([&] { loader.load(many, samples, {}); }), Contains("room for the samples"));
}

TEST_CASE("every byte becomes x / 255") {
  Held held(1, Shape{1, 16, 16});
  for (std::size_t i = 0; i < 256; ++i) held.samples[i] = static_cast<std::uint8_t>(i);
  const BatchLoader loader(held.split(), Shape{1, 16, 16},
                           normalization_from("unit", info_of(Shape{1, 16, 16})));
  std::vector<float> samples(256);
  loader.load(std::vector<std::uint32_t>{0}, samples, {});
  for (std::size_t i = 0; i < 256; ++i) {
    CHECK(samples[i] == Approx(static_cast<double>(i) / 255).epsilon(1e-7));
  }
  CHECK(samples[0] == 0);
  CHECK(samples[255] == 1);
}

TEST_CASE("tokens are gathered as they are") {
  const std::vector<std::int32_t> held = example_tokens(20, 6);
  const std::vector<std::int32_t> labels = example_labels(20);
  const BatchLoader loader({held, labels}, Shape{6}, {});
  CHECK(loader.sample_type() == SampleType::kInt32);
  const std::vector<std::uint32_t> ids{19, 0, 7, 7};
  std::vector<std::int32_t> tokens(4 * 6);
  std::vector<std::int32_t> loaded(4);
  loader.load_tokens(ids, tokens, loaded);
  for (std::size_t n = 0; n < 4; ++n) {
    CHECK(loaded[n] == labels[ids[n]]);
    for (std::size_t v = 0; v < 6; ++v) CHECK(tokens[6 * n + v] == held[6 * ids[n] + v]);
  }
  std::vector<std::int32_t> again(4 * 6);
  loader.load_tokens(ids, again, {});
  CHECK(again == tokens);
}

TEST_CASE("weights belong to the samples, and are 1 if the dataset has none") {
  const std::vector<float> held = example_numbers(20, Shape{4});
  const std::vector<std::int32_t> labels = example_labels(20);
  const std::vector<float> weights = example_weights(20);
  const Normalization none = normalization_from("none", typed_info(SampleType::kFloat32, Shape{4}));
  const std::vector<std::uint32_t> ids{19, 0, 7, 7};
  std::vector<float> loaded(5, -1.0F);
  BatchLoader({held, labels, weights}, Shape{4}, none).load_weights(ids, loaded);
  CHECK(loaded == std::vector<float>{9.5F, 0, 3.5F, 3.5F, -1});
  BatchLoader({held, labels}, Shape{4}, none).load_weights(ids, loaded);
  CHECK(loaded == std::vector<float>{1, 1, 1, 1, -1});
}
