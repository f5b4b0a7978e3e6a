#include "study/tables/logged_epochs.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/study/running/finished_run.hpp"

namespace convoke::study {

std::map<std::int64_t, std::vector<LoggedEpoch>> logged_epochs(const std::filesystem::path& run,
                                                               std::int64_t ranks) {
  const Settings summary = metrics::read_json(run / "summary.json").value_or(Settings());
  const bool gathered = !list_at(summary, "gathered_from").empty();
  std::map<std::int64_t, std::int64_t> first_ranks;  // by member
  for (const Settings& facts : tables_at(summary, "member_facts")) {
    const auto member = count_at(facts, "member"), rank = count_at(facts, "rank");
    if (member && rank) first_ranks[*member] = *rank;
  }
  std::map<std::int64_t, std::vector<LoggedEpoch>> members;
  for (const Settings& record : metrics::read_json_lines(run / "metrics.jsonl")) {
    if (text_at(record, "event") != "epoch") continue;
    const std::int64_t member = count_at(record, "member").value_or(0);
    const auto first_rank = first_ranks.find(member);
    const std::int64_t group = gathered                          ? member
                               : first_rank == first_ranks.end() ? member % std::max<std::int64_t>(ranks, 1)
                                                                 : first_rank->second;
    members[member].push_back({.epoch = std::llround(require(record, "epoch")),
                               .group = group,
                               .seconds = require(record, "seconds"),
                               .accuracy = number_at(record, "accuracy"),
                               .validation_accuracy = number_at(record, "validation_accuracy")});
  }
  return members;
}

}  // namespace convoke::study
