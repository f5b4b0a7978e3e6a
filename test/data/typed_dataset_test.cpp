// Datasets of numbers and tokens, and weights; dataset_test.cpp tests images of 8 bits.
#include <cstring>

#include "convoke/data/dataset.hpp"
#include "opening.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;
namespace hdf5 = convoke::hdf5;

TEST_CASE("numbers of every rank come back as written, with weights") {
  // Golden values: NumPy on the arrays of typed_example.hpp.
  //   v = numbers(10).reshape(-1, last axis); v.mean(0, dtype="f8"), v.std(0, dtype="f8")
  //   for n in 10, 4: for a in numbers(n), labels(n), weights(n): h = zlib.crc32(a.tobytes(), h)
  struct Example {
    Shape seen;
    const char* hash;
    std::vector<double> mean, deviation;
  };
  const Example example = GENERATE(
      Example{Shape{4},
              "crc32:65e87642",
              {-0.2, 1000.125, 2000.025, 2999.925},
              {1.2031209415515964, 1.1898004034290792, 1.2422258248804845, 1.225}},
      Example{Shape{5, 2}, "crc32:d54326bc", {-0.09, 1000.065}, {1.223478647136925, 1.2173844914405634}},
      Example{Shape{3, 2, 3},
              "crc32:1bd9e51e",
              {-0.029166666666666667, 1000.0125, 1999.9833333333333},
              {1.2231207240315878, 1.2182851677665625, 1.2314174308043921}});
  const TemporaryFolder folder;
  const DatasetInfo written = write_numbers(folder / "x.h5", example.seen);
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train", "test"});
  CHECK(dataset.info().sample_shape == example.seen);
  CHECK(dataset.info().sample_type == SampleType::kFloat32);
  CHECK(dataset.info().content_hash == example.hash);
  CHECK(dataset.info().channel_mean == written.channel_mean);
  CHECK(dataset.info().channel_std == written.channel_std);
  REQUIRE(written.channel_mean.size() == example.mean.size());
  for (std::size_t c = 0; c < example.mean.size(); ++c) {
    CHECK(written.channel_mean[c] == Approx(example.mean[c]).epsilon(1e-12));
    CHECK(written.channel_std[c] == Approx(example.deviation[c]).epsilon(1e-12));
  }
  for (const auto& [name, n] : {std::pair{"train", 10}, std::pair{"test", 4}}) {
    const Split& split = dataset.split(name);
    CHECK(split.count() == n);
    CHECK(split.type() == SampleType::kFloat32);
    CHECK(copy(split.values<float>()) == example_numbers(n, stored_shape(example.seen)));
    CHECK(copy(split.labels) == example_labels(n));
    CHECK(copy(split.weights) == example_weights(n));
    CHECK(split.largest_token == -1);
  }
}

TEST_CASE("tokens come back as written, and the largest of each split is known") {
  const TemporaryFolder folder;
  const std::int64_t vocabulary = GENERATE(0, 11, 20000);
  const DatasetInfo written = write_tokens(folder / "x.h5", vocabulary);
  CHECK(written.content_hash == "crc32:da1d1093");  // as above, without weights
  CHECK(written.channel_mean.empty());
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train", "test"});
  CHECK(dataset.info().sample_shape == Shape{6});
  CHECK(dataset.info().sample_type == SampleType::kInt32);
  CHECK(dataset.info().vocabulary == vocabulary);
  CHECK(dataset.info().channel_mean.empty());
  CHECK(copy(dataset.split("train").values<std::int32_t>()) == example_tokens(10, 6));
  CHECK(copy(dataset.split("test").values<std::int32_t>()) == example_tokens(4, 6));
  CHECK(dataset.split("train").weights.empty());
  CHECK(dataset.split("train").largest_token == 10);

  auto info = typed_info(SampleType::kInt32, Shape{6});
  auto writer = DatasetWriter::create(folder / "one.h5", info, {{"test", 1}});
  writer.write("test", 0, example_tokens(1, 6), example_labels(1));
  writer.finish();
  CHECK(Dataset::open(folder / "one.h5", {"test"}).split("test").largest_token == 5);
}

