#include "convoke/archive/zip.hpp"

#include "convoke/core/checksum.hpp"
#include "convoke/os/atomic_file.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::archive;

namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

struct Entry {
  std::string name, data;
  std::uint64_t bytes = 0;  ///< announced
  unsigned method = 0;
  std::uint64_t offset = ~0ULL;  ///< of another entry's header; else its own
  std::uint32_t crc = 0;
};

// Writes the records of PKWARE's APPNOTE 4.3 as they are told.
std::string zip_of(const std::vector<Entry>& entries) {
  std::string file, directory;
  for (const Entry& e : entries) {
    const std::uint64_t offset = e.offset == ~0ULL ? file.size() : e.offset;
    const std::string facts =
        little(e.crc, 4) + little(e.data.size(), 4) + little(e.bytes, 4) + little(e.name.size(), 2);
    file += little(0x04034b50, 4) + little(20, 2) + little(0, 2) + little(e.method, 2) + little(0, 4) +
            facts + little(0, 2) + e.name + e.data;
    directory += little(0x02014b50, 4) + little(20, 2) + little(20, 2) + little(0, 2) + little(e.method, 2) +
                 little(0, 4) + facts + little(0, 2) + little(0, 2) + little(0, 8) + little(offset, 4) +
                 e.name;
  }
  return file + directory + little(0x06054b50, 4) + little(0, 4) + little(entries.size(), 2) +
         little(entries.size(), 2) + little(directory.size(), 4) + little(file.size(), 4) + little(0, 2);
}

}  // namespace

TEST_CASE("the members of a zip file are read") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.zip";
  // "aaaaaaaa", deflated by zlib
  write_file(file, zip_of({{.name = "plain", .data = "hello", .bytes = 5, .crc = 0x3610a686},
                           {.name = "small",
                            .data = std::string("\x4b\x4c\x84\x00\x00", 5),
                            .bytes = 8,
                            .method = 8,
                            .crc = 0xbf848046}}));
  const ZipFile zip(file);
  CHECK(zip.text("plain", 100) == "hello");
  CHECK_FALSE(zip.contains("other"));
  const auto plain = zip.open("plain");
  REQUIRE(plain->offset_in_file());
  CHECK(bytes_of(file).substr(*plain->offset_in_file(), *plain->size()) == "hello");
  CHECK_FALSE(zip.open("small")->offset_in_file());
  CHECK_THAT(error_of([&] { zip.open("other"); }), Contains("has no member other"));
  CHECK_THAT(error_of([&] { zip.text("plain", 4); }), Contains("not plausible"));
  CHECK(zip.text("small", 100) == "aaaaaaaa");
}

TEST_CASE("a zip file that lies is refused") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a.zip";
  const auto error = [&](const std::vector<Entry>& entries) {
    write_file(file, zip_of(entries));
    return error_of([&] { ZipFile(file).text("x"); });
  };
  const Entry good{.name = "x", .data = "hello", .bytes = 5, .crc = 0x3610a686};
  const std::string packed("\x4b\x4c\x84\x00\x00", 5);
  CHECK(error({good}) == "");
  CHECK_THAT(error({good, good}), Contains("two members x"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 1U << 31, .method = 8}}),
             Contains("not plausible"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 6, .crc = 1}}), Contains("sizes differ"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 5, .crc = 1}}), Contains("checksum"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 5, .method = 8}}), Contains("is corrupt"));
  CHECK_THAT(error({{.name = "x", .data = packed, .bytes = 7, .method = 8}}),
             Contains("it has 8 bytes unpacked, not 7"));
  CHECK_THAT(error({{.name = "x", .data = packed, .bytes = 8, .method = 8}}), Contains("checksum"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 5, .method = 12}}),
             Contains("packed by method 12"));
  CHECK_THAT(error({{.name = "x", .data = "hello", .bytes = 5, .offset = 1000}}), Contains("lies outside"));
  CHECK_THAT(error({good, {.name = "y", .data = "hello", .bytes = 5, .offset = 0}}), Contains("overlap"));
  write_file(file, zip_of({good}).substr(0, 60));
  CHECK_THAT(error_of([&] { ZipFile{file}; }), Contains("the directory at its end is missing"));
}

namespace {

std::uint32_t number(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

TEST_CASE("an archive is what PKWARE's note says, byte by byte") {
  const TemporaryFolder folder;
  os::replace_text(folder / "weights", std::string(3 << 20, 'w'));
  const std::array entries{ZipEntry{.name = "a.json", .text = "123456789"},
                           ZipEntry{.name = "weights.h5", .file = folder / "weights"}};
  write_zip(folder / "model.zip", entries);
  const std::string bytes = bytes_of(folder / "model.zip");

  // local header of the first entry, stored
  CHECK(bytes.substr(0, 4) == "PK\x03\x04");
  CHECK(number(bytes, 8, 2) == 0);
  CHECK(number(bytes, 14, 4) == 0xCBF43926);  // the CRC's check value
  CHECK(number(bytes, 18, 4) == 9);
  CHECK(number(bytes, 22, 4) == 9);
  CHECK(bytes.substr(30, 6 + 9) == "a.json123456789");
  const std::size_t second = 30 + 6 + 9;
  CHECK(bytes.substr(second, 4) == "PK\x03\x04");
  CHECK(bytes[second + 30 + 10] == 'w');

  // end of the central directory: two entries, and where the directory is
  const std::size_t end = bytes.size() - 22;
  CHECK(bytes.substr(end, 4) == "PK\x05\x06");
  CHECK(number(bytes, end + 10, 2) == 2);
  const std::size_t directory = number(bytes, end + 16, 4);
  CHECK(directory == second + 30 + 10 + (3 << 20));
  CHECK(directory + number(bytes, end + 12, 4) == end);
  CHECK(bytes.substr(directory, 4) == "PK\x01\x02");
  CHECK(number(bytes, directory + 42, 4) == 0);
  const std::size_t next = directory + 46 + 6;
  CHECK(number(bytes, next + 42, 4) == second);
  CHECK(number(bytes, next + 24, 4) == 3 << 20);
  const std::string content(3 << 20, 'w');
  CHECK(number(bytes, next + 16, 4) == crc32(std::as_bytes(std::span(content))));
}

TEST_CASE("an archive with more entries than it can count is refused") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { write_zip(folder / "x.zip", std::vector<ZipEntry>(65'536)); }),
             Contains("has 65536 entries"));
}
