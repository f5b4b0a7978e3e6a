#pragma once
#include <string>
#include <vector>

#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/tables/text_table.hpp"

namespace convoke::study {

/// The tables of an analysis that have rows: cells, phases, scaling, portions, laws, predictions,
/// comparisons, verdicts, costs, recommendations, published columns. Units stand in the columns' names, marks
/// beside every figure.
std::vector<TextTable> tables(const Analysis& analysis);

/// What there is to say in sentences: notices, cells without interval or scatter, verdicts at equal cost.
std::vector<std::string> remarks(const Analysis& analysis);

}  // namespace convoke::study