TEST_CASE("the standard deviation of numbers far from zero, and of a constant, keeps its digits") {
  const TemporaryFolder folder;
  // An outlier, then 400,000 values around 1e6 (several pieces), and a feature that never varies.
  const std::int64_t n = 200001;
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    numbers.push_back(i == 0 ? -3e6F : 1e6F + static_cast<float>(i % 2));
    numbers.push_back(0.1F);
  }
  auto writer =
      DatasetWriter::create(folder / "x.h5", typed_info(SampleType::kFloat32, Shape{2}), {{"train", n}});
  writer.write("train", 0, numbers, std::vector<std::int32_t>(static_cast<std::size_t>(n), 1));
  const DatasetInfo info = writer.finish();
  // mean = (-3e6 + 1e5 (1e6 + 1) + 1e5 1e6) / n, by hand; the standard deviation by its definition.
  const double mean = (-3e6 + 1e5 * (1e6 + 1) + 1e5 * 1e6) / static_cast<double>(n);
  const double spread =
      std::pow(-3e6 - mean, 2) + 1e5 * std::pow(1e6 + 1 - mean, 2) + 1e5 * std::pow(1e6 - mean, 2);
  CHECK(info.channel_mean[0] == Approx(mean).epsilon(1e-13));
  CHECK(info.channel_std[0] == Approx(std::sqrt(spread / static_cast<double>(n))).epsilon(1e-10));
  CHECK(info.channel_std[1] < 1e-12);
}

TEST_CASE("several writers fill one file of numbers and weights, to the same bytes") {
  const TemporaryFolder folder;
  const Shape seen{3, 2, 3};
  write_numbers(folder / "alone.h5", seen);
  {
    const auto info = typed_info(SampleType::kFloat32, seen);
    const std::vector<SplitSize> splits{{"train", 10, true}, {"test", 4, true}};
    auto first = DatasetWriter::create(folder / "shared.h5", info, splits);
    auto second = DatasetWriter::join(folder / "shared.h5", info, splits, first.places());
    const auto part = [&](std::int64_t n, std::int64_t begin, std::int64_t end, DatasetWriter& writer) {
      const auto a = static_cast<std::size_t>(begin);
      const auto count = static_cast<std::size_t>(end - begin);
      const std::vector<float> numbers = example_numbers(n, stored_shape(seen));
      const std::vector<std::int32_t> labels = example_labels(n);
      const std::vector<float> weights = example_weights(n);
      writer.write(n == 10 ? "train" : "test", begin, std::span(numbers).subspan(18 * a, 18 * count),
                   std::span(labels).subspan(a, count), std::span(weights).subspan(a, count));
    };
    part(4, 0, 4, second);
    part(10, 7, 10, second);
    second.flush();
    part(10, 0, 7, first);
    first.finish();
  }
  CHECK(bytes_of(folder / "alone.h5") == bytes_of(folder / "shared.h5"));
  CHECK(bytes_of(folder / "alone.h5").size() > 14 * 18 * 4);
}

TEST_CASE("in shared memory every array begins on its own cache line, and one process fills each part") {
  const TemporaryFolder folder;
  const bool tokens = GENERATE(true, false);
  if (tokens) {
    write_tokens(folder / "x.h5");
  } else {
    write_numbers(folder / "x.h5", Shape{5, 2});
  }
  alignas(64) std::byte window[4096] = {};
  std::size_t asked = 0;
  Storage storage;
  storage.allocate = [&](std::size_t bytes) {
    asked = bytes;
    return std::span(window).first(bytes);
  };
  storage.part = 1;
  storage.parts = 3;
  // Other processes fill the rest; this one waits for them in ready().
  storage.ready = [&] {
    for (const std::int64_t part : {0, 2}) {
      Storage other;
      other.allocate = [&](std::size_t bytes) { return std::span(window).first(bytes); };
      other.part = part;
      other.parts = 3;
      Dataset::open(folder / "x.h5", {"train", "test"}, other);
    }
  };
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train", "test"}, storage);
  CHECK(asked % 64 == 0);
  for (const char* name : {"train", "test"}) {
    const Split& split = dataset.split(name);
    for (const void* array :
         {static_cast<const void*>(bytes_of(split.samples).data()),
          static_cast<const void*>(split.labels.data()), static_cast<const void*>(split.weights.data())}) {
      CHECK(reinterpret_cast<std::uintptr_t>(array) % 64 == 0);
    }
    CHECK(copy(split.labels) == example_labels(split.count()));
    if (tokens) {
      CHECK(copy(split.values<std::int32_t>()) == example_tokens(split.count(), 6));
      CHECK(split.largest_token == 10);
    } else {
      CHECK(copy(split.values<float>()) == example_numbers(split.count(), Shape{5, 2}));
      CHECK(copy(split.weights) == example_weights(split.count()));
    }
  }
}

