#include "convoke/hdf5/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "convoke/hdf5/foreign_array.hpp"
#include "convoke/os/file.hpp"
#include "hdf5/library.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/source_path.hpp"

using convoke::Shape;
using namespace convoke::hdf5;

namespace {

void write_example(const fs::path& path) {
  File file = File::create(path);
  file.set_attribute("format", "example");
  file.set_attribute("names", std::vector<std::string>{"a", "bc", ""});
  const std::vector<float> kernel{1, -2, 3.5F, 0, 1e-38F, 6};
  Group conv = file.create_group("layers/conv");
  conv.write("kernel", std::span<const float>(kernel), Shape{2, 3});
  conv.write("bias", std::vector<float>{0.25F, -0.5F});
  file.close();
}

}  // namespace

TEST_CASE("arrays of every type come back as written") {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes{0, 1, 254, 255};
  const std::vector<std::int32_t> ints{INT32_MIN, -1, 0, INT32_MAX};
  const std::vector<std::int64_t> longs{INT64_MIN, -1, 0, INT64_MAX};
  const std::vector<float> floats{-0.0F, 1e-45F, 3.4e38F, 0.1F};
  const std::vector<double> doubles{-0.0, 5e-324, 1.7e308, 0.1};
  {
    File file = File::create(folder / "x.h5");
    file.write("bytes", bytes);
    file.write("ints", ints);
    file.write("longs", longs);
    file.write("floats", floats);
    file.write("doubles", doubles);
    file.close();
  }
  const File file = File::open(folder / "x.h5");
  CHECK(file.read<std::uint8_t>("bytes") == bytes);
  CHECK(file.read<std::int32_t>("ints") == ints);
  CHECK(file.read<std::int64_t>("longs") == longs);
  CHECK(file.read<float>("floats") == floats);
  CHECK(file.read<double>("doubles") == doubles);
  CHECK(file.dataset("bytes").type() == ElementType::kUint8);
  CHECK(file.dataset("ints").type() == ElementType::kInt32);
  CHECK(file.dataset("longs").type() == ElementType::kInt64);
  CHECK(file.dataset("floats").type() == ElementType::kFloat32);
  CHECK(file.dataset("doubles").type() == ElementType::kFloat64);
  // Integers widen to larger types; floating point never converts to integers.
  CHECK(file.read<double>("bytes") == std::vector<double>{0, 1, 254, 255});
  CHECK_THAT(error_of([&] { file.read<std::int32_t>("floats"); }),
             Contains("x.h5: /floats: cannot be read as int32: it holds floating-point numbers"));
}

TEST_CASE("a pipe is refused without waiting for a writer") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "x.h5").c_str(), 0600) == 0);
  CHECK_THAT(error_of([&] { File::open(folder / "x.h5"); }),
             Contains("x.h5: is a named pipe (FIFO), not a file"));
}

TEST_CASE("shapes, empty arrays and single values come back as written") {
  const TemporaryFolder folder;
  {
    File file = File::create(folder / "x.h5");
    file.write("cube", std::span<const std::int32_t>(std::vector<std::int32_t>(24, 7)), Shape{2, 3, 4});
    file.write("empty", std::span<const float>(), Shape{0, 5});
    file.write("single", std::span<const double>(std::vector<double>{2.5}), Shape{});
    file.close();
  }
  const File file = File::open(folder / "x.h5");
  CHECK(file.dataset("cube").shape() == Shape{2, 3, 4});
  CHECK(file.dataset("empty").shape() == Shape{0, 5});
  CHECK(file.read<float>("empty").empty());
  CHECK(file.dataset("single").shape() == Shape{});
  CHECK(file.read<double>("single") == std::vector<double>{2.5});
  std::vector<std::int32_t> few(23);
  CHECK_THAT(error_of([&] { file.dataset("cube").read(std::span(few)); }),
             Contains("x.h5: /cube: has shape (2, 3, 4), 24 values, not 23"));
}

