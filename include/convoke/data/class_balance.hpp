#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::data {

/// What a sample of each class must count for all classes to count alike, n / (K n_k), as scikit-learn's
/// class_weight="balanced"; n samples of K classes, n_k of class k. Throws Error, naming the class, if one
/// has no sample.
std::vector<double> balanced_class_weights(std::span<const std::int32_t> labels, std::int64_t classes);

/// An epoch in which every class has as many places, ids.size() / K, of which the classes take turns in
/// having one more where that leaves a rest; K is the number of classes that occur. A class's places are
/// filled with its samples in an order keyed by (seed, class), anew shuffled each time all had their turn;
/// the next epoch goes on there, so that also of a large class all samples are seen. `labels`: of all samples
/// that ids count. Sorted by class. A pure function of its arguments.
std::vector<std::uint32_t> balanced_epoch(std::span<const std::uint32_t> ids,
                                          std::span<const std::int32_t> labels, std::uint64_t seed,
                                          std::uint32_t epoch);

}  // namespace convoke::data
