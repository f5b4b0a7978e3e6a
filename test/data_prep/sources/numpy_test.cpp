#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include "../idx_files.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

using convoke::Shape;
using namespace convoke::data_prep;
using convoke::data::SampleType;

TEST_CASE("gray images and labels by split are read from an .npz, stored") {
  const auto source = open_source(kContainers / "images.npz");
  CHECK(source->format().shape == Shape{1, 5, 4});
  CHECK(source->format().type == SampleType::kUint8);
  CHECK(source->catalog().classes == 3);
  CHECK(labels_of(*source) == Labels{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 1, 0, 2});
  CHECK(source->catalog().items[9].split == "train");
  CHECK(source->catalog().items[11].split == "test");
  CHECK(source->catalog().items[11].name == "x_test[1]");
  CHECK_THAT(source->catalog().provenance, Contains("arrays x_train, y_train, x_test, y_test of "));
  for (int i = 0; i < 10; ++i)
    CHECK(values_of<std::uint8_t>(*source, static_cast<std::size_t>(i)) == numbered<std::uint8_t>(i, 20));
  CHECK(values_of<std::uint8_t>(*source, 13) == numbered<std::uint8_t>(3, 20, 200));
  CHECK(values_of<std::uint8_t>(*source, 2) == numbered<std::uint8_t>(2, 20));
}

TEST_CASE("color images are read from a deflated .npz in MedMNIST's names, forward and back") {
  const auto source = open_source(kContainers / "color.npz");
  CHECK(source->format().shape == Shape{3, 5, 4});
  CHECK(source->catalog().items.size() == 17);
  CHECK(source->catalog().items[10].split == "validation");
  CHECK(source->catalog().items[13].split == "test");
  for (int i = 0; i < 10; ++i)
    CHECK(values_of<std::uint8_t>(*source, static_cast<std::size_t>(i)) == numbered<std::uint8_t>(i, 60));
  CHECK(values_of<std::uint8_t>(*source, 12) == numbered<std::uint8_t>(2, 60, 840));
  CHECK(values_of<std::uint8_t>(*source, 14) == numbered<std::uint8_t>(1, 60, 600));
  CHECK(values_of<std::uint8_t>(*source, 1) == numbered<std::uint8_t>(1, 60));
}

TEST_CASE("numbers become features, sequences, images of numbers, or tokens") {
  SECTION("float64 with one-hot labels") {
    const auto source = open_source(kContainers / "features.npz");
    CHECK(source->format().shape == Shape{4});
    CHECK(source->format().type == SampleType::kFloat32);
    CHECK(source->catalog().classes == 3);
    CHECK(labels_of(*source) == Labels{0, 2, 1, 1, 0, 2});
    CHECK(source->catalog().items[0].split.empty());
    CHECK(values_of<float>(*source, 5) == numbered<float>(5, 4, 0, 8));
  }
  SECTION("float32 (N, L, F), labels as float64") {
    const auto source = open_source(kContainers / "sequences.npz");
    CHECK(source->format().shape == Shape{3, 2});
    CHECK(labels_of(*source) == Labels{0, 1, 1, 0, 1, 0});
    CHECK(values_of<float>(*source, 4) == numbered<float>(4, 6, 0, 8));
  }
  SECTION("float32 (N, H, W, C)") {
    const auto source = open_source(kContainers / "float_images.npz");
    CHECK(source->format().shape == Shape{2, 3, 2});
    CHECK(source->format().type == SampleType::kFloat32);
    CHECK(values_of<float>(*source, 1) == numbered<float>(1, 12, 0, 8));
  }
  SECTION("int64 (N, L)") {
    const auto source = open_source(kContainers / "tokens.npz");
    CHECK(source->format().shape == Shape{4});
    CHECK(source->format().type == SampleType::kInt32);
    CHECK(source->format().vocabulary == 239);  // 238 is 20 * 37 modulo 251
    CHECK(values_of<std::int32_t>(*source, 3) == numbered<std::int32_t>(3, 4));
  }
  SECTION("uint8 (N, F)") {
    const auto source = open_source(kContainers / "bytes_as_features.npz");
    CHECK(source->format().type == SampleType::kFloat32);
    CHECK(values_of<float>(*source, 2) == numbered<float>(2, 4));
  }
}

