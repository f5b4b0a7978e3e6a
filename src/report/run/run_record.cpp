#include "convoke/report/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

// Returns an empty result if there is no such file.
Settings read_json(const fs::path& file) { return metrics::read_json(file).value_or(Settings()); }

}  // namespace

std::string RunRecord::name() const {
  for (const Settings* where : {&summary, &recipe}) {
    if (std::string name = text_at(*where, "name"); !name.empty()) return name;
  }
  return fs::absolute(folder).lexically_normal().filename().string();
}

std::string RunRecord::one_member() const {
  const std::vector<Settings> facts = tables_at(summary, "member_facts");
  const double all = number_at(recipe, "ensemble.members");
  if (text_at(summary, "mode") != "ensemble" || facts.size() != 1 || !(all > 1)) return {};
  return fmt::format("member {:g} of an ensemble of {:g}", number_at(facts.front(), "member"), all);
}

bool RunRecord::resumed() const { return value_at(summary, "resumed") != nullptr; }

Workers RunRecord::workers() const {
  const Settings& known = complete() ? summary : environment;
  Workers workers;
  workers.threads =
      count_at(summary, "all_threads")
          .value_or(count_at(known, "ranks").value_or(1) * count_at(known, "threads").value_or(1));
  workers.cores = workers.threads;
  if (const auto cores = count_at(summary, "cores")) {
    workers.cores = *cores;
  } else if (list_at(summary, "gathered_from").empty()) {  // gathered runs have used other machines
    const auto of_node = count_at(environment, "cores"), nodes = count_at(environment, "nodes");
    if (of_node && nodes) workers.cores = std::min(workers.threads, *of_node * *nodes);
  }
  return workers;
}

RunRecord read_run(const fs::path& folder) {
  RunRecord run;
  run.folder = folder;
  run.recipe_text = read_text(folder / "recipe.toml").value_or("");
  run.environment = read_json(folder / "environment.json");
  run.summary = read_json(folder / "summary.json");
  run.summary.rename("as_if", "emulated");  // of earlier versions
  if (run.environment.empty() && run.summary.empty()) {
    throw Error(fmt::format("{}: is not a run folder", folder.string()),
                "pass a folder that `convoke train` has written: its --output, or runs/<name>-<time>");
  }
  run.evaluation = read_json(folder / "evaluation.json");
  run.log = metrics::read_json_lines(folder / "metrics.jsonl");
  try {
    run.status = read_json(folder / "status.json");
  } catch (const Error&) {  // it is rewritten often, and the page does not need it
  }
  return run;
}

}  // namespace convoke::report
