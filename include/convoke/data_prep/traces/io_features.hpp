#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "convoke/data_prep/traces/request.hpp"

namespace convoke::data_prep {

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