TEST_CASE("a folder of .npy files is read like an archive of them, and zip64 like zip") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "arrays");
  REQUIRE(shell("cd " + (folder / "arrays").string() + " && cmake -E tar xf " +
                (kContainers / "images.npz").string())
              .code == 0);
  write_file(folder / "arrays/notes.txt", "none");
  std::filesystem::rename(folder / "arrays/x_test.npy", folder / "arrays/x_test.NPY");
  CHECK(is_numpy("IMAGES.NPZ"));
  const bool archive = GENERATE(false, true);
  const auto source = open_source(archive ? kContainers / "zip64.npz" : folder / "arrays");
  CHECK(source->catalog().items.size() == (archive ? 10 : 14));
  CHECK(values_of<std::uint8_t>(*source, 7) == numbered<std::uint8_t>(7, 20));
}

TEST_CASE("an empty split has a note, and a single class its number if it has no name") {
  const TemporaryFolder folder;
  const auto write = [&](const char* split, const std::vector<std::int32_t>& labels) {
    const auto count = std::ssize(labels);
    write_npy(folder / fmt::format("x_{}.npy", split), Shape{count, 2},
              std::vector<float>(static_cast<std::size_t>(2 * count), 1));
    write_npy(folder / fmt::format("y_{}.npy", split), Shape{count}, labels);
  };
  write("test", {1, 0});
  write("train", {});
  const auto source = open_source(folder.path());
  REQUIRE(source->catalog().notes.size() == 1);
  CHECK_THAT(source->catalog().notes[0], Contains("x_train.npy has no samples, so its split is left out"));
  write("test", {5, 5});
  CHECK_THAT(error_in(folder.path(), {.class_names = {"a", "b"}}), Contains("has one class, \"5\""));
}

TEST_CASE("arrays that are not a dataset are refused, each with its reason") {
  const auto check = [](const char* file, const char* reason) {
    INFO(file);
    CHECK_THAT(error_in(kContainers / file), Contains(reason));
  };
  check("bad_objects.npz", "x.npy: holds pickled Python objects, and reading a pickle may run any program");
  check("bad_label_objects.npz", "y.npy: holds pickled Python objects");
  check("bad_texts.npz", "y.npy: holds texts of type '<U3'");
  check("bad_type.npz", "x.npy: holds values of type '<f2'");
  check("bad_order.npz", "x.npy: is in Fortran order");
  check("bad_count.npz", "x_train.npy has 10 samples, but ");
  check("bad_count.npz", "y_train.npy has 9 labels");
  check("bad_rank.npz", "x.npy: has shape (10)");
  check("bad_whole_images.npz",
        "has shape (10, 5, 4) of whole numbers, which are tokens only in the shape (N, L)");
  check("bad_channels_first.npz", "has shape (4, 3, 5, 8) and seems to have channels first");
  check("bad_label_rank.npz", "y.npy: has shape (10, 1, 1)");
  check("bad_twice.npz", "both train_images and x_train may be the samples of train");
  check("bad_no_labels.npz", "x_test has no labels; the arrays are x_test, x_train, y_train");
  check("bad_no_samples.npz", "y_train has no samples; the arrays are y_train");
  check("bad_names.npz", "no array has a name of samples or labels; it has first, second");
  check("bad_one_class.npz", "has one class, \"1\"; a dataset needs at least 2 classes");
  check("bad_shapes.npz", "x_test.npy: has samples of uint8 (1, 4, 4), but ");
  check("bad_method.npz",
        "x_train.npy: is packed by method 14; only stored and deflated members are supported");
}

