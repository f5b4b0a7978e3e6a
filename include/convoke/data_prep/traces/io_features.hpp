#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::data_prep {

/// A read or write of a program.
struct Request {
  double time = 0;          ///< when it began, in seconds
  std::int64_t offset = 0;  ///< of its first byte in the file
  std::int64_t size = 0;    ///< bytes
  std::int32_t file = 0;    ///< number of the file; equal numbers are the same file
};

/// Requests of a program, or of all processes of a parallel program, in the order of time.
struct Trace {
  std::vector<Request> requests;
  std::string label = {};  ///< the class, if the file names it; else empty
  std::string group = {};  ///< the run of the program, if the file names it; else empty
};

/// Sorts requests by time. Requests of the same time keep their order.
void sort_by_time(std::vector<Request>& requests);

/// The length of a window of requests: a number of requests or a time.
struct Window {
  std::int64_t requests = 0;  ///< 0: by time
  double seconds = 0;         ///< 0: by number
};

/// Parses "256" (requests) or "0.5s" (seconds). Throws Error for anything else.
Window window_from(const std::string& text);

/// Returns "256 requests" or "0.5 s".
std::string to_string(const Window& window);

/// Cuts requests, which are in the order of time, into windows that follow each other. By number, the rest of
/// a trace is a window if it has at least half of the requests. By time, windows begin at the first request;
/// windows without a request do not count.
std::vector<std::span<const Request>> windows(std::span<const Request> requests, const Window& window);

/// A window of requests as an I/O server sees it: the five features of NN-TWINS (recipe io-patterns).
struct IoFeatures {
  std::int64_t smallest = 0, largest = 0;  ///< request, bytes
  double mean = 0;                         ///< request, bytes
  std::int64_t files = 0;                  ///< that the requests use
  double distance = 0;  ///< mean of |offset - end of the previous request to the same file|, bytes; 0 if no
                        ///< file has two requests
};

/// Names of the features as columns, in the order of values().
inline constexpr std::array<std::string_view, 5> kIoFeatureNames{
    "min_request_size", "average_request_size", "max_request_size", "file_identifiers", "average_distance"};

/// Returns the features in the order of kIoFeatureNames.
std::array<double, 5> values(const IoFeatures& features);

/// Computes the features of at least one request, in the order of the requests.
IoFeatures io_features(std::span<const Request> requests);

}  // namespace convoke::data_prep
