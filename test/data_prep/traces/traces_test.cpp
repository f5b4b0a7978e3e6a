#include "convoke/data_prep/traces/trace_files.hpp"

#include "convoke/data_prep/traces/io_features.hpp"
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

namespace {

std::vector<Request> at_times(std::initializer_list<double> times) {
  std::vector<Request> requests;
  for (const double time : times) requests.push_back({.time = time, .size = 1});
  return requests;
}

std::vector<std::size_t> lengths(const std::vector<Request>& requests, const std::string& window) {
  std::vector<std::size_t> found;
  for (const auto& part : windows(requests, window_from(window))) found.push_back(part.size());
  return found;
}

}  // namespace

// File 0: ends at 100, then begins at 100 (distance 0), ends at 300, then begins at 50 (distance 250).
// File 1: one request, so no distance.
TEST_CASE("the features of four requests to two files, by hand") {
  const std::vector<Request> requests{{.offset = 0, .size = 100, .file = 0},
                                      {.offset = 7, .size = 30, .file = 1},
                                      {.offset = 100, .size = 200, .file = 0},
                                      {.offset = 50, .size = 10, .file = 0}};
  const IoFeatures features = io_features(requests);
  CHECK(values(features) == std::array<double, 5>{10, 85, 200, 2, 125});
  CHECK(io_features(std::span(requests).first(1)).distance == 0);
}

TEST_CASE("requests of the same time keep their order") {
  std::vector<Request> requests{{.time = 2, .offset = 1}, {.time = 1, .offset = 2}, {.time = 1, .offset = 3}};
  sort_by_time(requests);
  CHECK(requests[0].offset == 2);
  CHECK(requests[1].offset == 3);
  CHECK(requests[2].offset == 1);
}

TEST_CASE("windows by number keep a rest of at least half") {
  const std::vector<Request> requests(11);
  using Lengths = std::vector<std::size_t>;
  CHECK(lengths(requests, "4") == Lengths{4, 4, 3});
  CHECK(lengths(requests, "5") == Lengths{5, 5});
  CHECK(lengths(requests, "22") == Lengths{11});
  CHECK(lengths(requests, "23").empty());
}

TEST_CASE("windows by time begin at the first request and skip pauses") {
  CHECK(lengths(at_times({5, 5.4, 5.5, 9.1, 9.2}), "0.5s") == std::vector<std::size_t>{2, 1, 2});
  CHECK(lengths({}, "1s").empty());
}

TEST_CASE("a length of a window that is none is refused") {
  CHECK(to_string(window_from("256")) == "256 requests");
  CHECK(to_string(window_from("0.5s")) == "0.5 s");
  for (const char* const text : {"", "s", "0", "-1", "2.5", "abc", "infs", "1m"})
    CHECK_THAT(error_of([&] { window_from(text); }), Contains("is not a number of requests or a time"));
}