TEST_CASE("rows are written and read, compressed or not") {
  const TemporaryFolder folder;
  for (const int deflate : {0, 6}) {
    {
      File file = File::create(folder / "x.h5");
      Dataset dataset = file.create_dataset("rows", ElementType::kUint8, Shape{5, 2, 2}, deflate);
      for (std::int64_t row = 0; row < 5; ++row) {
        const std::vector<std::uint8_t> values(4, static_cast<std::uint8_t>(10 * row));
        dataset.write_rows(row, std::span<const std::uint8_t>(values));
      }
      file.close();
    }
    const File file = File::open(folder / "x.h5");
    const Dataset dataset = file.dataset("rows");
    std::vector<std::uint8_t> two(8);
    dataset.read_rows(2, std::span(two));
    CHECK(two == std::vector<std::uint8_t>{20, 20, 20, 20, 30, 30, 30, 30});
    CHECK_THAT(error_of([&] { dataset.read_rows(4, std::span(two)); }),
               Contains("rows 4 to 5 do not exist; there are 5"));
    CHECK_THAT(error_of([&] { dataset.read_rows(-1, std::span(two)); }), Contains("rows -1"));
    CHECK_THAT(error_of([&] { dataset.read_rows(0, std::span(two).first(3)); }),
               Contains("whole number of rows"));
    CHECK(dataset.raw_offset().has_value() == (deflate == 0));
  }
}

