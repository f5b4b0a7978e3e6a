#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/matrix.hpp"
#include "convoke/explore/sampling.hpp"

namespace convoke::explore {

/// Samples as vectors in which distances mean something.
struct Vectors {
  Matrix rows;       ///< (n, D), D at most kMostColumns
  Shape shape = {};  ///< (h, w, C) of images that a row is; else empty
  std::string what;  ///< how they were made, for a caption
};

constexpr std::int64_t kMostColumns = 1024;

/// The samples at `places`, read one by one:
///   images of 8 bits: pixels / 255, averaged over areas where there are more than kMostColumns values;
///   measured numbers: each channel or feature less its mean, over its deviation (`mean`, `deviation`: of
///     each); images averaged over areas, sequences over time; more features are hashed with signs (K.
///     Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009);
///   tokens: tf-idf of the 1,000 tokens that most of the samples have, scaled to length 1 (G. Salton, C.
///     Buckley, Information Processing & Management 24, 1988), idf = ln(n / samples that have it) + 1.
Vectors vectors_of(const data::DatasetReader& reader, std::span<const Place> places,
                   std::span<const double> mean, std::span<const double> deviation);

}  // namespace convoke::explore
