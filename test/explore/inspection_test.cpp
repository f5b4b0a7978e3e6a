#include "convoke/explore/inspection.hpp"

#include "convoke/core/random.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/hdf5/file.hpp"
#include "data/typed_example.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::explore;

namespace {

/// 60 training and 30 test images of 4 x 6 pixels in three classes; the last class has no test sample. Test
/// image 3 equals training image 7; training image 20 equals training image 10 with another label.
struct Images {
  static constexpr std::int64_t kPixels = 24;
  TemporaryFolder folder;
  std::vector<std::uint8_t> train, test;
  std::vector<std::int32_t> train_labels, test_labels;

  Images() {
    for (std::uint64_t i = 0; i < 60; ++i) add(i, static_cast<std::int32_t>(i % 3), train, train_labels);
    for (std::uint64_t i = 0; i < 30; ++i) add(100 + i, static_cast<std::int32_t>(i % 2), test, test_labels);
    std::copy_n(train.begin() + 7 * kPixels, kPixels, test.begin() + 3 * kPixels);
    test_labels[3] = train_labels[7];
    std::copy_n(train.begin() + 10 * kPixels, kPixels, train.begin() + 20 * kPixels);
  }
  static void add(std::uint64_t i, std::int32_t label, std::vector<std::uint8_t>& to,
                  std::vector<std::int32_t>& labels) {
    RandomStream random({5, Purpose::kBench, 0, i});
    for (std::int64_t p = 0; p < kPixels; ++p) {
      to.push_back(static_cast<std::uint8_t>(random.below(80) + (p % 3 == label ? 150 : 0)));
    }
    labels.push_back(label);
  }
  fs::path write(std::int64_t shards = 0) const {
    data::DatasetInfo info;
    info.sample_shape = Shape{1, 4, 6};
    info.classes = 3;
    std::vector<data::SplitSize> sizes{{"test", 30}, {"train", 60}};
    if (shards > 0) {
      for (auto& size : sizes) size.shards = shards;
    }
    const auto file = folder / (shards > 0 ? "shards" + std::to_string(shards) : "images.h5");
    auto writer = data::DatasetWriter::create(file, info, sizes);
    writer.write("train", 0, train, train_labels);
    writer.write("test", 0, test, test_labels);
    writer.finish();
    return file;
  }
};

InspectionOptions quick() {
  InspectionOptions options;
  options.mapped = 40;
  return options;
}

}  // namespace

TEST_CASE("an inspection counts and measures the same as slow loops, and finds equal samples") {
  const Images images;
  const Inspection found = inspect(data::DatasetReader(images.write()), quick());
  REQUIRE(found.survey.splits.size() == 2);
  CHECK(found.survey.splits[0].name == "train");
  CHECK(found.survey.splits[0].class_counts == std::vector<std::int64_t>{20, 20, 20});
  CHECK(found.survey.splits[1].class_counts[2] == 0);

  double sum = 0, squares = 0;
  for (const std::uint8_t v : images.train) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double n = static_cast<double>(images.train.size()), mean = sum / n;
  CHECK_THAT(found.survey.splits[0].channels[0].mean, WithinAbs(mean, 1e-9));
  CHECK_THAT(found.survey.splits[0].channels[0].deviation,
             WithinAbs(std::sqrt(squares / n - mean * mean), 1e-9));
  CHECK(found.survey.histograms[0].counts[images.train[0]] ==
        std::count(images.train.begin(), images.train.end(), images.train[0]));

  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t p = 0; p < Images::kPixels; ++p) {
      double total = 0;
      for (std::int64_t i = s; i < 60; i += 3)
        total += images.train[static_cast<std::size_t>(i * Images::kPixels + p)];
      CHECK_THAT(found.survey.class_means(s, p), WithinAbs(total / 20, 1e-9));
    }
  }
  CHECK(found.survey.brightness[1].count == 20);
  CHECK(found.correlations.rows == 3);

  // Equal samples are found within and across splits. Pairs with two labels come first.
  CHECK(found.duplicates.repeated == 2);
  CHECK(found.duplicates.contradictory == 1);
  CHECK(found.duplicates.leak());
  CHECK(found.duplicates.between == std::vector<std::vector<std::int64_t>>{{1, 1}, {0, 0}});
  REQUIRE(found.duplicates.examples.size() == 2);
  CHECK(found.duplicates.examples[0].first == SampleIndex{0, 10});
  CHECK(found.duplicates.examples[0].second == SampleIndex{0, 20});
  CHECK(found.duplicates.examples[1].first == SampleIndex{0, 7});
  CHECK(found.duplicates.examples[1].second == SampleIndex{1, 3});
  for (const NearPair& pair : found.near_pairs) CHECK(pair.first.values != pair.second.values);
}

