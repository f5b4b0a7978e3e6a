// The results of a run: scores by `evaluate`, labels by `predict`.
#include <limits>
#include <variant>

#include "apps/place.hpp"
#include "convoke/core/random.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/run_folder.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"

TEST_CASE("evaluate gives the scores of training on any number of ranks") {
  const Place place;
  REQUIRE(place.train("run", std::string(kEnsemble), 2).code == 0);
  const std::string summary = bytes_of(place / "run/summary.json");
  const Match accuracy = first_match(summary, "\"test\": \\{[^}]*\"accuracy\": ([0-9.]+)");
  REQUIRE(!accuracy.empty());
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    place.run("evaluate run --json", ranks)
        .ends(0)
        .shows("\"accuracy\":" + accuracy[1])
        .once("\"rule\":\"majority\"");
  }
  place.run("evaluate run/ensemble.h5 --data data.h5 --split train --rule mean")
      .ends(0)
      .shows("ensemble of 3")
      .shows("150 images")
      .shows("mean vote");

  fs::create_directory(place / "alone");
  fs::copy(place / "run/ensemble.h5", place / "alone/ensemble.h5");
  place.run("evaluate alone/ensemble.h5").ends(1).shows("--data FILE");
  write_file(place / "junk.h5", "no model");
  CHECK(place.run("evaluate junk.h5").says("error: junk.h5"));
  CHECK(place.run("evaluate nothing.h5").says("error: nothing.h5"));
}

TEST_CASE("evaluate uses the test split of the run, unless another is named") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1 --set data.test_split=train").code == 0);
  place.run("evaluate run --json").ends(0).shows("\"split\":\"train\"").shows("\"samples\":150");
  const convoke::run::RunLock trains_on(place / "run");
  place.run("evaluate run").ends(0).once("note: run/model.h5 will be replaced when process ");
  CHECK(place.run("evaluate run --split test --json").says("\"samples\":60"));
}

namespace {

// Returns pictures (N, H, W) of 8 x 8 as (N, W, H).
std::vector<float> turned(std::span<const float> values) {
  std::vector<float> turned;
  for (std::size_t n = 0; n < values.size() / 64; ++n) {
    for (std::size_t x = 0; x < 8; ++x) {
      for (std::size_t y = 0; y < 8; ++y) turned.push_back(values[64 * n + 8 * y + x]);
    }
  }
  return turned;
}

// Returns the cells of a CSV of predictions without the first two: input, index.
std::vector<std::vector<std::string>> columns_of(const fs::path& csv) {
  auto rows = rows_of(csv);
  for (auto& row : rows) row.erase(row.begin(), row.begin() + 2);
  return rows;
}

// Writes 60 pictures of 8 x 8 as h5py does, (N, H, W, C), and as MATLAB does: (H, W, N), with reversed axes.
void write_arrays(const Place& place, std::span<const float> values) {
  using convoke::hdf5::ElementType;
  convoke::hdf5::File h5py = convoke::hdf5::File::create(place / "arrays.h5");
  h5py.create_dataset("x_train", ElementType::kInt32, convoke::Shape{2, 8, 8, 1}, 0)
      .write(std::span<const std::int32_t>(std::vector<std::int32_t>(128)));
  h5py.create_dataset("x_test", ElementType::kFloat32, convoke::Shape{60, 8, 8, 1}, 5).write(values);
  h5py.close();
  convoke::hdf5::File matlab = convoke::hdf5::File::create(place / "arrays.mat");
  auto images = matlab.create_dataset("images", ElementType::kFloat32, convoke::Shape{60, 8, 8}, 0);
  images.write(std::span<const float>(turned(values)));
  images.set_attribute("MATLAB_class", "single");
  matlab.close();
}

}  // namespace

