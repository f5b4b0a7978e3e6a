#include "convoke/data_prep/sources/source_table.hpp"

#include <sys/stat.h>

#include "../idx_files.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

namespace {

// Picture `i` of a batch, as make_arrays.py fills it.
std::vector<std::uint8_t> picture(int i) {
  std::vector<std::uint8_t> values;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      for (int c = 0; c < 3; ++c) values.push_back(static_cast<std::uint8_t>(7 * i + 3 * y + 5 * x + 11 * c));
    }
  }
  return values;
}

void copy(const fs::path& from, const TemporaryFolder& to) {
  fs::copy(from, to.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

}  // namespace

TEST_CASE("CIFAR-10 is read: all batches, planes interleaved, names of the classes") {
  const auto source = open_source(kContainers / "cifar10");
  const Catalog& catalog = source->catalog();
  CHECK(source->format().shape == Shape{3, 32, 32});
  CHECK(source->format().type == convoke::data::SampleType::kUint8);
  CHECK(catalog.classes == 10);
  REQUIRE(catalog.class_names.size() == 10);
  CHECK(catalog.class_names[9] == "class 9");
  CHECK(labels_of(*source) == std::vector<std::int32_t>{1, 5, 2, 6, 3, 7, 4, 8, 5, 9, 9, 0, 3});
  CHECK(catalog.items[9].name == "data_batch_5.bin[1]");
  CHECK(catalog.items[9].split == "train");
  CHECK(catalog.items[10].split == "test");
  CHECK_THAT(catalog.provenance, Contains("CIFAR-10, binary version"));
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(values_of<std::uint8_t>(*source, i) == picture(static_cast<int>(i % 2)));
  CHECK(values_of<std::uint8_t>(*source, 12) == picture(2));
  CHECK(values_of<std::uint8_t>(*source, 3) == picture(1));  // going back
}

TEST_CASE("the labels of CIFAR follow the order of the given class names") {
  SourceOptions options;
  for (int i = 9; i >= 0; --i) options.class_names.push_back("class " + std::to_string(i));
  const auto source = open_source(kContainers / "cifar10", options);
  CHECK(source->catalog().class_names == options.class_names);
  CHECK(labels_of(*source) == std::vector<std::int32_t>{8, 4, 7, 3, 6, 2, 5, 1, 4, 0, 0, 9, 6});
  options.class_names[3] = "other";
  CHECK_THAT(error_of([&] { open_source(kContainers / "cifar10", options); }),
             Contains("\"class 6\" is not one of the 10 class names"));
}

TEST_CASE("CIFAR-100 is read with its fine labels, also gzipped") {
  const TemporaryFolder folder;
  copy(kContainers / "cifar100", folder);
  if (GENERATE(false, true)) {
    for (const char* const name : {"train.bin", "test.bin"}) {
      write_gzip(folder / (std::string(name) + ".gz"), bytes_of(folder / name));
      fs::remove(folder / name);
    }
  }
  const auto source = open_source(folder.path());
  CHECK(source->catalog().classes == 100);
  CHECK(source->catalog().class_names.at(41) == "fine 41");
  CHECK(labels_of(*source) == std::vector<std::int32_t>{99, 0, 41, 7, 12});
  CHECK(splits_of(*source) == std::vector<std::string>{"train", "train", "train", "test", "test"});
  CHECK(values_of<std::uint8_t>(*source, 2) == picture(2));
  CHECK(values_of<std::uint8_t>(*source, 4) == picture(1));
}

TEST_CASE("incomplete CIFAR folders are refused, each with its reason") {
  const TemporaryFolder folder;
  copy(kContainers / "cifar10", folder);
  const auto error = [&] { return error_of([&] { open_source(folder.path()); }); };
  REQUIRE(error().empty());
  const fs::path batch = folder / "data_batch_3.bin";
  const std::string good = bytes_of(batch);

  SECTION("a batch is missing") {
    fs::remove(batch);
    CHECK_THAT(error(), Contains("has no data_batch_3.bin, plain or .gz"));
  }
  SECTION("a batch is empty, truncated, or of CIFAR-100") {
    write_file(batch, "");
    CHECK_THAT(error(), Contains("data_batch_3.bin: is empty"));
    write_file(batch, good.substr(0, 5000));
    CHECK_THAT(error(),
               Contains("data_batch_3.bin: has 5000 bytes, which is not a multiple of 3073, the size of "
                        "a picture of CIFAR-10"));
    fs::copy_file(kContainers / "cifar100/train.bin", batch, fs::copy_options::overwrite_existing);
    CHECK_THAT(error(), Contains("data_batch_3.bin: has 9222 bytes, which is not a multiple of 3073"));
  }
  SECTION("a label out of range is the fault of its picture") {
    std::string bad = good;
    bad[3073] = 10;
    write_file(batch, bad);
    CHECK(faults_of(*open_source(folder.path())) ==
          std::vector<std::string>{"data_batch_3.bin[1]: its label is 10; CIFAR-10 has 10 classes"});
  }
  SECTION("the number of names differs from that of classes; names are optional") {
    write_file(folder / "batches.meta.txt", "cat\r\ndog\r\n");
    CHECK_THAT(error(), Contains("batches.meta.txt: has 2 names; CIFAR-10 has 10 classes"));
    write_file(folder / "batches.meta.txt", std::string(2 << 20, 'c'));
    CHECK_THAT(error(), Contains("batches.meta.txt: a line has more than 1 MiB"));
    fs::remove(folder / "batches.meta.txt");
    CHECK(open_source(folder.path())->catalog().class_names.empty());
  }
}

TEST_CASE("the pickled Python version of CIFAR is recognized and refused") {
  const TemporaryFolder folder;
  write_file(folder / "meta", "\x80\x02}");
  write_file(folder / "train", "\x80\x02}");
  CHECK_THAT(error_of([&] { open_source(folder.path()); }),
             Contains("is the pickled Python version of CIFAR-100"));
  fs::remove(folder / "meta");
  write_file(folder / "data_batch_1", "\x80\x02}");
  write_file(folder / "batches.meta", "\x80\x02}");
  CHECK_THAT(error_of([&] { open_source(folder.path()); }),
             Contains("is the pickled Python version of CIFAR-10"));
  CHECK_THAT(error_of([&] { open_source(kContainers, {}, "cifar"); }),
             Contains("has no files of CIFAR-10 or CIFAR-100"));
}

TEST_CASE("CIFAR's names are not read from a pipe, and prepare says what it found") {
  const TemporaryFolder folder;
  copy(kContainers / "cifar10", folder);
  const auto source = open_source(folder.path());
  CHECK_THAT(to_text(source->catalog().assumptions), Contains("images of uint8 (32, 32, 3): CIFAR-10"));
  CHECK_THAT(to_text(source->catalog().assumptions), Contains("10 classes"));
  CHECK_THAT(to_text(source->catalog().assumptions), Contains("in all 13 samples"));
  fs::remove(folder / "batches.meta.txt");
  REQUIRE(::mkfifo((folder / "batches.meta.txt").c_str(), 0600) == 0);  // a pipe without a writer
  CHECK_THAT(error_in(folder.path()), Contains("batches.meta.txt: is a named pipe (FIFO), not a file"));
}
