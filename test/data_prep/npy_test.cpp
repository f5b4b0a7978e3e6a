#include "convoke/data_prep/files/npy.hpp"

#include "idx_files.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/source_path.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

namespace {

const fs::path kNpyFiles = source_path("test/data_prep/files");

template <class T>
void check(const char* name, const Shape& shape, const std::vector<T>& values) {
  INFO(name);
  const NpyArray array = read_npy(kNpyFiles / name);
  CHECK(array.shape == shape);
  REQUIRE(std::holds_alternative<std::vector<T>>(array.values));
  CHECK(std::get<std::vector<T>>(array.values) == values);
}

}  // namespace

TEST_CASE("NumPy's files are read (files/make_npy.py)") {
  check<std::uint8_t>("u1.npy", Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  check<std::int32_t>("i4.npy", Shape{2}, {-1, INT32_MAX});
  check<std::int64_t>("i8.npy", Shape{}, {INT64_MIN});
  check<float>("f4.npy", Shape{1, 2, 1}, {0.5F, -1e-30F});
  check<double>("f8.npy", Shape{2}, {0.1, std::numeric_limits<double>::infinity()});
  check<std::int32_t>("version2.npy", Shape{1, 2}, {1, 2});
}

TEST_CASE("written files equal NumPy's, and read back") {
  const TemporaryFolder folder;
  write_npy(folder / "f4.npy", Shape{1, 2, 1}, std::span<const float>(std::vector<float>{0.5F, -1e-30F}));
  CHECK(bytes_of(folder / "f4.npy") == bytes_of(kNpyFiles / "f4.npy"));
  write_npy(folder / "i4.npy", Shape{2},
            std::span<const std::int32_t>(std::vector<std::int32_t>{-1, INT32_MAX}));
  CHECK(bytes_of(folder / "i4.npy") == bytes_of(kNpyFiles / "i4.npy"));

  write_npy(folder / "empty.npy", Shape{0, 10}, std::span<const float>());
  CHECK(read_npy(folder / "empty.npy").shape == Shape{0, 10});
}

TEST_CASE("an unreadable .npy file is refused, with file and reason") {
  const TemporaryFolder folder;
  const auto error_for = [&](const std::string& bytes) {
    write_file(folder / "x.npy", bytes);
    return error_of([&] { read_npy(folder / "x.npy"); });
  };
  CHECK_THAT(error_of([&] { read_npy(folder / "none.npy"); }),
             Contains("none.npy: cannot be opened: No such file"));
  CHECK_THAT(error_of([&] { read_npy(folder.path()); }), Contains("it is a folder"));
  CHECK_THAT(error_of([&] { read_npy(kNpyFiles / "fortran.npy"); }),
             Contains("fortran.npy: is in Fortran order"));
  CHECK_THAT(error_of([&] { read_npy(kNpyFiles / "big_endian.npy"); }),
             Contains("holds values of type '>f4'"));
  CHECK_THAT(error_of([&] { read_npy(kNpyFiles / "fields.npy"); }), EndsWith(")]"));
  CHECK_THAT(hint_of([&] { read_npy(kNpyFiles / "fields.npy"); }), Contains("each field"));
  CHECK_THAT(error_of([&] { read_npy(kNpyFiles / "archive.npz"); }),
             Contains("archive.npz: is not an .npy file"));
  CHECK_THAT(error_for(""), Contains("x.npy: is not an .npy file"));
  CHECK_THAT(error_for("\x93NUMPZ\x01"), Contains("is not an .npy file"));

  const std::string good = bytes_of(kNpyFiles / "f4.npy");
  CHECK(error_for(good).empty());
  CHECK_THAT(
      error_for(good.substr(0, good.size() - 1)),
      Contains(
          "x.npy: is truncated: shape (1, 2, 1) of 4-byte values needs more than the 7 bytes in the file"));
  for (const std::size_t bytes : {6, 7, 9, 50}) {
    CHECK_THAT(error_for(good.substr(0, bytes)), Contains("x.npy: is truncated: its header is cut off"));
  }
  std::string bad = good;
  bad[6] = 4;
  CHECK_THAT(error_for(bad), Contains("has .npy version 4"));
  bad = good;
  bad.replace(bad.find("shape"), 5, "shake");
  CHECK_THAT(error_for(bad), Contains("its header has no 'shape'"));
  bad = good;
  bad.replace(bad.find("(1, 2, 1)"), 9, "(1, -, 1)");
  CHECK_THAT(error_for(bad), Contains("its shape is (1, -, 1)"));
  bad = good;  // extents whose product is 0 modulo 2^64
  bad.replace(bad.find("(1, 2, 1), }          "), 22, "(4294967296,4294967296)");
  CHECK_THAT(error_for(bad), Contains("is truncated: shape (4294967296, 4294967296)"));
}

TEST_CASE("an .npy file that cannot be written is an error") {
  const TemporaryFolder folder;
  const std::vector<float> values(100);
  const auto write = [&](const fs::path& file) {
    return error_of([&] { write_npy(file, Shape{100}, std::span<const float>(values)); });
  };
  CHECK_THAT(write(folder / "none/x.npy"),
             Contains("none/x.npy: cannot be written: No such file or directory"));
  make_full(folder / "full.npy");
  CHECK_THAT(write(folder / "full.npy"), Contains("full.npy: cannot be written: No space left on device"));
}