TEST_CASE("predict gives the same labels for a dataset, arrays and image files") {
  const Place place;
  REQUIRE(place.train("run").code == 0);
  const Pictures test(60, 8, 4, 2);
  const std::vector<float> values(test.samples.begin(), test.samples.end());
  convoke::data_prep::write_npy(place / "batch.npy", convoke::Shape{60, 8, 8, 1}, values);
  std::string images;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = "image-" + std::to_string(i) + ".png";
    write_file(place / name, gray_png(std::span(test.samples).subspan(64 * i, 64), 8));
    images += name + " ";
  }
  const auto columns = [&](const char* csv) { return columns_of(place / csv); };
  REQUIRE(place.run("predict run data.h5 --output a.csv").code == 0);
  REQUIRE(place.run("predict run batch.npy --output b.csv", mpirun(3)).code == 0);
  write_arrays(place, values);
  REQUIRE(place.run("predict run arrays.h5 --output h.csv", mpirun(3)).code == 0);
  REQUIRE(place.run("predict run arrays.mat --output m.csv", mpirun(2)).code == 0);
  const Outcome pictures = place.run("predict run/model.h5 " + images, "2>/dev/null");
  CAPTURE(pictures.text);
  CHECK(bytes_of(place / "a.csv").starts_with("input,index,label,class,p(0),p(1),p(2),p(3)\n"));
  auto expected = columns("a.csv");
  REQUIRE(expected.size() == 1 + 60);
  for (const char* arrays : {"b.csv", "h.csv", "m.csv"}) {
    CAPTURE(arrays);
    CHECK(columns(arrays) == expected);
  }

  REQUIRE(place.run("predict run batch.npy --output b.npy").code == 0);
  const convoke::data_prep::NpyArray table = convoke::data_prep::read_npy(place / "b.npy");
  CHECK(table.shape == convoke::Shape{60, 5});
  const auto& rows = std::get<std::vector<float>>(table.values);
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(expected[i + 1][0] == std::to_string(static_cast<int>(rows[5 * i])));
    CHECK(rows[5 * i + 1] + rows[5 * i + 2] + rows[5 * i + 3] + rows[5 * i + 4] == Approx(1).epsilon(1e-4));
  }
  write_file(place / "printed.csv", pictures.text.substr(pictures.text.find("input,index")));  // behind notes
  expected.resize(1 + 3);
  CHECK(columns("printed.csv") == expected);

  convoke::data_prep::write_npy(place / "wrong.npy", convoke::Shape{60, 64}, values);
  place.run("predict run wrong.npy")
      .ends(1)
      .shows("wrong.npy: has shape (60, 64), but the model takes samples of shape (1, 8, 8)");
  place.run("predict run arrays.h5 --split train --layout nchw")
      .ends(1)
      .shows("arrays.h5: has shape (2, 8, 8, 1), but with --layout nchw");
  write_file(place / "old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64" + std::string(200, ' '));
  CHECK(place.run("predict run old.mat").says("old.mat: is a MAT-file of version 5 to 7"));
  CHECK(place.run("predict run nothing.png").says("error: nothing.png"));
  CHECK(place.run("predict run batch.npy --output labels.txt").says(".csv or .npy"));

  std::vector<float> odd = values;
  odd[64 * 17 + 3] = std::numeric_limits<float>::quiet_NaN();
  convoke::data_prep::write_npy(place / "nan.npy", convoke::Shape{60, 8, 8, 1}, odd);
  place.run("predict run nan.npy", mpirun(2)).fails("nan.npy: sample 17 has the value nan");
  for (std::size_t i = 0; i < odd.size(); ++i) odd[i] = values[i] / 255;
  convoke::data_prep::write_npy(place / "unit.npy", convoke::Shape{60, 8, 8, 1}, odd);
  place.run("predict run unit.npy")
      .fails("unit.npy: the values of 60 of its samples lie between 0 and 0.")
      .shows("but the model takes pixels of 0..255\n  hint: multiply by 255; --raw takes samples");
  // Of 70 samples, the first 64 are dark.
  odd.resize(64 * 64);
  odd.insert(odd.end(), values.begin(), values.begin() + 6 * 64);
  convoke::data_prep::write_npy(place / "dark.npy", convoke::Shape{70, 8, 8, 1}, odd);
  place.run("predict run dark.npy").ends(0);
}

