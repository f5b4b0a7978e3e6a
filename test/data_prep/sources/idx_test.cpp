#include "convoke/data_prep/sources/source_table.hpp"

#include "../idx_files.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

namespace {

/// Reads the samples of items first, first + 1, ...
std::vector<std::uint8_t> read(Source& source, std::size_t first, std::size_t count) {
  std::vector<std::uint8_t> values(20 * count);
  for (std::size_t i = 0; i < count; ++i)
    source.read(first + i, std::as_writable_bytes(std::span(values).subspan(20 * i, 20)));
  return values;
}

/// Returns the error of opening the folder and reading all its images.
std::string error_in(const TemporaryFolder& folder) {
  return error_of([&] {
    const auto source = open_source(folder.path());
    read(*source, 0, source->catalog().items.size());
  });
}

}  // namespace

TEST_CASE("IDX folders are read, plain or gzipped, in any order") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), GENERATE(false, true));
  CHECK(is_idx(folder.path()));
  const auto source = open_source(folder.path());
  CHECK(source->format().shape == Shape{1, 4, 5});
  CHECK(source->format().type == convoke::data::SampleType::kUint8);
  const Catalog& catalog = source->catalog();
  CHECK(catalog.classes == 4);
  CHECK(catalog.class_names.empty());
  CHECK_THAT(catalog.provenance, Contains("train-images-idx3-ubyte"));
  REQUIRE(catalog.items.size() == 37);
  for (std::size_t i = 0; i < 37; ++i) {
    const Item& item = catalog.items[i];
    CHECK(item.split == (i < 30 ? "train" : "test"));
    CHECK(item.label == static_cast<std::int32_t>((i < 30 ? i : i - 30) % 4));
  }
  CHECK(catalog.items[31].name == "test[1]");

  const auto check = [&](std::size_t first, std::size_t count) {
    CHECK(read(*source, first, count) ==
          small_images(static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(first)));
  };
  check(0, 10);
  check(10, 5);   // forward
  check(20, 17);  // skips forward, into the test split
  check(3, 2);    // goes back
}

TEST_CASE("names with a dot before idx are recognized") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  for (const char* name : {"train-images", "t10k-images"}) {
    fs::rename(folder / (std::string(name) + "-idx3-ubyte"), folder / (std::string(name) + ".idx3-ubyte"));
  }
  CHECK(open_source(folder.path(), {}, "idx")->catalog().items.size() == 37);
}

TEST_CASE("missing and unknown sources are refused") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { open_source(folder / "none"); }), Contains("none: no such file or folder"));
  CHECK_THAT(error_of([&] { open_source(folder.path()); }),
             Contains("is not recognized as a source of samples"));
  CHECK_THAT(error_of([&] { open_source(folder.path(), {}, "idxx"); }),
             Contains("unknown kind of source \"idxx\" (did you mean \"idx\"?)"));
  CHECK_THAT(error_of([&] { open_source(folder.path(), {}, "idx"); }),
             Contains("has no train-images-idx3-ubyte"));
  write_small_mnist(folder.path(), false);
  fs::remove(folder / "t10k-labels-idx1-ubyte");
  CHECK_THAT(error_in(folder), Contains("has no t10k-labels-idx1-ubyte"));
}

