#include "convoke/report/run_record.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/metrics/json_file.hpp"

namespace convoke::report {
namespace {

namespace fs = std::filesystem;

// Empty where there is no such file.
Settings read_json(const fs::path& file) { return metrics::read_json(file).value_or(Settings()); }

}  // namespace

std::string RunRecord::name() const {
  for (const Settings* where : {&summary, &recipe}) {
    if (std::string name = text_at(*where, "name"); !name.empty()) return name;
  }
  return fs::absolute(folder).lexically_normal().filename().string();
}

RunRecord read_run(const fs::path& folder) {
  RunRecord run;
  run.folder = folder;
  run.recipe_text = read_text(folder / "recipe.toml").value_or("");
  run.environment = read_json(folder / "environment.json");
  run.summary = read_json(folder / "summary.json");
  if (run.environment.empty() && run.summary.empty()) {
    throw Error(fmt::format("{}: is no folder of a run", folder.string()),
                "name the folder that `convoke train` writes: its --output, or runs/<name>-<time>");
  }
  run.evaluation = read_json(folder / "evaluation.json");
  run.log = metrics::read_json_lines(folder / "metrics.jsonl");
  try {
    run.status = read_json(folder / "status.json");
  } catch (const Error&) {  // it comes and goes, and says nothing that lasts
  }
  return run;
}

}  // namespace convoke::report
