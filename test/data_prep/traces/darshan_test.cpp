#include "convoke/data_prep/traces/darshan.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;

namespace {

// Dumps of a log of Darshan 3.5.0: two ranks write a shared file alternately (4096 bytes each), read some of
// it (1000 bytes), and each writes a file of its own (65536 bytes) and 512 bytes by MPI-IO. The expected
// numbers come from a few lines of Python that sum the columns of the dumps.
const fs::path kDumps = source_path("test/data_prep/files/darshan");

constexpr const char* kBegin =
    "# darshan log version: 3.41\n"
    "# DXT, file_id: 7, file_name: /x\n"
    "# DXT, write_count: 1, read_count: 1\n";
constexpr const char* kWrite = " X_POSIX 0 write 0 0 4096 0.0010 0.0011 N/A\n";

std::string error_of_dump(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "dump.txt") << text;
  return error_of([&] { read_darshan_dump(folder / "dump.txt"); });
}

}  // namespace

TEST_CASE("darshan-dxt-parser's requests of a real log") {
  CHECK(is_darshan_dump(kDumps / "requests.txt"));
  const DarshanDump dump = read_darshan_dump(kDumps / "requests.txt");
  CHECK_FALSE(dump.counters.has_value());
  REQUIRE(dump.requests.size() == 29);
  const IoFeatures features = io_features(dump.requests);
  CHECK(features.smallest == 40);
  CHECK(features.largest == 65536);
  CHECK(features.mean == Approx(20017.379310344826));
  CHECK(features.files == 5);
  CHECK(features.distance == Approx(5078.333333333333));
}

TEST_CASE("darshan-parser's counters of the same log") {
  CHECK(is_darshan_dump(kDumps / "counters.txt"));
  const DarshanDump dump = read_darshan_dump(kDumps / "counters.txt");
  CHECK(dump.requests.empty());
  REQUIRE(dump.counters.has_value());
  CHECK(dump.counters->smallest == 40);
  CHECK(dump.counters->largest == 65536);
  CHECK(dump.counters->mean == Approx(20017.379310344826));
  CHECK(dump.counters->files == 5);
  CHECK(dump.counters->distance == Approx(2905.3333333333335));
}

TEST_CASE("sizes that counters do not name are ends of their bin") {
  const TemporaryFolder folder;
  std::ofstream(folder / "dump.txt") << "# darshan log version: 3.41\n"
                                        "POSIX\t0\t9\tPOSIX_READS\t30\t/x\t/\text4\n"
                                        "POSIX\t0\t9\tPOSIX_BYTES_READ\t60000\t/x\t/\text4\n"
                                        "POSIX\t0\t9\tPOSIX_SIZE_READ_1K_10K\t30\t/x\t/\text4\n"
                                        "POSIX\t0\t9\tPOSIX_ACCESS1_ACCESS\t2000\t/x\t/\text4\n"
                                        "POSIX\t0\t9\tPOSIX_ACCESS1_COUNT\t20\t/x\t/\text4\n";
  const DarshanDump dump = read_darshan_dump(folder / "dump.txt");
  REQUIRE(dump.counters.has_value());
  CHECK(dump.counters->smallest == 1025);
  CHECK(dump.counters->largest == 10240);
  CHECK(dump.counters->mean == 2000);
}

TEST_CASE("a job without I/O has neither requests nor counters") {
  const TemporaryFolder folder;
  std::ofstream(folder / "dump.txt") << "# darshan log version: 3.41\n\n# no DXT module data\n";
  const DarshanDump dump = read_darshan_dump(folder / "dump.txt");
  CHECK(dump.requests.empty());
  CHECK_FALSE(dump.counters.has_value());
}

TEST_CASE("damaged dumps are refused by file and line") {
  const std::string begin = kBegin, write = kWrite;
  CHECK_THAT(error_of_dump(begin + write), Contains("dump.txt:4: 1 requests of the file above are missing"));
  CHECK_THAT(error_of_dump(begin + write + " X_POSIX 0 read 0 40"),
             Contains("dump.txt:5: has fewer columns"));
  CHECK_THAT(error_of_dump(begin + write + " X_POSIX 0 seek 0 0 1 0.1 0.1\n"),
             Contains("dump.txt:5: the operation is \"seek\""));
  CHECK_THAT(error_of_dump(begin + write + " X_POSIX 0 read 0 0x1 1 0.1 0.1\n"),
             Contains("dump.txt:5: the offset is \"0x1\", not a whole number"));
  CHECK_THAT(error_of_dump(begin + write + " X_POSIX 0 read 0 -1 1 0.1 0.1\n"),
             Contains("dump.txt:5: has a negative offset"));
  CHECK_THAT(error_of_dump(begin + "garbage\n"), Contains("dump.txt:4: is not a line of darshan-parser"));
  CHECK_THAT(error_of_dump("# darshan log version: 3.41\n" + write),
             Contains("dump.txt:2: comes before a line that names its file"));
  CHECK_THAT(error_of_dump("# darshan log version: 3.41\nPOSIX\t0\t9\tPOSIX_READS\tmany\n"),
             Contains("dump.txt:2: the value is \"many\""));
}
