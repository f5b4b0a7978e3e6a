// Arrays of HDF5 files; make_hdf5.py made them by h5py, whose numbers are expected.
#include "convoke/data_prep/sources/source_table.hpp"

#include "../idx_files.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/hdf5/file.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;
using convoke::data::SampleType;

TEST_CASE("chunked and compressed images of h5py are read, forward and back") {
  REQUIRE(is_source(kContainers / "images.h5"));
  const auto source = open_source(kContainers / "images.h5");
  CHECK(source->format().shape == Shape{3, 5, 4});
  CHECK(source->format().type == SampleType::kUint8);
  CHECK(labels_of(*source) == Labels{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 2, 1, 1, 0, 2});
  CHECK(source->catalog().items[10].split == "test");
  CHECK(source->catalog().items[10].name == "x_test[0]");
  CHECK_THAT(source->catalog().provenance, Contains("arrays x_train, y_train, x_test, y_test of "));
  for (int i = 0; i < 10; ++i)
    CHECK(values_of<std::uint8_t>(*source, static_cast<std::size_t>(i)) == numbered<std::uint8_t>(i, 60));
  CHECK(values_of<std::uint8_t>(*source, 15) == numbered<std::uint8_t>(5, 60, 600));
  CHECK(values_of<std::uint8_t>(*source, 2) == numbered<std::uint8_t>(2, 60));
}

TEST_CASE("groups may be splits, within other groups") {
  const auto source = open_source(kContainers / "groups.hdf5");
  CHECK(source->format().shape == Shape{4});
  CHECK(source->format().type == SampleType::kFloat32);
  CHECK(labels_of(*source) == Labels{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 2, 1, 1, 0, 2});
  CHECK(source->catalog().items[9].split == "train");
  CHECK(values_of<float>(*source, 12) == numbered<float>(2, 4, 40, 8));
}

TEST_CASE("numbers of any width are converted, and booleans and texts are labels") {
  const auto widths = open_source(kContainers / "widths.h5");
  CHECK(labels_of(*widths) == Labels{0, 0, 1, 1, 0, 0});
  CHECK(values_of<float>(*widths, 5) == numbered<float>(5, 4, 0, 8));
  const auto texts = open_source(kContainers / "texts.h5");
  CHECK(texts->format().shape == Shape{1, 5, 4});
  CHECK(texts->catalog().class_names == Names{"pug", "tabby"});
  CHECK(labels_of(*texts) == Labels{1, 0, 1, 0, 0, 1});
  const auto fixed = open_source(kContainers / "fixed_texts.h5");
  CHECK(fixed->catalog().class_names == Names{"a", "b"});
  CHECK(labels_of(*fixed) == Labels{1, 0, 1, 0, 0, 1});
  CHECK(values_of<std::uint8_t>(*fixed, 3) == numbered<std::uint8_t>(3, 20));
}

TEST_CASE("options name the arrays, and their axes") {
  const SourceOptions names{.columns = {.path = "pixels", .label = "ans"}};
  CHECK_THAT(error_in(kContainers / "other_names.h5"),
             Contains("other_names.h5: no array has a name of samples or labels; it has ans, pixels"));
  CHECK(labels_of(*open_source(kContainers / "other_names.h5", names)) == Labels{0, 2, 1, 1, 0, 2});

  CHECK_THAT(error_in(kContainers / "channels_first.h5"),
             Contains("has shape (6, 3, 5, 8) and seems to have channels"));
  const auto source = open_source(kContainers / "channels_first.h5", {.arrays = {.axes = "NCHW"}});
  CHECK(source->format().shape == Shape{3, 5, 8});
  CHECK(source->format().preparation == R"({"axes":"NCHW"})");
  std::vector<float> second;  // (H, W, C)
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 8; ++x) {
      for (int c = 0; c < 3; ++c) second.push_back(array_value<float>(((3 + c) * 5 + y) * 8 + x, 8));
    }
  }
  CHECK(values_of<float>(*source, 1) == second);
  const auto as_it_is = open_source(kContainers / "channels_first.h5", {.arrays = {.axes = "NHWC"}});
  CHECK(as_it_is->format().shape == Shape{8, 3, 5});
  CHECK(values_of<float>(*as_it_is, 1) == numbered<float>(1, 120, 0, 8));
  CHECK_THAT(error_in(kContainers / "images.h5", {.arrays = {.axes = "NHW"}}), Contains("--axes NHW"));
  CHECK_THAT(error_in(kContainers / "images.h5", {.arrays = {.axes = "NHHW"}}),
             Contains("fits no kind of samples"));
  CHECK_THAT(error_in(kContainers / "images.npz", {.arrays = {.axes = "HWN"}}),
             Contains("must be its first axis"));
}

