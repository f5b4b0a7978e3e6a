#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/traces/request.hpp"

namespace convoke::data_prep {

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

}  // namespace convoke::data_prep
