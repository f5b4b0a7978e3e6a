#pragma once
#include <string>
#include <vector>

#include "convoke/report/page.hpp"
#include "convoke/study/analysis/analysis.hpp"

// The sections of a study's page. Each adds nothing if the study lacks its data.

namespace convoke::report {

void add_scaling(Page& page, const study::Analysis& analysis);
void add_fractions(Page& page, const study::Analysis& analysis);
void add_accuracy(Page& page, const study::Analysis& analysis);
void add_phases(Page& page, const study::Analysis& analysis);
void add_costs(Page& page, const study::Analysis& analysis);
/// Time by cost, colored by accuracy, and a table of the configurations that no other one beats in all
/// three.
void add_pareto(Page& page, const study::Analysis& analysis);

/// Most charts show only the largest fraction of the samples, because they would be too long; other fractions
/// have a separate chart.
double largest_fraction(const study::Analysis& analysis);
std::vector<study::MeasuredConfiguration> whole_configurations(const study::Analysis& analysis);
/// Returns " With all of the samples.", for captions, if there are other fractions.
std::string of_fraction(const study::Analysis& analysis);

}  // namespace convoke::report
