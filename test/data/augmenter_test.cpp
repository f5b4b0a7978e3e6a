#include "convoke/data/augmenter.hpp"

#include "convoke/core/random.hpp"
#include "convoke/data/batch_loader.hpp"
#include "data/augment/augmentation.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::data;

namespace {

constexpr std::int64_t kSide = 16;
const Shape kShape{3, kSide, kSide};
constexpr std::size_t kSize = 3 * kSide * kSide;

/// Noise; sample i has label i % 5.
struct Pictures {
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;

  explicit Pictures(std::size_t count) {
    RandomStream random({1, Purpose::kBench, 0, 0});
    for (std::size_t i = 0; i < count * kSize; ++i)
      samples.push_back(static_cast<std::uint8_t>(random.next_word()));
    for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int32_t>(i % 5));
  }
  BatchLoader loader(const AugmentOptions& options) const {
    return {{samples, labels},
            kShape,
            normalization(),
            std::make_shared<const Augmenter>(options, kShape, SampleType::kUint8)};
  }
  static Normalization normalization() { return {{1 / 255.0F, 1 / 128.0F, 1 / 64.0F}, {0, -1, 0.5F}}; }
};

/// The contents of a loaded micro-batch.
struct MicroBatch {
  std::vector<float> samples, share, second_weights;  // the weight of a sample is its id
  std::vector<std::int32_t> labels, second;
};

MicroBatch load(const BatchLoader& loader, const std::vector<std::uint32_t>& ids, ViewKey view) {
  MicroBatch micro_batch;
  micro_batch.samples.resize(ids.size() * kSize);
  micro_batch.share.resize(ids.size());
  micro_batch.labels.resize(ids.size());
  micro_batch.second.resize(ids.size());
  micro_batch.second_weights.assign(ids.begin(), ids.end());
  loader.load(ids, micro_batch.samples,
              {micro_batch.labels, micro_batch.second, micro_batch.share, micro_batch.second_weights}, view);
  return micro_batch;
}

std::vector<float> picture(const MicroBatch& micro_batch, std::size_t i) {
  return {micro_batch.samples.begin() + static_cast<std::ptrdiff_t>(i * kSize),
          micro_batch.samples.begin() + static_cast<std::ptrdiff_t>((i + 1) * kSize)};
}

/// Draws the change of one sample of kShape.
Change drawn(const AugmentOptions& options, std::uint64_t sample) {
  RandomStream random({1, Purpose::kAugment, 0, sample});
  Change change;
  for (const Augmentation& augmentation : augmentations())
    if (augmentation.wanted(options)) augmentation.draw(options, kShape, random, change);
  return change;
}

AugmentOptions everything() {
  AugmentOptions options;
  options.random_crop = 2;
  options.random_resized_crop = {0.5, 1};
  options.rotation_range = 20;
  options.width_shift_range = {0.1};
  options.height_shift_range = {2};
  options.shear_range = 5;
  options.zoom_range = {0.9, 1.1};
  options.horizontal_flip = options.vertical_flip = true;
  options.channel_shift_range = 10;
  options.brightness_range = options.contrast_range = options.saturation_range = {0.8, 1.2};
  options.hue_range = 0.05;
  options.randaugment = 2;
  options.cutout = 4;
  return options;
}

}  // namespace

TEST_CASE("a view depends only on seed, epoch and sample") {
  const Pictures pictures(12);
  const BatchLoader loader = pictures.loader(everything());
  const MicroBatch micro_batch = load(loader, {3, 7, 1, 9}, {.seed = 5, .epoch = 2});
  const MicroBatch other = load(loader, {9, 3}, {.seed = 5, .epoch = 2, .micro_batch = 2});
  CHECK(picture(micro_batch, 3) == picture(other, 0));
  CHECK(picture(micro_batch, 0) == picture(other, 1));
  CHECK(picture(load(loader, {3}, {.seed = 5, .epoch = 3}), 0) != picture(micro_batch, 0));
  CHECK(picture(load(loader, {3}, {.seed = 6, .epoch = 2}), 0) != picture(micro_batch, 0));
  const std::vector<std::uint32_t> again{1};
  CHECK(picture(load(loader, {3}, {.seed = 5, .epoch = 2, .repeats = again}), 0) != picture(micro_batch, 0));
}