TEST_CASE("damaged IDX files are refused, each with its reason") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), false);
  const auto images = folder / "train-images-idx3-ubyte";
  const auto labels = folder / "train-labels-idx1-ubyte";
  const std::string good = small_image_file(30);
  REQUIRE(error_in(folder).empty());

  SECTION("wrong magic number") {
    write_file(images, idx_bytes(0x801, {30, 4, 5}, small_images(30)));
    CHECK_THAT(error_in(folder),
               Contains("train-images-idx3-ubyte: is not an IDX file of images: it begins with "
                        "0x00000801, not 0x00000803"));
    write_file(images, good);
    write_file(labels, "<html>404 not found");
    CHECK_THAT(error_in(folder),
               Contains("train-labels-idx1-ubyte: is not an IDX file of labels: it begins with 0x3c68746d"));
  }
  SECTION("truncated in the header") {
    write_file(images, good.substr(0, 9));
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte: is truncated: it ends after 9 bytes"));
    write_file(images, "");
    CHECK_THAT(error_in(folder), Contains("is truncated: it ends after 0 bytes"));
  }
  SECTION("truncated in the values") {
    write_file(images, good.substr(0, good.size() - 1));
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte: is truncated: it ends after 615 bytes"));
    write_file(images, good);
    write_file(labels, small_label_file(30).substr(0, 20));
    CHECK_THAT(error_in(folder), Contains("train-labels-idx1-ubyte: is truncated: it ends after 20 bytes"));
  }
  SECTION("more announced than memory has") {
    write_file(images, idx_bytes(0x803, {0xFFFFFFF0, 4, 5}, small_images(30)));
    write_file(labels, idx_bytes(0x801, {0xFFFFFFF0}, small_labels(30)));
    CHECK_THAT(error_in(folder), Contains("train-labels-idx1-ubyte: is truncated: it ends after 38 bytes"));
  }
  SECTION("too long") {
    write_file(images, good + "x");
    CHECK_THAT(error_in(folder), Contains("continues after the 616 bytes that its header announces"));
  }
  SECTION("no images") {
    write_file(images, idx_bytes(0x803, {0, 4, 5}, {}));
    CHECK_THAT(error_in(folder),
               Contains("train-images-idx3-ubyte: has an invalid header: its images have shape (0)"));
  }
  SECTION("different numbers of images and labels") {
    write_file(labels, small_label_file(29));
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte has 30 images, but "));
    CHECK_THAT(error_in(folder), Contains("train-labels-idx1-ubyte has 29 labels"));
  }
  SECTION("images of another size in the test split") {
    write_file(folder / "t10k-images-idx3-ubyte", idx_bytes(0x803, {7, 5, 4}, small_images(7)));
    CHECK_THAT(error_in(folder), Contains("t10k-images-idx3-ubyte has images of 5 x 4, but "));
  }
  SECTION("one class") {
    write_file(labels, idx_bytes(0x801, {30}, std::vector<std::uint8_t>(30, 0)));
    write_file(folder / "t10k-labels-idx1-ubyte", idx_bytes(0x801, {7}, std::vector<std::uint8_t>(7, 0)));
    CHECK_THAT(error_in(folder), Contains("has one class, \"0\"; a dataset needs at least 2 classes"));
    write_file(labels, idx_bytes(0x801, {30}, std::vector<std::uint8_t>(30, 5)));
    write_file(folder / "t10k-labels-idx1-ubyte", idx_bytes(0x801, {7}, std::vector<std::uint8_t>(7, 5)));
    CHECK_THAT(error_in(folder), Contains("has one class, \"5\""));
  }
}

TEST_CASE("damaged gzip files are refused, each with its reason") {
  const TemporaryFolder folder;
  write_small_mnist(folder.path(), true);
  const auto images = folder / "train-images-idx3-ubyte.gz";
  const std::string good = bytes_of(images);
  REQUIRE(error_in(folder).empty());

  SECTION("not a gzip file") {
    write_file(images, small_image_file(30));
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte.gz: is not a gzip file"));
  }
  SECTION("truncated: in the stream, in the checksum, in the header") {
    for (const std::size_t bytes : {good.size() / 2, good.size() - 1, good.size() - 8, std::size_t{5}}) {
      write_file(images, good.substr(0, bytes));
      CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte.gz: is truncated"));
    }
  }
  SECTION("corrupt: the stream, the checksum") {
    std::string bad = good;
    bad[good.size() - 6] = static_cast<char>(bad[good.size() - 6] ^ 1);
    write_file(images, bad);
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte.gz: is corrupt: "));
    bad = good;
    for (std::size_t i = 15; i < 60; ++i) bad[i] = static_cast<char>(0xFF);
    write_file(images, bad);
    CHECK_THAT(error_in(folder), Contains("train-images-idx3-ubyte.gz: is corrupt: "));
  }
}
