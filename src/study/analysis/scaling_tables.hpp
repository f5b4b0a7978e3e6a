#pragma once
#include <vector>

#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// Returns the tables of curves, portions, laws, work that grows with the workers, and predictions.
void add_scaling_tables(std::vector<TextTable>& all, const Analysis& analysis);

}  // namespace convoke::study