TEST_CASE("predict reads arrays by the axes that prepare was told, if they fit") {
  using convoke::Shape;
  using convoke::hdf5::ElementType;
  const Place place;
  convoke::hdf5::File file = convoke::hdf5::File::create(place / "nwh.h5");
  for (const std::string split : {"train", "test"}) {
    const std::int64_t count = split == "test" ? 60 : 150;
    const Pictures pictures(count, 8, 4, split == "test" ? 2 : 1);
    const std::vector<float> values(pictures.samples.begin(), pictures.samples.end());
    file.create_dataset("x_" + split, ElementType::kFloat32, Shape{count, 8, 8})
        .write(std::span<const float>(turned(values)));
    file.create_dataset("y_" + split, ElementType::kInt32, Shape{count})
        .write(std::span<const std::int32_t>(pictures.labels));
    convoke::data_prep::write_npy(place / "nwh.npy", Shape{count, 8, 8}, turned(values));
    convoke::data_prep::write_npy(place / "nhwc.npy", Shape{count, 8, 8, 1}, values);
  }
  file.close();
  place.run("prepare nwh.h5 --axes NWH --output turned.h5").ends(0);
  place.train("run", "--set data.path=turned.h5 --set data.normalize=standard").ends(0);
  place.run("predict run nhwc.npy --output nhwc.csv").ends(0).never("note: nhwc.npy");
  const auto expected = columns_of(place / "nhwc.csv");
  for (const std::string name : {"nwh.h5", "nwh.npy"}) {
    place.run("predict run " + name + " --output labels.csv", mpirun(2))
        .ends(0)
        .once("note: " + name + ": axes NWH, as for `prepare`");
    CHECK(columns_of(place / "labels.csv") == expected);
  }
  place.run("predict run nwh.npy --layout nhwc --output labels.csv").ends(0).never("note: nwh.npy");
  CHECK(columns_of(place / "labels.csv") != expected);
}

TEST_CASE("predict holds few large samples at once, and no more than there are of a large --batch") {
  const Files here;
  const std::vector<convoke::Settings> layers{{{"layer", "global_average_pool"}},
                                              {{"layer", "dense"}, {"units", 2}}};
  convoke::run::write_model(here / "net.h5",
                            {.graph = convoke::nn::build_graph(convoke::Shape{1, 512, 512}, layers),
                             .normalization = {{1.0F / 255}, {0}},
                             .class_names = {}},
                            std::vector<float>{1, -1, 0, 0});
  for (const int count : {1, 640}) {  // 640 are 160 MiB of bytes, all zero, which take no space on the disk
    std::string header =
        fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, 512, 512, 1), }}", count);
    header.resize(117, ' ');
    const fs::path file = here / (std::to_string(count) + ".npy");
    write_file(file, std::string("\x93NUMPY\x01\x00v\x00", 10) + header + "\n");
    fs::resize_file(file, 128 + static_cast<std::uintmax_t>(count) * 512 * 512);
  }
  const std::string limit = "ulimit -v 1048576;";
  if (here.run("predict net.h5 1.npy --threads 1", limit).code != 0)
    return skip("the program needs more than 1 GiB of addresses");
  here.run("predict net.h5 1.npy --threads 1 --batch 100000", limit).ends(0);
  here.run("predict net.h5 640.npy --threads 1 --output labels.npy", limit).ends(0);
  here.run("predict net.h5 640.npy --threads 1 --batch 640", limit)
      .fails("out of memory")
      .shows("a smaller train.micro_batch or --batch");
}

TEST_CASE("a model of measured images (float32) makes views in their units, and refuses those of 0..255") {
  const Place place;
  const Pictures pictures(40, 8, 4, 1);
  const std::vector<float> values(pictures.samples.begin(), pictures.samples.end());
  const convoke::data::DatasetInfo info{
      .sample_shape = {1, 8, 8}, .sample_type = convoke::data::SampleType::kFloat32, .classes = 4};
  auto writer = convoke::data::DatasetWriter::create(place / "maps.h5", info, {{"train", 40}, {"test", 40}});
  for (const char* split : {"train", "test"}) writer.write(split, 0, values, pictures.labels);
  writer.finish();
  const char* settings =
      "--set data.path=maps.h5 --set data.normalize=none --set train.epochs=0 "
      "--set augment.width_shift_range=0.3 --set augment.fill_mode=constant --set augment.cval=-1";
  REQUIRE(place.train("run", settings).code == 0);
  place.run("predict run maps.h5 --tta 2 --output views.csv").ends(0);
  place.run("predict run some.png")
      .fails("some.png: is a picture of 0..255, but the model was trained on images of measured numbers");
  place.run("evaluate run --data data.h5")
      .fails("data.h5 has images of 0..255 (uint8), but the model of run/model.h5");
}

