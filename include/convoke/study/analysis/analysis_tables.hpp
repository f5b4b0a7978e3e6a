#pragma once
#include <string>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// Returns the nonempty tables of an analysis: configurations, phases, scaling, fractions, laws, predictions,
/// comparisons, verdicts, costs, recommendations, published columns. Column names contain the units, and
/// every figure is followed by its marks.
std::vector<TextTable> tables(const Analysis& analysis);

/// Returns remarks in sentences: notices, configurations without interval or scatter, verdicts at equal cost.
std::vector<std::string> remarks(const Analysis& analysis);

}  // namespace convoke::study