TEST_CASE("invalid labels, tokens and values are the fault of their sample") {
  using Faults = std::vector<std::string>;
  CHECK(faults_of(*open_source(kContainers / "fault_labels.npz")) ==
        Faults{"x[2]: its label is -1; labels must be 0, 1, 2, ..., below 1000000",
               "x[7]: its label is 1099511627776; labels must be 0, 1, 2, ..., below 1000000"});
  CHECK(faults_of(*open_source(kContainers / "fault_label_numbers.npz")) ==
        Faults{"x[2]: its label is 0.5, not the whole number of a class",
               "x[7]: its label is nan, not the whole number of a class"});
  CHECK(faults_of(*open_source(kContainers / "fault_one_hot.npz")) ==
        Faults{"x[1]: its label is not one-hot; each sample needs exactly one class",
               "x[3]: its label is not one-hot; each sample needs exactly one class"});
  const auto tokens = open_source(kContainers / "fault_tokens.npz");
  CHECK(faults_of(*tokens) == Faults{"x[1]: its token -1; tokens must be 0, 1, 2, ...",
                                     "x[3]: its token 2147483648; tokens must be 0, 1, 2, ..."});
  CHECK(tokens->format().vocabulary == 8);
  const auto values = open_source(kContainers / "fault_values.npz");
  CHECK(error_of([&] { values_of<float>(*values, 0); }).empty());
  CHECK_THAT(error_of([&] { values_of<float>(*values, 1); }),
             Contains("x.npy: row 1: its value nan is not finite in single precision"));
  CHECK_THAT(error_of([&] { values_of<float>(*values, 2); }),
             Contains("row 2: its value 1e+300 is not finite"));
}

TEST_CASE("damaged .npz archives are refused, each with its reason") {
  const TemporaryFolder folder;
  const fs::path file = folder / "x.npz";
  const auto read_all = [&] {
    const auto source = open_source(file);
    for (std::size_t i = 0; i < source->catalog().items.size(); ++i) values_of<std::uint8_t>(*source, i);
  };
  const std::string stored = bytes_of(kContainers / "images.npz"),
                    deflated = bytes_of(kContainers / "color.npz");
  const auto error_for = [&](const std::string& bytes) {
    write_file(file, bytes);
    return error_of(read_all);
  };
  REQUIRE(error_for(stored).empty());
  REQUIRE(error_for(deflated).empty());

  SECTION("no directory, as in a truncated file") {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, stored.size() / 2, stored.size() - 1}) {
      CHECK_THAT(error_for(stored.substr(0, bytes)),
                 Contains("x.npz: is not a complete zip archive: the directory at its end is missing"));
    }
  }
  SECTION("a directory that does not fit") {
    CHECK_THAT(error_for(stored.substr(100)), Contains("its directory does not fit the file") ||
                                                  Contains("entry 0 of its directory is broken"));
    std::string bad = stored;
    bad[bad.find("PK\x01\x02")] = 'Q';
    CHECK_THAT(error_for(bad), Contains("entry 0 of its directory is broken"));
    bad = stored;
    bad[0] = 'Q';
    CHECK_THAT(error_for(bad), Contains("its position differs from the directory's"));
  }
  SECTION("a changed bit in a stored member") {
    std::string bad = stored;
    bad[250] = static_cast<char>(bad[250] ^ 1);  // within the pixels of x_train
    CHECK_THAT(error_for(bad), Contains("x.npz: x_train.npy: is corrupt: its checksum is "));
  }
  SECTION("a changed bit in a deflated member") {
    const std::size_t member = deflated.find("train_images.npy");
    for (const std::size_t at : {60, 200, 340}) {
      std::string bad = deflated;
      bad[member + at] = static_cast<char>(bad[member + at] ^ 4);
      INFO(at);
      CHECK_FALSE(error_for(bad).empty());
    }
  }
  SECTION("a wrong checksum of a deflated member") {
    std::string bad = deflated;
    const std::size_t entry = bad.rfind("train_images.npy") - 46;
    bad[entry + 16] = static_cast<char>(bad[entry + 16] ^ 1);
    CHECK_THAT(error_for(bad), Contains("x.npz: train_images.npy: is corrupt: its checksum is "));
  }
}
