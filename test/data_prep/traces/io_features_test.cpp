#include "convoke/data_prep/traces/io_features.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;

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
