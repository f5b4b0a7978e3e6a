#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/matrix.hpp"
#include "convoke/explore/sampling.hpp"

namespace convoke::explore {

/// Samples as vectors with meaningful distances.
struct Vectors {
  Matrix rows;       ///< (n, D), D at most kMostColumns
  Shape shape = {};  ///< (h, w, C) if a row is an image; else empty
  std::string what;  ///< how they were made, for a caption
};

constexpr std::int64_t kMostColumns = 1024;

/// Reads the samples at `places` one by one and converts them:
///   images of 8 bits: pixels / 255, averaged over areas if there are more than kMostColumns values;
///   measured numbers: each channel or feature is standardised with `mean` and `deviation`; images are
///     averaged over areas, sequences over time; larger numbers of features are hashed with signs (K.
///     Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009);
///   tokens: tf-idf of the 1,000 tokens that occur in most samples, scaled to length 1 (G. Salton, C.
///     Buckley, Information Processing & Management 24, 1988), idf = ln(n / samples with the token) + 1.
Vectors vectors_of(const data::DatasetReader& reader, std::span<const Place> places,
                   std::span<const double> mean, std::span<const double> deviation);

}  // namespace convoke::explore
