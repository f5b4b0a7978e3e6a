#include "studies/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/metrics/json_file.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/report/study_page.hpp"
#include "convoke/run/atomic_file.hpp"
#include "page_file.hpp"
#include "results.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& study) {
  if (fs::is_directory(study)) return study;
  return study.has_parent_path() ? study.parent_path() : fs::path(".");
}

// Of the first of its runs that has one.
Settings environment_of_a_run(const fs::path& study) {
  std::error_code none;
  std::set<fs::path> runs;  // in order: the same page each time
  for (const fs::directory_entry& run : fs::directory_iterator(study / "runs", none)) runs.insert(run.path());
  for (const fs::path& run : runs) {
    if (auto environment = metrics::read_json(run / "environment.json")) return *std::move(environment);
  }
  return {};
}

fs::path study_file(const fs::path& study) { return study / "study.toml"; }

// "" of a table alone.
std::string study_toml(const fs::path& study) {
  std::ifstream in(study_file(study), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

report::StudyOrigin origin_of(const fs::path& study) {
  std::string toml = study_toml(study);
  if (toml.empty()) return {};
  return {.toml = std::move(toml),
          .command = fmt::format("convoke study {} --output NEW-FOLDER",
                                 study_file(study).lexically_normal().string()),
          .environment = environment_of_a_run(study)};
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
  return fs::exists(path / "measurements.csv") || (fs::is_regular_file(path) && path.extension() == ".csv");
}

study::Analysis analysis_of(const fs::path& study) {
  constexpr std::int64_t kBeyond = 4;
  const std::vector<study::Table> tables{
      study::read_table(fs::is_directory(study) ? study / "measurements.csv" : study)};
  study::AnalysisOptions options;
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