TEST_CASE("a loader without a view loads plain samples, a loader in a view loads that view") {
  const Pictures pictures(4);
  const BatchLoader loader = pictures.loader(everything());
  const BatchLoader plain({pictures.samples, pictures.labels}, kShape, Pictures::normalization());
  const std::vector<std::uint32_t> ids{2, 0};
  std::vector<float> a(2 * kSize), b(2 * kSize);
  loader.load(ids, a, {});
  plain.load(ids, b, {});
  CHECK(a == b);
  loader.in_view({.seed = 1, .epoch = 4}).load(ids, a, {});
  CHECK(a == load(loader, ids, {.seed = 1, .epoch = 4}).samples);
  CHECK(a != b);
}

TEST_CASE("an augmenter without augmentations changes nothing") {
  const Pictures pictures(2);
  const BatchLoader plain({pictures.samples, pictures.labels}, kShape, Pictures::normalization());
  std::vector<float> as_it_is(2 * kSize);
  plain.load(std::vector<std::uint32_t>{0, 1}, as_it_is, {});
  CHECK(load(pictures.loader({}), {0, 1}, {.seed = 1}).samples == as_it_is);
}

TEST_CASE("a reversed order of channels applies after the augmentation") {
  const Pictures pictures(2);
  const Normalization normalization = Pictures::normalization();
  Normalization reversed = normalization;
  reversed.reversed = true;
  const Augmenter augmenter(everything(), kShape, SampleType::kUint8);
  std::vector<float> plain(kSize), turned(kSize);
  augmenter.picture(pictures.samples.data(), {.seed = 5}, 0, normalization, plain.data());
  augmenter.picture(pictures.samples.data(), {.seed = 5}, 0, reversed, turned.data());
  constexpr std::size_t kPlane = kSize / 3;
  for (std::size_t i = 0; i < kSize; ++i) CHECK(turned[(2 - i / kPlane) * kPlane + i % kPlane] == plain[i]);
}

TEST_CASE("brightness is the same within the warp and as a separate pass") {
  const Pictures pictures(6);
  AugmentOptions both;
  both.rotation_range = 30;
  both.brightness_range = {0.5, 1.5};
  AugmentOptions with_more = both;  // an added change without effect makes brightness a separate pass
  with_more.contrast_range = {1, 1.0000001};
  const std::vector<std::uint32_t> ids{0, 1, 2, 3, 4, 5};
  const MicroBatch fused = load(pictures.loader(both), ids, {.seed = 3});
  const MicroBatch apart = load(pictures.loader(with_more), ids, {.seed = 3});
  for (std::size_t i = 0; i < fused.samples.size(); ++i)
    CHECK(fused.samples[i] == Approx(apart.samples[i]).margin(2e-4));
}

TEST_CASE("drawn values stay in their range and reach its ends") {
  AugmentOptions options;
  options.width_shift_range = {3};      // whole pixels, -2 .. 2
  options.height_shift_range = {0.25};  // of 16 pixels: any number in -4 .. 4
  std::set<double> columns;
  double least = 0, largest = 0;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const Change change = drawn(options, sample);
    columns.insert(change.map.x0);
    least = std::min(least, change.map.y0);
    largest = std::max(largest, change.map.y0);
    REQUIRE((change.map.xx == 1 && change.map.yy == 1 && change.map.yx == 0));
  }
  CHECK(columns == std::set<double>{-2, -1, 0, 1, 2});
  CHECK((least >= -4 && least < -3.9 && largest < 4 && largest > 3.9));
}

TEST_CASE("half of the images are flipped, a quarter both ways") {
  AugmentOptions options;
  options.horizontal_flip = options.vertical_flip = true;
  int across = 0, down = 0, both = 0;
  constexpr int kSamples = 4000;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    const Change change = drawn(options, sample);
    across += change.map.xx < 0 ? 1 : 0;
    down += change.map.yy < 0 ? 1 : 0;
    both += change.map.xx < 0 && change.map.yy < 0 ? 1 : 0;
  }
  const double deviation = std::sqrt(kSamples * 0.25);
  CHECK(std::abs(across - kSamples / 2) < 4 * deviation);
  CHECK(std::abs(down - kSamples / 2) < 4 * deviation);
  CHECK(std::abs(both - kSamples / 4) < 4 * deviation);
}