TEST_CASE("arrays of MATLAB are read as MATLAB shows them") {
  SECTION("pictures (H, W, C, N), with labels from 1") {
    const auto source = open_source(kContainers / "matlab_images.mat");
    CHECK(source->format().shape == Shape{3, 5, 4});
    CHECK(source->catalog().class_names == Names{"1", "2", "3"});
    CHECK(labels_of(*source) == Labels{0, 2, 1, 1, 0, 2});
    for (int n = 0; n < 6; ++n) {
      std::vector<std::uint8_t> sample;
      for (int i = 0; i < 60; ++i) sample.push_back(array_value<std::uint8_t>(i * 6 + n));
      CHECK(values_of<std::uint8_t>(*source, static_cast<std::size_t>(n)) == sample);
    }
  }
  SECTION("features (N, F), with logical labels") {
    const auto source = open_source(kContainers / "matlab_features.mat");
    CHECK(source->format().shape == Shape{4});
    CHECK(labels_of(*source) == Labels{0, 0, 1, 1, 0, 0});
    CHECK(values_of<float>(*source, 4) == numbered<float>(4, 4, 0, 8));
  }
  SECTION("a cell array of texts, XTrain and YTrain") {
    const auto source = open_source(kContainers / "matlab_cells.mat");
    CHECK(source->catalog().items[0].split == "train");
    CHECK(source->catalog().class_names == Names{"gr\xC3\xBCn", "rot", "\xF0\x9F\x90\xA6"});
    CHECK(labels_of(*source) == Labels{0, 1, 1, 0, 1, 2});
    CHECK(values_of<float>(*source, 5) == numbered<float>(5, 4, 0, 8));
  }
  SECTION("a matrix of characters, and samples in the columns of (F, N)") {
    const auto source = open_source(kContainers / "matlab_characters.mat");
    CHECK(source->catalog().class_names == Names{"ab", "b"});
    CHECK(labels_of(*source) == Labels{0, 1, 0, 1, 1, 0});
    CHECK(source->format().shape == Shape{4});
    std::vector<float> third;
    for (int f = 0; f < 4; ++f) third.push_back(array_value<float>(f * 6 + 2, 8));
    CHECK(values_of<float>(*source, 2) == third);
  }
}