TEST_CASE("a file of another program needs no statistics, names or hash, and may be compressed") {
  const TemporaryFolder folder;
  const int deflate = GENERATE(0, 6);
  const std::vector<float> numbers = example_numbers(4, Shape{5, 2});
  foreign(folder / "x.h5", hdf5::ElementType::kFloat32, Shape{4, 5, 2}, numbers, deflate).close();
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train"});
  CHECK(copy(dataset.split("train").values<float>()) == numbers);
  CHECK(dataset.info().channel_mean.empty());
  CHECK(dataset.info().class_names.empty());
  CHECK(dataset.info().provenance.empty());
  CHECK(dataset.info().content_hash.empty());

  const std::vector<std::int32_t> tokens = example_tokens(4, 6);
  foreign(folder / "t.h5", hdf5::ElementType::kInt32, Shape{4, 6}, tokens, deflate).close();
  CHECK(copy(Dataset::open(folder / "t.h5", {"train"}).split("train").values<std::int32_t>()) == tokens);
  CHECK(inspect(folder / "t.h5", {"train"}).sample_shape == Shape{6});
}

TEST_CASE("types and shapes that samples cannot have are refused with the valid ones") {
  const TemporaryFolder folder;
  const auto file = folder / "x.h5";
  foreign(file, hdf5::ElementType::kFloat64, Shape{4, 2}, std::vector<double>(8)).close();
  CHECK_THAT(open_error(file), Contains("x.h5: /train/samples: holds float64 of shape (4, 2); samples are "
                                        "uint8 images (N, H, W, C), int32 tokens (N, L), or float32"));
  foreign(file, hdf5::ElementType::kInt64, Shape{4, 2}, std::vector<std::int64_t>(8)).close();
  CHECK_THAT(open_error(file), Contains("holds int64 of shape (4, 2)"));
  foreign(file, hdf5::ElementType::kInt32, Shape{4, 2, 1}, std::vector<std::int32_t>(8)).close();
  CHECK_THAT(open_error(file), Contains("holds int32 of shape (4, 2, 1)"));
  foreign(file, hdf5::ElementType::kFloat32, Shape{4}, std::vector<float>(4)).close();
  CHECK_THAT(open_error(file), Contains("holds float32 of shape (4)"));
  foreign(file, hdf5::ElementType::kFloat32, Shape{4, 1, 1, 1, 1}, std::vector<float>(4)).close();
  CHECK_THAT(open_error(file), Contains("holds float32 of shape (4, 1, 1, 1, 1)"));

  {
    hdf5::File other = foreign(file, hdf5::ElementType::kFloat32, Shape{4, 2}, std::vector<float>(8));
    other.write("test/samples", std::span<const std::int32_t>(example_tokens(4, 2)), Shape{4, 2});
    other.write("test/labels", example_labels(4));
    other.close();
  }
  CHECK(open_error(file).empty());
  CHECK_THAT(
      error_of([&] {
        inspect(file, {"train", "test"});
      }),
      Contains("x.h5: /test/samples: holds int32 samples of shape (2), but split \"train\" holds float32 of "
               "(2)"));
  {
    hdf5::File labels = foreign(file, hdf5::ElementType::kFloat32, Shape{4, 2}, std::vector<float>(8));
    labels.write("test/samples", std::span<const float>(std::vector<float>(8)), Shape{4, 2});
    labels.write("test/labels", std::vector<std::int64_t>(4));
    labels.close();
  }
  CHECK_THAT(error_of([&] { inspect(file, {"test"}); }),
             Contains("x.h5: /test/labels: holds int64 of shape (4); 4 samples need int32 of shape (4)"));
  {
    hdf5::File half = foreign(file, hdf5::ElementType::kFloat32, Shape{4, 2}, std::vector<float>(8));
    half.set_attribute("channel_mean", std::vector<double>{0, 0});
    half.close();
  }
  CHECK_THAT(open_error(file), Contains("needs a mean and a standard deviation for each of its 2 features"));
}