TEST_CASE("attributes of every kind come back, and are replaced") {
  const TemporaryFolder folder;
  const std::vector<double> many(20000, 0.5);  // beyond the 64 KiB of old object headers
  const std::string json(100000, 'x');
  {
    File file = File::create(folder / "x.h5");
    Dataset dataset = file.write("d", std::vector<float>{1});
    dataset.set_attribute("text", "grün");
    dataset.set_attribute("text", "größer");
    dataset.set_attribute("empty", "");
    dataset.set_attribute("number", 0.1);
    dataset.set_attribute("count", 3);
    dataset.set_attribute("long", INT64_MIN);
    dataset.set_attribute("names", std::vector<std::string>{"a", "", "ccc"});
    dataset.set_attribute("no_names", std::vector<std::string>{});
    dataset.set_attribute("numbers", std::vector<double>{1.5, -2});
    dataset.set_attribute("counts", std::vector<std::int64_t>{1, 2, 3});
    dataset.set_attribute("many", many);
    dataset.set_attribute("json", json);
    file.close();
  }
  const File file = File::open(folder / "x.h5");
  const Dataset d = file.dataset("d");
  CHECK(d.attribute<std::string>("text") == "größer");
  CHECK(d.attribute<std::string>("empty").empty());
  CHECK(d.attribute<double>("number") == 0.1);
  CHECK(d.attribute<std::int64_t>("count") == 3);
  CHECK(d.attribute<double>("count") == 3.0);
  CHECK(d.attribute<std::int64_t>("long") == INT64_MIN);
  CHECK(d.attribute<std::vector<std::string>>("names") == std::vector<std::string>{"a", "", "ccc"});
  CHECK(d.attribute<std::vector<std::string>>("text") == std::vector<std::string>{"größer"});
  CHECK(d.attribute<std::vector<std::string>>("no_names").empty());
  CHECK(d.attribute<std::vector<double>>("numbers") == std::vector<double>{1.5, -2});
  CHECK(d.attribute<std::vector<std::int64_t>>("counts") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(d.attribute<std::vector<double>>("many") == many);
  CHECK(d.attribute<std::string>("json") == json);
  CHECK(d.attribute_names() == std::vector<std::string>{"count", "counts", "empty", "json", "long", "many",
                                                        "names", "no_names", "number", "numbers", "text"});
  CHECK(d.has_attribute("text"));
  CHECK_FALSE(d.has_attribute("texts"));
  CHECK_THAT(error_of([&] { d.attribute<std::string>("texts"); }),
             Contains("x.h5: /d: has no attribute \"texts\""));
  CHECK_THAT(error_of([&] { d.attribute<std::string>("number"); }),
             Contains("cannot read attribute \"number\": it holds floating-point numbers, not text"));
  CHECK_THAT(error_of([&] { d.attribute<std::int64_t>("number"); }), Contains("not whole numbers"));
  CHECK_THAT(error_of([&] { d.attribute<double>("numbers"); }), Contains("it holds 2 values instead of one"));
}

TEST_CASE("a text with a zero byte is refused and not truncated") {
  const TemporaryFolder folder;
  File file = File::create(folder / "a.h5");
  const std::string text("a\0b", 3);
  CHECK_THAT(error_of([&] { file.set_attribute("name", text); }), Contains("\"name\" cannot be"));
  const std::vector<std::string> texts{"a", text};
  CHECK_THAT(error_of([&] { file.set_attribute("names", std::span<const std::string>(texts)); }),
             Contains("\"names\" cannot be"));
}

TEST_CASE("groups nest, keep their order, and report missing objects") {
  const TemporaryFolder folder;
  {
    File file = File::create(folder / "x.h5");
    for (const char* name : {"zebra", "ant", "conv_10", "conv_2"}) file.create_group(name);
    file.create_group("ant").write("deep/down/values", std::vector<float>{1});
    file.create_group("ant");
    CHECK_THAT(error_of([&] { file.write("ant/deep/down/values", std::vector<float>{1}); }),
               Contains("x.h5: /ant/deep/down/values: exists already"));
    CHECK_THAT(error_of([&] { file.create_group("ant/deep/down/values/more"); }), Contains("is not a group"));
    file.close();
  }
  const File file = File::open(folder / "x.h5");
  CHECK(file.path() == "/");
  CHECK(file.children() == std::vector<std::string>{"zebra", "ant", "conv_10", "conv_2"});
  const Group ant = file.group("ant");
  CHECK(ant.path() == "/ant");
  CHECK(ant.contains("deep/down/values"));
  CHECK(ant.contains("/zebra"));
  CHECK(ant.has_dataset("deep/down/values"));
  CHECK_FALSE(ant.has_group("deep/down/values"));
  CHECK(ant.has_group("deep"));
  CHECK_FALSE(ant.contains("deep/up/values"));
  CHECK_FALSE(ant.contains("deep/down/values/more"));
  CHECK(ant.group("deep").dataset("down/values").where() ==
        (folder / "x.h5").string() + ": /ant/deep/down/values");
  CHECK_THAT(error_of([&] { file.dataset("ant/none"); }), Contains("x.h5: /ant/none: no such dataset"));
  CHECK_THAT(error_of([&] { file.dataset("ant"); }), Contains("x.h5: /ant: is not a dataset"));
  CHECK_THAT(error_of([&] { file.group("bee"); }), Contains("x.h5: /bee: no such group"));
}

TEST_CASE("raw_offset is the position of the bytes") {
  const TemporaryFolder folder;
  write_example(folder / "x.h5");
  const File file = File::open(folder / "x.h5");
  const std::uint64_t offset = file.dataset("layers/conv/kernel").raw_offset().value();
  const std::string bytes = bytes_of(folder / "x.h5");
  const float kernel[] = {1, -2, 3.5F, 0, 1e-38F, 6};
  CHECK(bytes.substr(offset, sizeof(kernel)) ==
        std::string(reinterpret_cast<const char*>(kernel), sizeof(kernel)));
}

TEST_CASE("reserved arrays are filled in the file, before or after it is closed") {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.h5";
  const std::string before = "0123456789";
  const std::string after = "abcdefghij";
  std::uint64_t offsets[2];
  const auto put = [&](const std::string& bytes, std::uint64_t offset) {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(offset));
    out << bytes;
  };
  {
    File file = File::create(path);
    offsets[0] = file.reserve("before", ElementType::kUint8, Shape{10}).raw_offset().value();
    offsets[1] = file.reserve("after", ElementType::kUint8, Shape{10}).raw_offset().value();
    file.reserve("none", ElementType::kFloat32, Shape{0, 3});
    // A terabyte: never in memory, only a hole in the file.
    file.reserve("huge", ElementType::kUint8, Shape{std::int64_t{1} << 40});
    put(before, offsets[0]);
    file.set_attribute("later", "an attribute may be set later");
    file.write("values", std::vector<float>{1, 2, 3});
    file.close();
  }
  put(after, offsets[1]);
  const File file = File::open(path);
  const auto text = [&](const char* name) {
    const auto bytes = file.read<std::uint8_t>(name);
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(text("before") == before);
  CHECK(text("after") == after);
  CHECK(file.read<float>("values") == std::vector<float>{1, 2, 3});
  CHECK(file.attribute<std::string>("later") == "an attribute may be set later");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_size > std::int64_t{1} << 40);
  CHECK(status.st_blocks * 512 < 1 << 20);
}

