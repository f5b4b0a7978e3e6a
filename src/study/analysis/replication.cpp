#include "convoke/study/analysis/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

double chance_of_cover(std::int64_t first_runs, std::int64_t second_runs) {
  const auto n = static_cast<double>(first_runs), m = static_cast<double>(second_runs);
  return 1 - student_p(student_t(n - 1) / std::sqrt(1 + n / m), n - 1);
}

std::optional<ReplicatedConfiguration> compared(const MeasuredConfiguration& first,
                                                const MeasuredConfiguration* second) {
  if (second == nullptr) return {};
  const Statistics *a = first.find("makespan_seconds"), *b = second->find("makespan_seconds");
  if (a == nullptr || b == nullptr || !a->interval || a->mean <= 0) return {};
  ReplicatedConfiguration configuration{
      .at = first.at, .first = *a, .second = *b, .change = ratio(*b, *a), .marks = first.marks};
  configuration.covered = a->interval->low <= b->mean && b->mean <= a->interval->high;
  configuration.chance = chance_of_cover(a->count, b->count);
  add_marks(configuration.marks, second->marks);
  return configuration;
}

}  // namespace

std::int64_t Replication::covered() const {
  return std::ranges::count(configurations, true, &ReplicatedConfiguration::covered);
}

double Replication::expected() const {
  double sum = 0;
  for (const ReplicatedConfiguration& configuration : configurations) sum += configuration.chance;
  return sum;
}

Replication replication(std::span<const MeasuredConfiguration> first,
                        std::span<const MeasuredConfiguration> second) {
  Replication all;
  for (const MeasuredConfiguration& configuration : first) {
    if (auto both = compared(configuration, configuration_at(second, configuration.at))) {
      all.configurations.push_back(*std::move(both));
    } else {
      all.left_out.push_back(configuration.at);
    }
  }
  for (const MeasuredConfiguration& configuration : second) {
    if (configuration_at(first, configuration.at) == nullptr) all.left_out.push_back(configuration.at);
  }
  return all;
}

TextTable table_of(const Replication& replication) {
  TextTable table{"Repetition",
                  "means ± half the 95 % Student-t interval; change: second / first - 1, Fieller's interval",
                  {"configuration", "first (s)", "second (s)", "change (%)", "within the first's interval"}};
  for (const ReplicatedConfiguration& configuration : replication.configurations) {
    const Ratio percent = transformed(configuration.change, [](double q) { return 100 * (q - 1); });
    table.rows.push_back({marked(to_string(configuration.at), configuration.marks),
                          with_error(configuration.first.mean, configuration.first.interval),
                          with_error(configuration.second.mean, configuration.second.interval),
                          with_ends(percent, 1), configuration.covered ? "yes" : "no"});
  }
  return table;
}

std::string sentence(const Replication& replication) {
  const auto configurations = static_cast<std::int64_t>(replication.configurations.size());
  if (configurations == 0) return "repetition: the two studies have no common configuration with an interval";
  std::string text = fmt::format(
      "repetition: {} of {} means of the second study lie within the first's intervals ({:.0f} %); {:.1f} "
      "are expected if the studies differ only by chance, because the second mean scatters too",
      replication.covered(), configurations,
      100.0 * static_cast<double>(replication.covered()) / static_cast<double>(configurations),
      replication.expected());
  if (!replication.left_out.empty()) {
    std::vector<std::string> names;
    for (const Coordinates& at : replication.left_out) names.push_back(to_string(at));
    text += "; left out, because only one study has them or they have no interval: " + join(names, "; ");
  }
  return text;
}

}  // namespace convoke::study