TEST_CASE("a table is trained, evaluated and predicted, for any stored type") {
  const Place place;
  const std::int64_t features = 5;
  const auto rows = [&](std::int64_t count,
                        std::uint64_t seed) {  // the largest of the first 3 values is the class
    std::pair<std::vector<float>, std::vector<std::int32_t>> table;
    for (std::int64_t i = 0; i < count; ++i) {
      convoke::RandomStream random({seed, convoke::Purpose::kBench, 0, static_cast<std::uint64_t>(i)});
      table.second.push_back(static_cast<std::int32_t>(random.below(3)));
      for (std::int64_t f = 0; f < features; ++f) {
        table.first.push_back(1000.0F + static_cast<float>(random.below(100)) +
                              (f == table.second.back() ? 150.0F : 0.0F));
      }
    }
    return table;
  };
  convoke::data::DatasetInfo info;
  info.sample_type = convoke::data::SampleType::kFloat32;
  info.sample_shape = convoke::Shape{features};
  info.classes = 3;
  auto writer =
      convoke::data::DatasetWriter::create(place / "table.h5", info, {{"train", 150}, {"test", 60}});
  const auto [train, train_labels] = rows(150, 1);
  const auto [test, test_labels] = rows(60, 2);
  writer.write("train", 0, train, train_labels);
  writer.write("test", 0, test, test_labels);
  writer.finish();
  write_file(place / "table.toml", R"(name = "table"
[data]
path = "table.h5"
normalize = "standard"
[model]
input = [5]
layers = [
  { layer = "dense", units = 16, activation = "relu" },
  { layer = "dense", units = 3, activation = "softmax" },
]
[train]
epochs = 10
batch = 16
micro_batch = 8
reduction = "exact"
optimizer = { name = "adam", learning_rate = 0.02 }
[run]
threads = 1
)");
  REQUIRE(place.run("train table.toml --quiet --output run").code == 0);
  place.run("train table.toml --quiet --output two", mpirun(2)).ends(0);
  CHECK(bytes_of(place / "two/model.h5") == bytes_of(place / "run/model.h5"));
  const Outcome evaluated = place.run("evaluate run --json");
  CHECK(number_in(evaluated.text, "\"accuracy\":([0-9.]+)") > 0.95);
  CHECK(place.run("evaluate run").says("60 samples"));

  convoke::data_prep::write_npy(place / "batch.npy", convoke::Shape{60, features}, test);
  REQUIRE(place.run("predict run table.h5 --output a.npy", mpirun(2)).code == 0);
  REQUIRE(place.run("predict run batch.npy --output b.npy").code == 0);
  const auto values_of = [&](const char* name) {  // the label and 3 probabilities of every row
    return std::get<std::vector<float>>(convoke::data_prep::read_npy(place / name).values);
  };
  const std::vector<float> from_dataset = values_of("a.npy");
  const std::vector<float> from_batch = values_of("b.npy");
  REQUIRE(from_dataset.size() == 60 * 4);
  REQUIRE(from_batch.size() == from_dataset.size());
  for (std::size_t i = 0; i < from_dataset.size(); ++i) {
    CHECK(from_batch[i] == Approx(from_dataset[i]).margin(1e-4));
  }

  // Images do not fit a model for tables.
  place.run("predict run some.png")
      .ends(1)
      .shows("some.png: expected to be a picture, but the model takes samples of shape (5)");
  place.run("train table.toml --set data.path=data.h5 --output none")
      .ends(1)
      .shows("data.h5 has samples of shape (1, 8, 8), but the model of table takes (5)");
  place.run("train table.toml --set data.normalize=unit --output none")
      .ends(1)
      .shows("table.h5: normalization \"unit\" divides by 255")
      .shows("hint: set data.normalize to \"standard\" or \"none\"");
  CHECK(place.run("bench table.toml --seconds 0.01 --rounds 1").code == 0);
}