TEST_CASE("equal contents give equal bytes, without time stamps") {
  const TemporaryFolder folder;
  write_example(folder / "a.h5");
  write_example(folder / "b.h5");
  const std::string bytes = bytes_of(folder / "a.h5");
  CHECK(bytes == bytes_of(folder / "b.h5"));
  // HDF5 would store seconds since 1970 as 32 bits, little endian.
  const std::int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  for (std::int64_t time = now - 5; time <= now; ++time) {
    std::string stamp;
    for (int shift = 0; shift < 32; shift += 8) stamp += static_cast<char>(time >> shift & 0xFF);
    CHECK_THAT(bytes, !Contains(stamp));
  }
}

TEST_CASE("an unreadable HDF5 file is refused with its reason") {
  const TemporaryFolder folder;
  const auto open_error = [&](const std::string& name) {
    return error_of([&] { File::open(folder / name); });
  };
  write_example(folder / "good.h5");
  const std::string good = bytes_of(folder / "good.h5");

  CHECK_THAT(open_error("missing.h5"), EndsWith("missing.h5: no such file"));
  CHECK_THAT(open_error("."), Contains("is a folder"));
  write_file(folder / "empty.h5", "");
  CHECK_THAT(open_error("empty.h5"), EndsWith("empty.h5: is empty"));
  write_file(folder / "text.h5", std::string(5000, 'x'));
  CHECK_THAT(open_error("text.h5"), EndsWith("text.h5: is not an HDF5 file"));
  CHECK_THAT(hint_of([&] { File::open(folder / "text.h5"); }), Contains("convoke prepare"));
  for (const std::size_t bytes : {good.size() - 1, good.size() / 2, std::size_t{100}}) {
    write_file(folder / "cut.h5", good.substr(0, bytes));
    CHECK_THAT(open_error("cut.h5"), Contains("cut.h5: is truncated"));
  }
  write_file(folder / "cut.h5", good.substr(0, 20));
  CHECK_THAT(open_error("cut.h5"), Contains("cut.h5: is damaged"));
  std::string damaged = good;
  damaged[40] = static_cast<char>(damaged[40] ^ 0x55);  // in the superblock, which has a checksum
  write_file(folder / "damaged.h5", damaged);
  CHECK_THAT(open_error("damaged.h5"), Contains("damaged.h5: is damaged"));
}

TEST_CASE("a file that cannot be written is an error and leaves nothing behind") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { File::create(folder / "none/x.h5"); }),
             Contains("none/x.h5: cannot be created: No such file or directory"));

  make_full(folder / "full.h5");
  File file = File::create(folder / "full.h5");
  CHECK_THAT(error_of([&] { file.write("values", std::vector<float>(100000, 1.0F)); }),
             Contains("full.h5: cannot be written: No space left on device"));
  CHECK_FALSE(fs::is_symlink(folder / "full.h5"));

  make_full(folder / "full.h5");
  File structure = File::create(folder / "full.h5");
  structure.write("values", std::vector<float>(100, 1.0F));
  CHECK_THAT(error_of([&] { structure.close(); }),
             Contains("full.h5: cannot be written: No space left on device"));
  CHECK_FALSE(fs::is_symlink(folder / "full.h5"));

  // HDF5 continues to work, and an unfinished file is removed with its object.
  write_example(folder / "good.h5");
  CHECK(File::open(folder / "good.h5").attribute<std::string>("format") == "example");
  { File::create(folder / "unfinished.h5").write("values", std::vector<float>{1}); }
  CHECK_FALSE(fs::exists(folder / "unfinished.h5"));
}

