#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::data {

/// Returns the weight of a sample of each class that makes all classes count equally: n / (K n_k), as
/// scikit-learn's class_weight="balanced", for n samples of K classes, n_k of class k. Throws Error, naming
/// the class, if a class has no sample.
std::vector<double> balanced_class_weights(std::span<const std::int32_t> labels, std::int64_t classes);

/// Returns an epoch in which every class has as many places, ids.size() / K, where K is the number of classes
/// that occur; the classes take turns in using the places that remain. The samples of a class fill its places
/// in an order keyed by (seed, class), and are shuffled again after each has had its turn. The next epoch
/// continues there, so all samples of a large class are used too. `labels`: of all samples that ids index.
/// Sorted by class. A pure function of its arguments.
std::vector<std::uint32_t> balanced_epoch(std::span<const std::uint32_t> ids,
                                          std::span<const std::int32_t> labels, std::uint64_t seed,
                                          std::uint32_t epoch);

}  // namespace convoke::data
