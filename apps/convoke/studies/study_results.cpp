#include "studies/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/report/study_page.hpp"
#include "convoke/study/running/queued_runs.hpp"
#include "results/results.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& study) {
  if (fs::is_directory(study)) return study;
  return study.has_parent_path() ? study.parent_path() : fs::path(".");
}

// The environment.json of each run.
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

// The cores of all nodes of the largest run; 0: unknown.
std::int64_t devices_of(const fs::path& study) {
  double most = 0;
  for (const Settings& environment : environments(study)) {
    const double devices = number_at(environment, "cores") * number_at(environment, "nodes");
    if (std::isfinite(devices)) most = std::max(most, devices);
  }
  return std::llround(most);
}

fs::path study_file(const fs::path& study) { return study / "study.toml"; }

// "" for a table alone.
std::string study_toml(const fs::path& study) { return read_text(study_file(study)).value_or(""); }

// True for results of Slurm jobs that are not in measurements.csv yet.
bool has_results_of_jobs(const fs::path& study) {
  std::error_code none;
  const fs::directory_iterator files(study / "runs", none);
  return std::any_of(begin(files), end(files),
                     [](const fs::directory_entry& file) { return file.path().extension() == ".csv"; });
}

// The number of missing runs; 0 also if its recipes are not found any more.
std::int64_t missing_runs(const fs::path& study) {
  try {
    const study::StudyFile file = study::StudyFile::load(study_file(study));
    const std::vector<study::Configuration> configurations = study::planned_configurations(file);
    return std::ssize(study::wanted_tasks(file, configurations, study::StudyFolder::open(study).read()));
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

// True if two environments have equal processors and the same build; unknown values count as equal.
bool alike(const Settings& a, const Settings& b) {
  constexpr std::array kKeys{"cpu", "cores", "memory", "build", "build_type"};
  return a.empty() || b.empty() || std::ranges::all_of(kKeys, [&](const char* key) {
           const Value *x = a.find(key), *y = b.find(key);
           return x == nullptr || y == nullptr || *x == *y;
         });
}

void add_line(std::string& lines, const std::string& line) { lines += (lines.empty() ? "" : "\n") + line; }

// The origins of several studies, one below the other; with an environment only if all share it.
report::StudyOrigin origin_of(std::span<const fs::path> studies) {
  if (studies.size() == 1) return origin_of(studies.front());
  report::StudyOrigin all;
  bool same = true;
  for (const fs::path& study : studies) {
    const report::StudyOrigin one = origin_of(study);
    if (one.toml.empty()) continue;
    add_line(all.toml, fmt::format("# {}\n{}", study_file(study).lexically_normal().string(), one.toml));
    add_line(all.command, one.command);
    same = same && alike(all.environment, one.environment);
    if (all.environment.empty()) all.environment = one.environment;
    all.missing += one.missing;
    if (one.missing > 0) add_line(all.resume, one.resume);
  }
  if (!same) all.environment = {};
  return all;
}

// Times that count twice would look too certain.
void require_distinct(std::span<const fs::path> studies) {
  for (auto study = studies.begin(); study != studies.end(); ++study) {
    const auto same = [&](const fs::path& other) {
      return fs::equivalent(table_of(*study), table_of(other));
    };
    if (std::none_of(studies.begin(), study, same)) continue;
    throw Error(fmt::format("{}: is passed twice", study->string()), "pass each study once");
  }
}

// "first/measurements.csv (24 rows, on AMD EPYC)"
std::string source_text(const fs::path& study) {
  const std::vector<Settings> of_runs = environments(study);
  const std::string cpu = of_runs.empty() ? std::string() : text_at(of_runs.front(), "cpu");
  const std::int64_t rows = std::ssize(study::read_table(table_of(study)).rows);
  return fmt::format("{} ({}{})", table_of(study).lexically_normal().string(), counted(rows, "row"),
                     cpu.empty() ? "" : ", on " + cpu);
}

// "" for one study, which the title names.
std::string sources_line(std::span<const fs::path> studies) {
  if (studies.size() == 1) return {};
  std::vector<std::string> sources;
  for (const fs::path& study : studies) sources.push_back(source_text(study));
  return fmt::format("Sources, taken together as one study: {}. ", join(sources));
}

report::Page page_of(std::span<const fs::path> studies, const study::Analysis& analysis) {
  std::vector<std::string> titles;
  for (const fs::path& study : studies) titles.push_back(title_of(study));
  return report::study_page(join(titles), analysis, origin_of(studies),
                            sources_line(studies) + made_by_line());
}

// The key "target" of the study file.
std::optional<double> relative_error_of(const fs::path& study) {
  const double target =
      number_at(recipe::parse_toml(study_toml(study), study_file(study).string()), "target");
  return std::isfinite(target) ? std::optional(target) : std::nullopt;
}

}  // namespace

bool is_study(const fs::path& path) {
  return fs::exists(study_file(path)) || fs::exists(path / "measurements.csv") ||
         (fs::is_regular_file(path) && path.extension() == ".csv");
}

fs::path table_of(const fs::path& study) {
  return fs::is_directory(study) ? study / "measurements.csv" : study;
}

std::string title_of(const fs::path& study) {
  return fs::absolute(study / "").lexically_normal().parent_path().filename().string();
}

study::PublishedTable read_measurements(const fs::path& study) {
  if (fs::is_directory(study) && !fs::exists(table_of(study))) {
    if (!fs::exists(study_file(study))) {
      throw Error(fmt::format("{}: is not a study folder: it has no study.toml and no measurements.csv",
                              study.string()),
                  "pass the folder of a study, or a table of times");
    }
    const std::string command = fmt::format(
        "convoke study {} --output {}", shell_word(study_file(study).string()), shell_word(study.string()));
    if (has_results_of_jobs(study)) {
      throw Error(fmt::format("{}: the results of its jobs are not collected yet", study.string()),
                  fmt::format("when its jobs have ended: {} --collect", command));
    }
    throw Error(fmt::format("{}: no run of this study has ended yet", study.string()),
                fmt::format("resume it: {} --resume", command));
  }
  return study::read_table(table_of(study));
}

study::Analysis analysis_of(std::span<const fs::path> studies) {
  constexpr std::int64_t kBeyond = 4;
  std::vector<study::PublishedTable> tables;
  for (const fs::path& study : studies) tables.push_back(read_measurements(study));
  require_distinct(studies);
  study::AnalysisOptions options;
  std::optional<double> target;
  for (const fs::path& study : studies) {
    options.scaling.machine_devices = std::max(options.scaling.machine_devices, devices_of(study));
    if (const auto own = relative_error_of(study)) target = std::min(*own, target.value_or(*own));
    const fs::path machines = folder_of(study) / "machines.toml";
    if (options.machines.empty() && fs::exists(machines)) options.machines = study::read_machines(machines);
  }
  options.relative_error = target.value_or(options.relative_error);
  for (const study::PublishedTable& table : tables) {
    for (const study::TableRow& row : table.rows) {
      options.scaling.up_to =
          std::max(options.scaling.up_to, kBeyond * row.measurement.ranks * row.measurement.threads);
    }
  }
  return study::analyze(tables, options);
}

report::Page study_page_of(std::span<const fs::path> studies) {
  return page_of(studies, analysis_of(studies));
}

void write_study_results(const fs::path& folder) {
  const std::span<const fs::path> study(&folder, 1);
  study::Analysis analysis;
  try {
    analysis = analysis_of(study);
    os::replace_text(folder / "analysis.json", metrics::to_json(study::to_settings(analysis), true) + "\n");
  } catch (const Error& error) {
    fmt::print(stderr, "warning: the analysis failed: {}\n", error.what());
    return;
  }
  write_page_or_warn([&] { return page_of(study, analysis); }, folder / "report.html");
}

}  // namespace convoke::app
