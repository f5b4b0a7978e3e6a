#include "convoke/study/running/configuration_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "convoke/core/text.hpp"
#include "convoke/study/analysis/statistics.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {
namespace {

// Formats seconds with three significant digits.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 3);
}

// Returns the number of runs of the same configuration on other machines.
std::int64_t runs_elsewhere(std::span<const MeasuredConfiguration> measured,
                            const MeasuredConfiguration& configuration) {
  std::int64_t runs = 0;
  for (const MeasuredConfiguration& other : measured) {
    if (&other != &configuration && on_any_machine(other.at) == on_any_machine(configuration.at))
      runs += std::ssize(other.runs);
  }
  return runs;
}

std::string notes_of(const MeasuredConfiguration& configuration, const Statistics* makespan,
                     std::int64_t elsewhere) {
  std::vector<std::string> notes;
  for (const std::string& mark : configuration.marks) notes.push_back(loud(mark));
  if (configuration.contended > 0)
    notes.push_back(fmt::format("{} contended left out", configuration.contended));
  if (configuration.failed > 0) notes.push_back(fmt::format("{} FAILED", configuration.failed));
  if (elsewhere > 0) notes.push_back(fmt::format("{} on another machine", elsewhere));
  if (makespan != nullptr && makespan->count == 1) notes.emplace_back("one run: no interval");
  if (makespan != nullptr && makespan->is_constant()) notes.emplace_back("all equal: the scatter is unknown");
  return join(notes);
}

}  // namespace

std::vector<std::string> configuration_table(std::span<const Configuration> configurations,
                                             std::span<const Measurement> runs) {
  const std::vector<MeasuredConfiguration> measured = configurations_of(runs);
  std::size_t width = std::string_view("configuration").size();
  for (const Configuration& configuration : configurations)
    width = std::max(width, configuration.name.size() + 1);  // "!"
  std::vector<std::string> lines{fmt::format("{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", "configuration",
                                             width, "runs", "makespan, s", "95 % interval", "+/-",
                                             "accuracy")};
  for (const Configuration& each : configurations) {
    const MeasuredConfiguration* configuration = largest_configuration_at(measured, each.at);
    if (configuration == nullptr) {
      lines.push_back(fmt::format("{:<{}} {:>4}", each.name, width, "-"));
      continue;
    }
    const Statistics* makespan = configuration->find("makespan_seconds");
    const Statistics* accuracy = configuration->find("accuracy");
    const bool known = makespan != nullptr && makespan->interval.has_value();
    std::string line = fmt::format(
        "{:<{}} {:>4}  {:>11}  {:>17}  {:>7}  {:>8}", (configuration->marks.empty() ? "" : "!") + each.name,
        width, configuration->runs.size(), makespan == nullptr ? "-" : seconds_text(makespan->mean),
        known ? seconds_text(makespan->interval->low) + " .. " + seconds_text(makespan->interval->high) : "-",
        known && makespan->relative_error ? fmt::format("{:.1f} %", 100 * *makespan->relative_error) : "-",
        accuracy == nullptr ? "-" : fmt::format("{:.4f}", accuracy->mean));
    if (const std::string notes =
            notes_of(*configuration, makespan, runs_elsewhere(measured, *configuration));
        !notes.empty())
      line += "  " + notes;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace convoke::study