TEST_CASE("files of h5py are read: fixed text, other byte orders and sizes, a user block, compression") {
  const File file = File::open(source_path("test/hdf5/files/foreign.h5"));
  CHECK(file.attribute<std::string>("fixed") == "conv2d");
  CHECK(file.attribute<std::vector<std::string>>("names") == std::vector<std::string>{"kernel:0", "bias:0"});
  CHECK(file.attribute<std::string>("variable") == "größer");
  CHECK(file.attribute<std::vector<std::string>>("none").empty());
  CHECK(file.attribute<double>("half") == 0.5);
  CHECK(file.attribute<std::int64_t>("count") == 3);

  CHECK(file.read<std::int32_t>("big_endian") == std::vector<std::int32_t>{1, 2, -3});
  CHECK_FALSE(file.dataset("big_endian").raw_offset().has_value());
  const std::uint64_t offset = file.dataset("little_endian").raw_offset().value();
  const std::string bytes = bytes_of(source_path("test/hdf5/files/foreign.h5"));
  CHECK(bytes.substr(offset, 12) == std::string("\1\0\0\0\2\0\0\0\xfd\xff\xff\xff", 12));

  CHECK(file.dataset("int16").type() == ElementType::kOther);
  CHECK(file.read<std::int32_t>("int16") == std::vector<std::int32_t>{1, -2, 300, 4});
  CHECK(file.read<float>("int16") == std::vector<float>{1, -2, 300, 4});
  CHECK_FALSE(file.dataset("gzip").raw_offset().has_value());
  CHECK(file.read<std::uint8_t>("gzip")[23] == 23);
  CHECK_THAT(error_of([&] { ForeignArray(file.dataset("lzf")).readable_type(); }),
             Contains("/lzf: is compressed by \"lzf\", which HDF5 cannot read here"));
  CHECK_THAT(error_of([&] { file.read<float>("compact_text"); }),
             Contains("it holds other values than numbers"));
  CHECK(file.group("group").children() == std::vector<std::string>{"a", "z"});
  CHECK(file.read<double>("group/z") == std::vector<double>{2.5});
  CHECK(file.dataset("group/a").shape() == Shape{0, 3});
  CHECK_FALSE(file.contains("dangling"));
}

