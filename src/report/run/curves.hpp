#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/run_record.hpp"

// What the lines of metrics.jsonl say of each epoch, as charts.

namespace convoke::report {

/// Something over epochs. What is NaN is left out.
struct EpochCurve {
  std::string name;
  std::map<double, double> values;  ///< by epochs that have passed: 1 is the end of the first
};

/// The members that lines are there of, rising.
std::vector<std::int64_t> trained_members(const RunRecord& run);

/// `key` of a member's epochs, and of validations within them: "loss", "validation_accuracy", ... The later
/// line counts where a run has gone on before the end of an epoch.
EpochCurve curve_of(const RunRecord& run, std::int64_t member, const std::string& key);

/// The mean over all members that have come so far.
EpochCurve mean_curve(const RunRecord& run, const std::string& key);

/// Curves in one chart; `share`: values are shares, and shown in percent. Empty curves are left out.
Chart curve_chart(const std::string& title, const std::string& note, const std::string& axis,
                  std::span<const EpochCurve> curves, bool share);

}  // namespace convoke::report
