#pragma once
#include <cstdint>
#include <string>
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

}  // namespace convoke::data_prep