TEST_CASE("invalid values are refused, naming the sample") {
  const TemporaryFolder folder;
  const auto file = folder / "x.h5";
  const auto tokens_error = [&](std::int32_t bad, std::int64_t vocabulary) {
    std::vector<std::int32_t> tokens = example_tokens(4, 6);
    tokens[2 * 6 + 3] = bad;
    hdf5::File made = foreign(file, hdf5::ElementType::kInt32, Shape{4, 6}, tokens);
    if (vocabulary != 0) made.set_attribute("vocabulary", vocabulary);
    made.close();
    return open_error(file);
  };
  CHECK(tokens_error(10, 11).empty());
  CHECK(tokens_error(std::numeric_limits<std::int32_t>::max(), 0).empty());
  CHECK_THAT(tokens_error(-1, 0), Contains("x.h5: /train/samples: sample 2 has token -1 at position 3, but "
                                           "tokens are numbered from 0 (padding)"));
  CHECK_THAT(tokens_error(-1, 11), Contains("sample 2 has token -1 at position 3, outside 0..10"));
  CHECK_THAT(tokens_error(11, 11),
             Contains("sample 2 has token 11 at position 3, outside 0..10 (vocabulary 11)"));
  CHECK_THAT(tokens_error(0, -4), Contains("x.h5: /: has vocabulary -4"));

  const auto number_error = [&](float bad) {
    std::vector<float> numbers = example_numbers(4, Shape{2, 3, 1});
    numbers[3 * 6 + 5] = bad;
    foreign(file, hdf5::ElementType::kFloat32, Shape{4, 2, 3, 1}, numbers).close();
    return open_error(file);
  };
  CHECK(number_error(std::numeric_limits<float>::max()).empty());
  CHECK_THAT(number_error(NAN),
             Contains("x.h5: /train/samples: sample 3 has the value nan at position (1, 2, 0)"));
  CHECK_THAT(number_error(-INFINITY), Contains("sample 3 has the value -inf"));

  const auto weight_error = [&](float bad, std::size_t count = 4) {
    hdf5::File made = foreign(file, hdf5::ElementType::kFloat32, Shape{4, 2}, example_numbers(4, Shape{2}));
    std::vector<float> weights(count, 1.0F);
    weights.back() = bad;
    made.write("train/weights", weights);
    made.close();
    return open_error(file);
  };
  CHECK(weight_error(0).empty());
  CHECK(weight_error(1e30F).empty());
  CHECK_THAT(weight_error(-0.5F), Contains("x.h5: /train/weights: sample 3 has weight -0.5; weights must be "
                                           "finite and at least 0"));
  CHECK_THAT(weight_error(NAN), Contains("sample 3 has weight nan"));
  CHECK_THAT(weight_error(INFINITY), Contains("sample 3 has weight inf"));
  CHECK_THAT(weight_error(1, 3),
             Contains("x.h5: /train/weights: holds float32 of shape (3); 4 samples need"));
}

TEST_CASE("a writer refuses the same values and numbers samples within the split") {
  const TemporaryFolder folder;
  {
    auto info = typed_info(SampleType::kInt32, Shape{6});
    info.vocabulary = 9;
    auto writer = DatasetWriter::create(folder / "t.h5", info, {{"train", 10}});
    CHECK_THAT(error_of([&] { writer.write("train", 5, example_tokens(4, 6), example_labels(4)); }),
               Contains("t.h5: sample 6 of split \"train\" has token 9 at position 2, outside 0..8"));
  }
  {
    auto writer = DatasetWriter::create(folder / "x.h5", typed_info(SampleType::kFloat32, Shape{2}),
                                        {{"train", 10, true}});
    std::vector<float> numbers = example_numbers(2, Shape{2});
    CHECK_THAT(error_of([&] {
                 writer.write("train", 3, numbers, example_labels(2), std::vector<float>{1, -1});
               }),
               Contains("x.h5: sample 4 of split \"train\" has weight -1"));
    numbers[0] = NAN;
    CHECK_THAT(error_of([&] { writer.write("train", 3, numbers, example_labels(2), std::vector<float>(2)); }),
               Contains("x.h5: sample 3 of split \"train\" has the value nan at position 0"));
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("weights change the hash, and images may have them") {
  const TemporaryFolder folder;
  const auto written = [&](const char* name, bool weighted) {
    auto writer = DatasetWriter::create(folder / name, typed_info(SampleType::kUint8, Shape{1, 1, 2}),
                                        {{"train", 2, weighted}});
    const std::vector<float> weights{0.25F, 4};
    writer.write("train", 0, std::vector<std::uint8_t>{1, 2, 3, 4}, example_labels(2),
                 weighted ? std::span<const float>(weights) : std::span<const float>());
    return writer.finish().content_hash;
  };
  CHECK(written("with.h5", true) != written("without.h5", false));
  CHECK(copy(Dataset::open(folder / "with.h5", {"train"}).split("train").weights) ==
        std::vector<float>{0.25F, 4});
  CHECK(Dataset::open(folder / "without.h5", {"train"}).split("train").weights.empty());
}