TEST_CASE("a resized crop takes a part of the wanted area and ratio, within the image") {
  AugmentOptions options;
  options.random_resized_crop = {0.2, 0.6};
  for (std::uint64_t sample = 0; sample < 500; ++sample) {
    RandomStream random({1, Purpose::kAugment, 0, sample});
    Change change;
    const Shape image{3, 100, 80};
    augmentations()[0].draw(options, image, random, change);
    const double height = change.map.yy * 100, width = change.map.xx * 80;
    CHECK((height * width > 0.2 * 8000 * 0.95 && height * width < 0.6 * 8000 * 1.05));
    CHECK((width / height > 0.74 * 0.97 && width / height < 1.34 * 1.03));
    const double top = change.map.y0 + 0.5 - change.map.yy / 2,
                 left = change.map.x0 + 0.5 - change.map.xx / 2;
    CHECK((top > -1e-9 && top + height < 100 + 1e-9 && left > -1e-9 && left + width < 80 + 1e-9));
  }
}

TEST_CASE("cut-out sets a square to 0 and cuts it off at the edges") {
  const Pictures pictures(64);
  AugmentOptions options;
  options.cutout = 6;
  std::vector<std::uint32_t> ids(64);
  std::iota(ids.begin(), ids.end(), 0U);
  const std::vector<std::uint8_t> white(64 * kSize, 255);
  const BatchLoader loader({white, pictures.labels}, kShape, {{1, 1, 1}, {0, 0, 0}},
                           std::make_shared<const Augmenter>(options, kShape, SampleType::kUint8));
  const MicroBatch micro_batch = load(loader, ids, {.seed = 1});
  int whole = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::vector<float> image = picture(micro_batch, i);
    const auto holes = std::count(image.begin(), image.end(), 0.0F);
    CHECK((holes % 3 == 0 && holes <= 3 * 36 && holes >= 3 * 9));
    whole += holes == 3 * 36 ? 1 : 0;
  }
  CHECK(whole > 10);
  const Box box = box_around(1, 15, 6, 6, kShape);
  CHECK((box.top == 0 && box.bottom == 4 && box.left == 12 && box.right == 16));
}

TEST_CASE("mixup blends pairs of samples of a micro-batch and their labels by one share") {
  const Pictures pictures(10);
  AugmentOptions options;
  options.mixup = 0.4;
  const std::vector<std::uint32_t> ids{4, 8, 2, 7, 5, 0, 1};  // micro-batches of 3, 3 and 1
  const MicroBatch plain = load(pictures.loader({}), ids, {.seed = 9, .micro_batch = 3});
  const MicroBatch mixed = load(pictures.loader(options), ids, {.seed = 9, .micro_batch = 3});
  const std::size_t partner[] = {2, 1, 0, 5, 4, 3, 6};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    INFO(i);
    CHECK(mixed.labels[i] == pictures.labels[ids[i]]);
    CHECK(mixed.second[i] == pictures.labels[ids[partner[i]]]);
    CHECK(mixed.second_weights[i] == static_cast<float>(ids[partner[i]]));
    CHECK(mixed.share[i] == mixed.share[partner[i]]);
    if (partner[i] == i) CHECK(mixed.share[i] == 1);
    const std::vector<float> own = picture(plain, i), other = picture(plain, partner[i]),
                             got = picture(mixed, i);
    for (std::size_t k = 0; k < kSize; ++k)
      CHECK(got[k] == Approx(mixed.share[i] * own[k] + (1 - mixed.share[i]) * other[k]).margin(1e-5));
  }
  CHECK(mixed.share[0] != mixed.share[3]);
}

TEST_CASE("cutmix swaps a box whose area is the other sample's share") {
  const Pictures pictures(40);
  AugmentOptions options;
  options.cutmix = 1;
  std::vector<std::uint32_t> ids(40);
  std::iota(ids.begin(), ids.end(), 0U);
  const MicroBatch plain = load(pictures.loader({}), ids, {.seed = 2, .micro_batch = 8});
  const MicroBatch mixed = load(pictures.loader(options), ids, {.seed = 2, .micro_batch = 8});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t partner = i / 8 * 8 + 7 - i % 8;
    const std::vector<float> own = picture(plain, i), other = picture(plain, partner),
                             got = picture(mixed, i);
    std::size_t taken = 0;
    for (std::size_t k = 0; k < kSize; ++k) {
      const bool from_other = got[k] == other[k] && own[k] != other[k];
      CHECK((from_other || got[k] == own[k]));
      taken += from_other ? 1 : 0;
    }
    // About three of 768 values are equal in both by chance.
    CHECK(static_cast<double>(taken) / kSize == Approx(1 - mixed.share[i]).margin(0.02));
  }
}

