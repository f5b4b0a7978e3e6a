#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/random.hpp"

namespace convoke::data {

/// The numbers of samples that stay together.
using SampleGroup = std::vector<std::size_t>;

/// Returns the samples of each group, in the order of their first samples. `groups`: the number of each
/// sample's group.
std::vector<SampleGroup> sample_groups(std::span<const std::int32_t> groups);

/// Returns the part of each group, such that part p has about fractions[p] of all samples and of each
/// stratum: the largest groups first, equal ones in an order keyed by `key`, each to the part that it brings
/// nearest to its due, as scikit-learn's StratifiedGroupKFold. `stratum_of`: of each sample, at least 0,
/// usually its label. A pure function of its arguments. A part may stay empty.
/// Resumed runs depend on it: it must deal the same groups in every version.
std::vector<std::size_t> deal_groups(std::span<const SampleGroup> groups,
                                     std::span<const std::int32_t> stratum_of,
                                     std::span<const double> fractions, const RandomKey& key);

/// Exchanges groups between the parts of deal_groups() if a part has no sample of a stratum although one
/// group of it would be nearer to its due: a group of the stratum for one of the part, or for none, as long
/// as the counts come nearer to the dues. Leaves other deals as they are. Deterministic.
void supply_strata(std::span<const SampleGroup> groups, std::span<const std::int32_t> stratum_of,
                   std::span<const double> fractions, std::vector<std::size_t>& part_of);

}  // namespace convoke::data