TEST_CASE("texts of the same words in another order are near, not equal; vectors of zeros are not near") {
  const TemporaryFolder folder;
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kInt32;
  info.sample_shape = Shape{3};
  info.classes = 2;
  auto writer = data::DatasetWriter::create(folder / "texts.h5", info, {{"train", 5}});
  writer.write("train", 0, std::vector<std::int32_t>{1, 2, 3, 3, 2, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0},
               std::vector<std::int32_t>(5, 0));
  writer.finish();
  const Inspection found = inspect(data::DatasetReader(folder / "texts.h5"), quick());
  REQUIRE(found.near_pairs.size() >= 2);
  CHECK(found.near_pairs[0].distance == 0);
  CHECK(found.near_pairs[0].second.at == SampleIndex{0, 1});
  CHECK(found.near_pairs[1].first.at == SampleIndex{0, 1});
  CHECK(found.near_pairs[1].second.at == SampleIndex{0, 2});
  for (std::size_t i = 2; i < found.near_pairs.size(); ++i) CHECK(found.near_pairs[i].distance > 0);

  info.sample_type = data::SampleType::kFloat32;
  info.sample_shape = Shape{1};  // constant in train, so its standardized values are 0
  auto constant = data::DatasetWriter::create(folder / "constant.h5", info, {{"train", 2}, {"test", 2}});
  constant.write("train", 0, std::vector<float>{5, 5}, std::vector<std::int32_t>{0, 0});
  constant.write("test", 0, std::vector<float>{6, 7}, std::vector<std::int32_t>{0, 0});
  constant.finish();
  CHECK(inspect(data::DatasetReader(folder / "constant.h5"), quick()).near_pairs.empty());
}

TEST_CASE("histograms of original sizes have bins of a whole width, from the smallest size") {
  const TemporaryFolder folder;
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kInt32;
  info.sample_shape = Shape{2};
  info.classes = 2;
  auto writer = data::DatasetWriter::create(folder / "texts.h5", info, {{"train", 2, false, true}});
  writer.write("train", 0, std::vector<std::int32_t>{1, 2, 3, 4}, std::vector<std::int32_t>{0, 0}, {},
               std::vector<std::int32_t>{100, 1, 199, 1});
  writer.finish();
  const Inspection found = inspect(data::DatasetReader(folder / "texts.h5"), quick());
  REQUIRE(found.originals.size() == 1);
  CHECK(found.originals[0].histogram.begin == 100);
  CHECK(found.originals[0].histogram.width == 3);
}

TEST_CASE("a class without training samples has no mean, and no correlation with others") {
  Images images;
  for (std::int32_t& label : images.train_labels) label = std::max(label, 1);
  const Inspection found = inspect(data::DatasetReader(images.write()), quick());
  CHECK(found.survey.shown_classes.size() == 3);
  CHECK(found.survey.known_means() == std::vector<std::int64_t>{1, 2});
  CHECK(found.correlations.rows == 2);
}

TEST_CASE("different samples with equal checksums are not duplicates") {
  const Images images;
  const data::DatasetReader reader(images.write());
  const std::vector<std::vector<std::uint32_t>> alike{std::vector<std::uint32_t>(60, 7),
                                                      std::vector<std::uint32_t>(30, 7)};
  const Duplicates found = find_duplicates(reader, alike, 5);
  CHECK(found.repeated == 2);
  CHECK(found.between[0][1] == 1);
}

TEST_CASE("inspecting a folder of shards equals inspecting the file; equal seeds give equal findings") {
  const Images images;
  InspectionOptions options = quick();
  options.sample = 50;
  const Inspection one = inspect(data::DatasetReader(images.write()), options);
  const Inspection two = inspect(data::DatasetReader(images.write(3)), options);
  CHECK(one.comparison.samples == two.comparison.samples);
  CHECK(one.comparison.tsne.values == two.comparison.tsne.values);
  CHECK(one.duplicates.between == two.duplicates.between);
  CHECK(one.survey.class_means.values == two.survey.class_means.values);
  options.seed = 1;
  CHECK(inspect(data::DatasetReader(images.write(4)), options).comparison.samples != one.comparison.samples);
}

TEST_CASE("one sample, and equal samples, can be inspected") {
  const TemporaryFolder folder;
  for (const std::int64_t count : {1, 25}) {
    for (const auto type : {data::SampleType::kUint8, data::SampleType::kFloat32, data::SampleType::kInt32}) {
      CAPTURE(count, data::name_of(type));
      data::DatasetInfo info;
      info.sample_type = type;
      info.sample_shape = type == data::SampleType::kUint8 ? Shape{2, 3, 4} : Shape{6};
      info.classes = 2;
      const auto file = folder / (std::string(data::name_of(type)) + std::to_string(count) + ".h5");
      auto writer = data::DatasetWriter::create(file, info, {{"all", count}});
      const auto values = static_cast<std::size_t>(count * info.sample_shape.elements());
      const std::vector<std::int32_t> labels(static_cast<std::size_t>(count), 1);
      if (type == data::SampleType::kUint8)
        writer.write("all", 0, std::vector<std::uint8_t>(values, 9), labels);
      if (type == data::SampleType::kInt32)
        writer.write("all", 0, std::vector<std::int32_t>(values, 0), labels);
      if (type == data::SampleType::kFloat32)
        writer.write("all", 0, std::vector<float>(values, 0.1F), labels);
      writer.finish();
      const Inspection found = inspect(data::DatasetReader(file), quick());
      CHECK(found.duplicates.repeated == count - 1);
      CHECK(found.comparison.pca.variance.empty());
      for (const double value : found.comparison.tsne.values) CHECK(std::isfinite(value));
      for (const double value : found.correlations.values) CHECK(std::isfinite(value));
      CHECK(found.near_pairs.empty());
      CHECK(found.far.empty());
    }
  }
}