TEST_CASE("large arrays are read in blocks along the first axis, and whole along another") {
  // 1,500 samples of 400 numbers, 2.4 MB. If they are the first axis, a block has 655 samples, and the last
  // one begins earlier. If they are the second axis, as in MATLAB's files, one block has them all.
  const TemporaryFolder folder;
  constexpr std::int64_t kSamples = 1500, kFeatures = 400;
  std::vector<double> labels;
  for (std::int64_t n = 0; n < kSamples; ++n) labels.push_back(static_cast<double>(n % 3));
  for (const auto& [matlab, deflate] : {std::pair(false, 0), {false, 1}, {true, 0}, {true, 1}}) {
    CAPTURE(matlab, deflate);
    const Shape shape = matlab ? Shape{kFeatures, kSamples} : Shape{kSamples, kFeatures};
    std::vector<float> stored;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const std::int64_t row = i / shape[1], column = i % shape[1];
      stored.push_back(array_value<float>(matlab ? column * kFeatures + row : i));
    }
    const fs::path file = folder / fmt::format("x{}{}.{}", matlab, deflate, matlab ? "mat" : "h5");
    auto out = convoke::hdf5::File::create(file);
    auto x = out.create_dataset("x", convoke::hdf5::ElementType::kFloat32, shape, deflate);
    x.write(std::span<const float>(stored));
    auto y = out.write("y", std::span<const double>(labels), matlab ? Shape{1, kSamples} : Shape{kSamples});
    if (matlab) {
      x.set_attribute("MATLAB_class", "single");
      y.set_attribute("MATLAB_class", "double");
    }
    out.close();
    const auto source = open_source(file);
    REQUIRE(source->catalog().items.size() == kSamples);
    for (const std::size_t n : {0, 1, 1499, 654, 655, 1309, 1310, 1498, 2}) {
      std::vector<float> row;
      for (std::int64_t f = 0; f < kFeatures; ++f)
        row.push_back(array_value<float>(static_cast<std::int64_t>(n) * kFeatures + f));
      CHECK(values_of<float>(*source, n) == row);
    }
  }
}

TEST_CASE("HDF5 files that are no source of samples are refused, each with its reason") {
  const TemporaryFolder folder;
  const fs::path dataset = folder / "own.h5";
  prepare({.source = kContainers / "images.h5", .output = dataset, .allow_duplicates = true});
  CHECK_FALSE(is_source(dataset));
  CHECK_THAT(error_in(dataset), Contains("own.h5: was written by Convoke"));
  {
    auto keras = convoke::hdf5::File::create(folder / "model.h5");
    keras.set_attribute("keras_version", "2.13.1");
    keras.close();
    auto empty = convoke::hdf5::File::create(folder / "empty.h5");
    empty.close();
  }
  CHECK_THAT(error_in(folder / "model.h5"), Contains("model.h5: is a model of Keras"));
  CHECK_THAT(error_in(folder / "empty.h5"),
             Contains("no array has a name of samples or labels; it has none"));
  CHECK_THAT(error_in(kContainers / "cycle.h5"), Contains("cycle.h5: has more than 10000 groups"));
  {
    auto hollow = convoke::hdf5::File::create(folder / "hollow.h5");
    const std::int64_t many = 3'000'000'000;
    hollow.create_dataset("x", convoke::hdf5::ElementType::kUint8, Shape{many, 2}, 1);
    hollow.create_dataset("y", convoke::hdf5::ElementType::kInt32, Shape{many}, 1);
    hollow.close();
  }
  CHECK_THAT(error_in(folder / "hollow.h5"),
             Contains("/y: has 3000000000 numbers, but 0 bytes were written"));
  write_file(folder / "text.h5", "not HDF5 at all");
  CHECK_THAT(error_in(folder / "text.h5"), Contains("text.h5: is not an HDF5 file"));
  write_file(folder / "old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64");
  CHECK_THAT(error_in(folder / "old.mat"), Contains("is a MAT-file of version 5 to 7, which is not HDF5"));
  write_file(folder / "cut.h5", bytes_of(kContainers / "images.h5").substr(0, 5000));
  CHECK_THAT(error_in(folder / "cut.h5"), Contains("cut.h5: is truncated"));
  {
    auto sparse = convoke::hdf5::File::create(folder / "sparse.mat");
    auto x = sparse.create_group("x");
    x.set_attribute("MATLAB_sparse", 4);
    x.write("data", std::vector<double>{1, 2});
    sparse.write("y", std::vector<double>{0, 1});
    sparse.close();
  }
  CHECK_THAT(error_in(folder / "sparse.mat"), Contains("x: is a sparse matrix of MATLAB"));
}
