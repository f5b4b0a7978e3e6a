#include "studies/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "convoke/core/error.hpp"
#include "convoke/metrics/json.hpp"
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

report::Page page_of(const fs::path& study, const study::Analysis& analysis) {
  const bool table = !fs::is_directory(study);
  std::ifstream file(folder_of(study) / "study.toml", std::ios::binary);
  const std::string text = table ? std::string() : std::string{std::istreambuf_iterator<char>(file), {}};
  const std::string title = fs::absolute(study).lexically_normal().filename().string();
  return report::study_page(title, analysis, text, made_by_line());
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