TEST_CASE("words and features have the names that the preparation gives them") {
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kInt32;
  info.sample_shape = Shape{4};
  CHECK(names_of(info, "a.h5").words.empty());
  info.preparation = R"({"kind": "text", "vocabulary": ["", "<unk>", "good"]})";
  CHECK(names_of(info, "a.h5").words == std::vector<std::string>{"", "<unk>", "good"});
  info.sample_type = data::SampleType::kFloat32;
  info.sample_shape = Shape{3};
  info.preparation =
      R"({"kind": "table", "columns": [{"name": "age", "center": 1.5}, {"name": "sex", "categories": ["f", "m"]}]})";
  CHECK(names_of(info, "a.h5").features == std::vector<std::string>{"age", "sex=f", "sex=m"});
  info.sample_shape = Shape{2};
  CHECK(names_of(info, "a.h5").features.empty());
  info.preparation = "{";
  CHECK_THAT(error_of([&] { names_of(info, "a.h5"); }), Contains("a.h5: preparation: not valid JSON"));
}

TEST_CASE("a file that is not a dataset, is truncated or has invalid values is refused with its name") {
  const Images images;
  const auto file = images.write();
  const auto open_error = [](const fs::path& path) {
    return error_of([&] { data::DatasetReader reader(path); });
  };
  CHECK_THAT(open_error(images.folder / "none.h5"), Contains("none.h5"));
  std::ofstream(images.folder / "text.h5") << "not a dataset";
  CHECK_THAT(open_error(images.folder / "text.h5"), Contains("text.h5") && Contains("HDF5"));
  hdf5::File::create(images.folder / "other.h5").close();
  CHECK_THAT(open_error(images.folder / "other.h5"), Contains("not a Convoke dataset"));
  fs::resize_file(file, fs::file_size(file) - 100);
  CHECK_THAT(open_error(file), Contains("images.h5") && Contains("truncated"));

  foreign(images.folder / "nan.h5", hdf5::ElementType::kFloat32, Shape{2, 2},
          std::vector<float>{1, 2, 3, NAN})
      .close();
  CHECK_THAT(error_of([&] { inspect(data::DatasetReader(images.folder / "nan.h5"), quick()); }),
             Contains("nan.h5: /train/samples: sample 1 has the value nan"));
}

TEST_CASE("correlations between pixels, normality and rebuilt samples are those of the samples") {
  const Images images;
  InspectionOptions options;
  options.sample = 1000;
  const Inspection found = inspect(data::DatasetReader(images.write()), options);
  REQUIRE(found.comparison.pixels.height == 4);
  REQUIRE(found.comparison.pixels.width == 6);
  const Matrix& correlations = found.comparison.pixels.correlations;
  REQUIRE(correlations.rows == 24);

  // By hand, of pixels 0 and 3, which are bright in the same class, and 0 and 1, which are not.
  const auto correlation = [&](std::size_t a, std::size_t b) {
    std::vector<double> x, y;
    for (const auto* split : {&images.train, &images.test}) {
      for (std::size_t i = 0; i < split->size(); i += Images::kPixels)
        x.push_back((*split)[i + a]), y.push_back((*split)[i + b]);
    }
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      mx += x[i] / static_cast<double>(x.size()), my += y[i] / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      xx += (x[i] - mx) * (x[i] - mx), yy += (y[i] - my) * (y[i] - my), xy += (x[i] - mx) * (y[i] - my);
    return xy / std::sqrt(xx * yy);
  };
  CHECK(correlations(0, 3) > 0.5);
  CHECK_THAT(correlations(0, 3), WithinAbs(correlation(0, 3), 1e-9));
  CHECK(correlations(0, 1) < 0);
  CHECK_THAT(correlations(0, 1), WithinAbs(correlation(0, 1), 1e-9));

  REQUIRE(found.normality.size() == 1);
  const std::vector<double> values(images.train.begin(), images.train.end());
  CHECK(found.normality[0].count == 60 * 24);
  CHECK_THAT(found.normality[0].statistic, WithinAbs(normality(values).statistic, 1e-6));
  CHECK(found.comparison.originals.rows == std::ssize(found.comparison.rebuilt));
}