namespace {

// Returns the size of this process's open files in memory (memfd), in bytes.
std::uint64_t bytes_in_memory() {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    const std::string name = fs::read_symlink(entry.path(), closed).string();
    struct stat facts {};
    if (name.starts_with("/memfd:") && ::stat(entry.path().c_str(), &facts) == 0) {
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("the arrays of a file being written take no memory") {
  const TemporaryFolder folder;
  std::vector<float> values(8 << 20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  File file = File::create(folder / "large.h5");
  file.write("first", std::vector<float>{1, 2, 3});
  file.create_group("a").write("large", std::span<const float>(values), Shape{8192, 1024});
  auto rows = file.create_dataset("rows", ElementType::kFloat32, Shape{8192, 1024});
  rows.write_rows(4096, std::span<const float>(values).first(4096 * 1024));
  rows.write_rows(1, std::span<const float>(values).first(1024));
  rows.set_attribute("checksum", 7);
  const std::vector<double> converted(1024, 0.5);
  file.create_dataset("converted", ElementType::kFloat32, Shape{1024})
      .write(std::span<const double>(converted));
  file.create_dataset("packed", ElementType::kFloat32, Shape{8, 1024}, 1)
      .write(std::span<const float>(values).first(8192));
  file.write("last", std::vector<std::uint8_t>(5000, 9));
  CHECK(bytes_in_memory() < (1 << 20));
  file.close();

  const File read = File::open(folder / "large.h5");
  CHECK(read.read<float>("first") == std::vector<float>{1, 2, 3});
  CHECK(read.read<float>("a/large") == values);
  std::vector<float> expected(values.size(), 0.0F);
  std::copy_n(values.begin(), 4096 * 1024, expected.begin() + 4096 * 1024);
  std::copy_n(values.begin(), 1024, expected.begin() + 1024);
  CHECK(read.read<float>("rows") == expected);
  CHECK(read.dataset("rows").attribute<std::int64_t>("checksum") == 7);
  CHECK(read.read<float>("converted") == std::vector<float>(1024, 0.5F));
  CHECK(read.read<float>("packed") == std::vector<float>(values.begin(), values.begin() + 8192));
  CHECK(read.read<std::uint8_t>("last") == std::vector<std::uint8_t>(5000, 9));
}

TEST_CASE("threads take turns with HDF5, which may be built without thread safety") {
  const TemporaryFolder folder;
  write_example(folder / "a.h5");
  std::atomic<bool> done = false;
  std::thread other;
  {
    const LibraryLock lock;
    other = std::thread([&] {
      File::open(folder / "a.h5").attribute<std::string>("format");
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_FALSE(done);
    CHECK(File::open(folder / "a.h5").attribute<std::string>("format") == "example");  // nested
  }
  other.join();
  CHECK(done);
}

TEST_CASE("a file in memory is read as one on the disk") {
  const TemporaryFolder folder;
  write_example(folder / "x.h5");
  const std::string bytes = bytes_of(folder / "x.h5");
  const auto image = std::as_bytes(std::span(bytes));
  const File file = File::open_image(image, "a.keras: model.weights.h5");
  CHECK(file.attribute<std::string>("format") == "example");
  CHECK(file.read<float>("layers/conv/bias") == std::vector<float>{0.25F, -0.5F});
  CHECK(file.dataset("layers/conv/kernel").stored_bytes() == 6 * sizeof(float));
  CHECK_THAT(error_of([&] { File::open_image(image.first(bytes.size() / 2), "half"); }),
             Contains("half: is truncated"));
  CHECK_THAT(error_of([&] { File::open_image({}, "none"); }), Contains("none: is empty"));
}

TEST_CASE("a file within another one is read in place") {
  const TemporaryFolder folder;
  write_example(folder / "x.h5");
  const std::string inner = bytes_of(folder / "x.h5");
  write_file(folder / "outer", "before" + inner + "after");
  const convoke::os::File outer(folder / "outer", convoke::os::Access::kRead);
  const File file = File::open_part(outer, 6, inner.size(), "outer: x.h5");
  for (int time = 0; time < 2; ++time) {
    CHECK(file.read<float>("layers/conv/bias") == std::vector<float>{0.25F, -0.5F});
    file.release_memory();
  }
  CHECK_THAT(error_of([&] { File::open_part(outer, 6, inner.size() / 2, "half"); }),
             Contains("half: is truncated"));
  CHECK_THAT(error_of([&] { File::open_part(outer, 6, inner.size() + 6, "more"); }),
             Contains("outer: ends before"));
}

TEST_CASE("links and arrays in other files are not followed") {
  const TemporaryFolder folder;
  write_example(folder / "other.h5");
  {
    File file = File::create(folder / "x.h5");
    file.write("one", std::vector<float>{1});
    file.close();
    const LibraryLock lock;
    const hid_t id = H5Fopen((folder / "x.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/layers", id, "linked", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(plist, "other.h5", 0, 8);
    const hsize_t extent = 2;
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    H5Dclose(H5Dcreate2(id, "elsewhere", H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(plist);
    H5Fclose(id);
  }
  const File file = File::open(folder / "x.h5");
  CHECK_FALSE(file.contains("linked"));
  CHECK_THAT(error_of([&] { file.dataset("elsewhere"); }), Contains("in other files"));
}
