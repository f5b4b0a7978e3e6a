#include "studies/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_file.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/metrics/json_file.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/report/study_page.hpp"
#include "convoke/run/atomic_file.hpp"
#include "convoke/study/parts.hpp"
#include "page_file.hpp"
#include "results.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& study) {
  if (fs::is_directory(study)) return study;
  return study.has_parent_path() ? study.parent_path() : fs::path(".");
}

// environment.json of its runs.
std::vector<Settings> environments(const fs::path& study) {
  std::error_code none;
  std::set<fs::path> runs;  // in order: the same page each time
  for (const fs::directory_entry& run : fs::directory_iterator(study / "runs", none)) runs.insert(run.path());
  std::vector<Settings> found;
  for (const fs::path& run : runs) {
    if (auto environment = metrics::read_json(run / "environment.json"))
      found.push_back(*std::move(environment));
  }
  return found;
}

// Cores of all nodes that the largest of its runs had; 0: nobody knows.
std::int64_t devices_of(const fs::path& study) {
  double most = 0;
  for (const Settings& environment : environments(study)) {
    const double devices = number_at(environment, "cores") * number_at(environment, "nodes");
    if (std::isfinite(devices)) most = std::max(most, devices);
  }
  return std::llround(most);
}

fs::path study_file(const fs::path& study) { return study / "study.toml"; }

// "" of a table alone.
std::string study_toml(const fs::path& study) { return read_text(study_file(study)).value_or(""); }

// Runs that its file asks for and that are not there; 0 also where its recipes are found no more.
std::int64_t missing_runs(const fs::path& study) {
  try {
    const study::StudyFile file = study::StudyFile::load(study_file(study));
    const std::vector<study::Configuration> cells = study::configurations(file);
    return std::ssize(study::wanted_tasks(file, cells, study::StudyFolder::open(study).read()));
  } catch (const Error&) {
    return 0;
  }
}

report::StudyOrigin origin_of(const fs::path& study) {
  std::string toml = study_toml(study);
  if (toml.empty()) return {};
  const std::string file = study_file(study).lexically_normal().string();
  std::vector<Settings> of_runs = environments(study);
  return {
      .toml = std::move(toml),
      .command = fmt::format("convoke study {} --output NEW-FOLDER", shell_word(file)),
      .environment = of_runs.empty() ? Settings() : std::move(of_runs.front()),
      .missing = missing_runs(study),
      .resume = fmt::format("convoke study {} --output {} --resume    # in a queue: --slurm --submit, too",
                            shell_word(file), shell_word(study.lexically_normal().string()))};
}

report::Page page_of(const fs::path& study, const study::Analysis& analysis) {
  const std::string title = fs::absolute(study).lexically_normal().filename().string();
  return report::study_page(title, analysis, origin_of(study), made_by_line());
}

// The study's own, "target".
double relative_error_of(const fs::path& study, double otherwise) {
  const double target =
      number_at(recipe::parse_toml(study_toml(study), study_file(study).string()).settings, "target");
  return std::isfinite(target) ? target : otherwise;
}

}  // namespace

bool is_study(const fs::path& path) {
  return fs::exists(study_file(path)) || fs::exists(path / "measurements.csv") ||
         (fs::is_regular_file(path) && path.extension() == ".csv");
}

study::Analysis analysis_of(const fs::path& study) {
  constexpr std::int64_t kBeyond = 4;
  const bool folder = fs::is_directory(study);
  if (folder && !fs::exists(study / "measurements.csv")) {
    throw Error(fmt::format("{}: no run of this study has ended yet", study.string()),
                fmt::format("go on with it: convoke study {} --output {} --resume",
                            shell_word(study_file(study).string()), shell_word(study.string())));
  }
  const std::vector<study::Table> tables{study::read_table(folder ? study / "measurements.csv" : study)};
  study::AnalysisOptions options;
  options.scaling.machine_devices = devices_of(study);
  options.relative_error = relative_error_of(study, options.relative_error);
  for (const study::TableRow& row : tables.front().rows) {
    options.scaling.up_to =
        std::max(options.scaling.up_to, kBeyond * row.measurement.ranks * row.measurement.threads);
  }
  if (const fs::path machines = folder_of(study) / "machines.toml"; fs::exists(machines)) {
    options.machines = study::read_machines(machines);
  }
  return study::analyse(tables, options);
}

report::Page study_page_of(const fs::path& study) { return page_of(study, analysis_of(study)); }

void write_study_results(const fs::path& folder) {
  study::Analysis analysis;
  try {
    analysis = analysis_of(folder);
    run::replace_text(folder / "analysis.json", metrics::to_json(study::to_settings(analysis), true) + "\n");
  } catch (const Error& error) {
    fmt::print(stderr, "warning: there is no analysis: {}\n", error.what());
    return;
  }
  write_page_or_warn([&] { return page_of(folder, analysis); }, folder / "report.html");
}

}  // namespace convoke::app
