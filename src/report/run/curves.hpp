#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/report/chart.hpp"
#include "convoke/report/run_record.hpp"

// Converts the lines of metrics.jsonl to curves over epochs.

namespace convoke::report {

/// A quantity over epochs or steps, without NaN values.
struct EpochCurve {
  std::string name;
  std::map<double, double> values =
      {};  ///< by completed epochs: 1 is the end of the first epoch; or by steps
};

/// A quantity in metrics.jsonl, and how a chart shows it.
struct Quantity {
  const char *key, *title, *axis;
  bool share;  ///< shown in percent
};

/// Returns the members that have completed an epoch, ascending.
std::vector<std::int64_t> trained_members(const RunRecord& run);

/// Returns `key` ("loss", "validation_accuracy", ...) of the epochs and of validations within them, for each
/// of trained_members(), named "member 3". If a resumed run repeats an epoch, the later line is used.
std::vector<EpochCurve> curves_by_member(const RunRecord& run, const std::string& key);

/// The most members that a chart or table shows one by one.
constexpr std::size_t kMostMembers = 64;

/// Returns curves that a chart can show: those of members, or, if they are too many, the lowest value, the
/// median and the highest at each position.
std::vector<EpochCurve> legible(std::vector<EpochCurve> members);

/// Returns the mean over all members that have reached each epoch.
EpochCurve mean_curve(const RunRecord& run, const std::string& key);

/// Draws curves in one chart, without empty ones. `share`: values are shares, shown in percent. `over`: what
/// the curves are over.
Chart curve_chart(const std::string& title, const std::string& note, const std::string& axis,
                  std::span<const EpochCurve> curves, bool share, const std::string& over = "epoch");

}  // namespace convoke::report
