#include "convoke/archive/zip_writer.hpp"

#include "convoke/core/checksum.hpp"
#include "convoke/os/atomic_file.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::archive;

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
