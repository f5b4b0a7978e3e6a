#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// A configuration that both studies have.
struct ReplicatedConfiguration {
  Coordinates at;
  Statistics first, second;  ///< of the makespan
  Ratio change;              ///< mean of the second / mean of the first
  bool covered = false;      ///< the second mean lies in the first's 95 % interval
  double chance = 0;         ///< probability of `covered` if both studies measured the same thing
  std::vector<std::string> marks;
};

/// A repetition of a study, by others or on another day, as artifact evaluation requires.
struct Replication {
  std::vector<ReplicatedConfiguration> configurations;
  std::vector<Coordinates> left_out;  ///< only in one of the studies, or with a single run in the first

  std::int64_t covered() const;
  double expected() const;  ///< expected number of covered configurations if both studies measured the same
                            ///< thing: sum of the probabilities
};

/// Compares the configurations with makespans in both studies. A 95 % interval of a mean contains the mean of
/// a second study less often than 95 %, because that mean scatters too: for n runs and m runs of equal
/// variance, when |T| < t sqrt(1 / (1 + n / m)), with T and its quantile t of n - 1 degrees of freedom.
Replication replication(std::span<const MeasuredConfiguration> first,
                        std::span<const MeasuredConfiguration> second);

TextTable table_of(const Replication& replication);
std::string sentence(const Replication& replication);

// Runs of the same coordinates are repeats only if they have one recipe and one dataset.

/// Throws Error if both tables are in folders of studies, have runs on the same curve, and the stored recipes
/// of these runs differ in keys that decide the result or the time; it names the keys. Left out are the seed
/// and keys that coordinates hold, also in the variant. A recipe that cannot be read here is not compared.
void require_same_recipes(const PublishedTable& earlier, const PublishedTable& later);

/// Throws Error if runs with the same coordinates were trained on different datasets. An unknown dataset
/// counts as equal.
void require_one_dataset(std::span<const TableRow> rows);

/// Returns a notice if runs with the same coordinates in different folders trained different numbers of
/// epochs, as by early stopping or by another recipe; "" if not.
std::string notice_of_epochs(std::span<const TableRow> rows);

}  // namespace convoke::study
