#include "convoke/study/running/finished_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/run/phases.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

std::set<fs::path> members_of(const fs::path& folder) {
  std::set<fs::path> members;
  for (const fs::directory_entry& member : fs::directory_iterator(folder / "members"))
    members.insert(member.path());
  return members;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The epochs of all members, then the evaluation of their vote, as in the log of one run.
std::string log_of(const fs::path& folder, const std::set<fs::path>& members) {
  std::string text;
  for (const fs::path& member : members) {
    for (const Settings& record : metrics::read_json_lines(member / "metrics.jsonl")) {
      if (text_at(record, "event") != "evaluation") text += metrics::to_json(record) + "\n";
    }
  }
  for (const Settings& record : metrics::read_json_lines(folder / "metrics.jsonl")) {
    text += metrics::to_json(record) + "\n";
  }
  return text;
}

}  // namespace

void complete_emulated_run(const fs::path& folder) {
  const std::set<fs::path> members = members_of(folder);
  Settings summary = require_json(folder / "summary.json");
  const double gathering = require(summary, "phases.gather.max");
  double makespan = 0, first_step = 0, test = 0, steps = 0, images = 0;
  std::array<std::vector<double>, run::kPhases.size()> seconds;  // of each rank, by phase
  Value::Array folders;
  for (const fs::path& member : members) {
    const Settings its = require_json(member / "summary.json");
    makespan = std::max(makespan, require(its, "makespan_seconds"));
    first_step = std::max(first_step, require(its, "seconds_to_first_step"));
    test += require(its, "test.seconds");
    const double its_steps = require(its, "phases.steps.max");
    steps = std::max(steps, its_steps);
    images += require(its, "images_per_second") * its_steps;
    for (std::size_t p = 0; p < run::kPhases.size(); ++p) {
      for (const double of_rank : numbers_at(its, fmt::format("rank_phases.{}", run::kPhases[p].key))) {
        const bool gathers = std::string_view(run::kPhases[p].key) == "gather";
        seconds[p].push_back(of_rank + (gathers ? gathering : 0));
      }
    }
    folders.emplace_back(member.string());
  }
  Settings phases, ranks;
  double exposed = 0, stepped = 0;
  for (std::size_t p = 0; p < run::kPhases.size(); ++p) {
    const std::vector<double>& all = seconds[p];
    if (all.empty()) continue;
    const std::string_view key = run::kPhases[p].key;
    if (key == "exposed_communication") exposed = sum_of(all);
    if (key == "steps") stepped = sum_of(all);
    phases.set(key, Settings{{"max", *std::ranges::max_element(all)},
                             {"mean", sum_of(all) / static_cast<double>(all.size())},
                             {"min", *std::ranges::min_element(all)}});
    ranks.set(key, Value::Array(all.begin(), all.end()));
  }
  makespan += gathering;
  summary.set("emulated", true);
  summary.set("makespan_seconds", makespan);
  summary.set("core_seconds", makespan * require(summary, "cores"));
  summary.set("images_per_second", steps > 0 ? images / steps : 0.0);
  summary.set("seconds_to_first_step", first_step);
  summary.set("exposed_share", stepped > 0 ? exposed / stepped : 0.0);
  summary.set("phases", std::move(phases));
  summary.set("rank_phases", std::move(ranks));
  summary.set_path("test.seconds", test / static_cast<double>(members.size()));
  summary.set("gathered_from", std::move(folders));
  os::replace_text(folder / "metrics.jsonl", log_of(folder, members));
  os::replace_text(folder / "summary.json", metrics::to_json(summary, true) + "\n");
}

}  // namespace convoke::study
