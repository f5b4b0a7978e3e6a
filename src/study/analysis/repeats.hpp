#pragma once
#include <span>
#include <string>

#include "convoke/study/tables/published_table.hpp"

// Runs of the same coordinates are repeats only if they have one recipe and one dataset.

namespace convoke::study {

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