TEST_CASE("shares of mixup follow a beta distribution") {
  // Beta(a, a) has mean 1/2 and variance 1 / (4 (2 a + 1)).
  const std::vector<std::uint8_t> pixels(2, 0);
  const std::vector<std::int32_t> labels{0, 1};
  for (const double alpha : {1e-300, 1e-9, 1e-3, 0.2, 1.0, 4.0}) {
    AugmentOptions options;
    options.mixup = alpha;
    const Augmenter augmenter(options, Shape{1, 1, 1}, SampleType::kUint8);
    double sum = 0, squares = 0;
    constexpr int kPairs = 4000;
    for (std::uint32_t epoch = 0; epoch < kPairs; ++epoch) {
      std::vector<float> pictures(2), share(2);
      std::vector<std::int32_t> own = labels, second(2);
      augmenter.mix({.seed = 1, .epoch = epoch, .micro_batch = 2}, std::vector<std::uint32_t>{0, 1}, pictures,
                    {own, second, share});
      const double x = static_cast<double>(share[0]) - 0.5;
      sum += x;
      squares += x * x;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    CHECK(std::abs(sum / kPairs) < 4 * std::sqrt(variance / kPairs));
    CHECK(squares / kPairs == Approx(variance).epsilon(0.1));
  }
}

TEST_CASE("augmented pictures show the network's input in pixels") {
  const Pictures pictures(6);
  AugmentOptions options;
  options.rotation_range = 20;
  options.contrast_range = {0.5, 1.5};
  options.mixup = 0.3;
  const auto augmenter = std::make_shared<const Augmenter>(options, kShape, SampleType::kUint8);
  const std::vector<std::uint32_t> ids{5, 0, 3};
  const ViewKey view{.seed = 4, .epoch = 1, .micro_batch = 3};
  const std::vector<std::uint8_t> found =
      augmented_pictures({pictures.samples, pictures.labels}, kShape, augmenter, ids, view);
  const MicroBatch seen = load(pictures.loader(options), ids, view);
  const Normalization normalization = Pictures::normalization();
  REQUIRE(found.size() == 3 * kSize);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t sample = i / kSize, pixel = i % kSize / 3, c = i % 3;
    const float value = (seen.samples[sample * kSize + c * kSize / 3 + pixel] - normalization.shift[c]) /
                        normalization.scale[c];
    CHECK(std::abs(static_cast<float>(found[i]) - value) < 0.51F);
  }
}

TEST_CASE("augmentation needs images, and changes of color need images of 8 bits") {
  AugmentOptions flip, color;
  flip.horizontal_flip = true;
  color.hue_range = 0.1;
  CHECK_THAT(error_of([&] { Augmenter(flip, Shape{7}, SampleType::kFloat32); }), Contains("for images"));
  CHECK_THAT(error_of([&] { Augmenter(color, kShape, SampleType::kFloat32); }), Contains("changes colors"));
  AugmentOptions filled;
  for (const float value : {-1.0F, 300.0F}) {
    filled.fill = {FillMode::kConstant, value};
    CHECK_THAT(error_of([&] { Augmenter(filled, kShape, SampleType::kUint8); }), Contains("are 0 to 255"));
    CHECK(error_of([&] { Augmenter(filled, kShape, SampleType::kFloat32); }).empty());
  }
  const std::vector<float> numbers{1, 2, 3, 4};
  const std::vector<std::int32_t> label{0};
  bool flipped = false;
  for (std::uint32_t epoch = 0; epoch < 8; ++epoch) {
    const BatchLoader loader({std::span(numbers), label}, Shape{1, 2, 2}, {{1}, {0}},
                             std::make_shared<const Augmenter>(flip, Shape{1, 2, 2}, SampleType::kFloat32));
    std::vector<float> out(4);
    loader.in_view({.epoch = epoch}).load(std::vector<std::uint32_t>{0}, out, {});
    flipped = flipped || out == std::vector<float>{2, 1, 4, 3};
    CHECK((out == numbers || out == std::vector<float>{2, 1, 4, 3}));
  }
  CHECK(flipped);
}
