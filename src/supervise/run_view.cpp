#include "convoke/supervise/run_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/run/run_folder.hpp"

namespace convoke::supervise {
namespace {

namespace fs = std::filesystem;

double age_of(const fs::path& file) {
  std::error_code absent;
  const auto time = fs::last_write_time(file, absent);
  if (absent) return std::numeric_limits<double>::infinity();
  return std::max(0.0, std::chrono::duration<double>(fs::file_time_type::clock::now() - time).count());
}

// Empty if the file does not exist, or is being written.
std::optional<Settings> read_json(const fs::path& file) try {
  return metrics::read_json(file);
} catch (const Error&) {
  return std::nullopt;
}

std::string place_of(const Settings& environment) {
  std::set<std::string> hosts;
  for (const Settings& placement : tables_at(environment, "placements"))
    hosts.insert(text_at(placement, "host"));
  const std::vector<std::string> names(hosts.begin(), hosts.end());
  return fmt::format("{} x {} on {}", counted(count_at(environment, "ranks").value_or(0), "rank"),
                     counted(count_at(environment, "threads").value_or(0), "thread"), join(names, ", "));
}

// Converts the lines of metrics.jsonl to curves over epochs; for an ensemble, the mean over its members for
// each epoch.
void read_curves(const fs::path& file, RunView& view) {
  struct Sum {
    double sum = 0;
    int count = 0;
    void take(double value) {
      if (!std::isfinite(value)) return;
      sum += value;
      ++count;
    }
    double mean() const { return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN(); }
  };
  std::map<double, std::array<Sum, 4>> epochs;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (line.find(R"("event":"step")") != std::string::npos) continue;  // may be many
    try {
      const Settings record = metrics::settings_from_json(line, file.string());
      if (text_at(record, "event") != "epoch") continue;
      std::array<Sum, 4>& sums = epochs[number_at(record, "epoch")];
      constexpr std::array<std::string_view, 4> kKeys{"loss", "validation_loss", "accuracy",
                                                      "validation_accuracy"};
      for (std::size_t i = 0; i < kKeys.size(); ++i) sums[i].take(number_at(record, kKeys[i]));
    } catch (const Error&) {
      continue;  // the last line may be incomplete
    }
  }
  view.loss = {{"training", '*', {}}, {"validation", 'o', {}}};
  view.accuracy = view.loss;
  for (const auto& [epoch, sums] : epochs) {
    for (std::size_t i = 0; i < 2; ++i) {
      view.loss[i].points.emplace_back(epoch, sums[i].mean());
      view.accuracy[i].points.emplace_back(epoch, sums[2 + i].mean());
    }
  }
}

void find_checkpoint(RunView& view) {
  std::error_code absent;
  view.checkpoint_age_seconds = std::numeric_limits<double>::infinity();
  for (const auto& entry : fs::recursive_directory_iterator(view.folder / "checkpoints", absent)) {
    if (!entry.path().filename().string().starts_with("epoch-") || entry.path().extension() != ".h5")
      continue;
    const double age = age_of(entry.path());
    if (age >= view.checkpoint_age_seconds) continue;
    view.checkpoint_age_seconds = age;
    view.checkpoint = entry.path().lexically_relative(view.folder).string();
  }
}

std::string state_text(const RunView& view) {
  switch (view.state) {
    case RunView::State::kBegins:
      return "begins";
    case RunView::State::kRuns:
      return "running: " + view.holder;
    case RunView::State::kStopped:
      return fmt::format(
          "stopped; unless supervise or a queue does, continue with: convoke train --resume {}",
          shell_word(view.folder.string()));
    case RunView::State::kSilent:
      return fmt::format("no sign of life for {}: {}", format_duration(view.age_seconds), view.holder);
    case RunView::State::kComplete:
      return "complete";
  }
  return {};
}

// A row for each rank. If there are many, those whose heartbeats are oldest come first, and the rest is
// counted.
std::string table_of_ranks(std::vector<Heartbeat> ranks) {
  constexpr std::size_t kMostRows = 16;
  if (ranks.empty()) return {};
  const std::size_t rows = std::min(ranks.size(), kMostRows);
  if (ranks.size() > rows) {
    std::ranges::stable_sort(ranks, std::greater(), &Heartbeat::age_seconds);
  }
  std::size_t width = 4;
  for (const Heartbeat& rank : ranks) width = std::max(width, rank.host.size());
  std::string text = fmt::format("  {:<12} {:>4}  {:<{}}  {:>9}  {:>9}  phase\n", "ranks", "rank", "host",
                                 width, "step", "seen");
  for (const Heartbeat& rank : std::span(ranks).first(rows)) {
    text += fmt::format("  {:<12} {:>4}  {:<{}}  {:>9}  {:>9}  {}\n", "", rank.rank, rank.host, width,
                        format_count(rank.step), format_duration(std::max(0.0, rank.age_seconds)) + " ago",
                        activity_text(rank));
  }
  if (ranks.size() > rows) text += fmt::format("  {:<12} and {} more\n", "", ranks.size() - rows);
  return text;
}

}  // namespace

RunView view_run(const fs::path& folder) {
  RunView view;
  view.folder = folder;
  const std::optional<Settings> environment = read_json(folder / "environment.json");
  view.holder = run::lock_holder(folder);
  if (!environment && view.holder.empty()) {
    throw Error(fmt::format("{}: is not a run folder", folder.string()),
                "pass the folder that `convoke train` writes: its --output, or runs/<name>-<time>");
  }
  if (environment) view.place = place_of(*environment);
  view.status = run::read_status(folder / "status.json");
  view.ranks = read_heartbeats(heartbeat_folder(folder));
  view.age_seconds = std::min(age_of(folder / "status.json"), age_of(folder / "lock"));
  find_checkpoint(view);
  read_curves(folder / "metrics.jsonl", view);
  if (const std::optional<Settings> summary = read_json(folder / "summary.json");
      summary && view.holder.empty()) {
    view.state = RunView::State::kComplete;
    view.summary = fmt::format("makespan {}{}, test accuracy {:.4f}",
                               format_duration(number_at(*summary, "makespan_seconds")),
                               summary->find("resumed") == nullptr ? "" : " since it was resumed",
                               number_at(*summary, "test.accuracy"));
  } else if (view.holder.empty()) {
    view.state = RunView::State::kStopped;
  } else if (view.age_seconds > run::kLockSilence) {
    view.state = RunView::State::kSilent;
  } else if (view.status) {
    view.state = RunView::State::kRuns;
  }
  return view;
}

std::string to_text(const RunView& view, int width) {
  std::string text = fmt::format("{}: {}\n", view.folder.string(), state_text(view));
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", name, value);
  };
  if (!view.place.empty()) line("runs on", view.place);
  if (view.status && view.state != RunView::State::kComplete) {
    const run::RunStatus& status = *view.status;
    line("training", fmt::format("{}: epoch {}/{}, step {} of {} ({:.0f} %)", status.title, status.epoch,
                                 status.epochs, format_count(status.step), format_count(status.steps),
                                 status.steps > 0 ? 100.0 * static_cast<double>(status.step) /
                                                        static_cast<double>(status.steps)
                                                  : 0));
    line("now", fmt::format("loss {:.4f}   accuracy {:.4f}   {} images/s", status.loss, status.accuracy,
                            format_count(std::llround(status.images_per_second))));
    if (view.state == RunView::State::kRuns && std::isfinite(status.eta_seconds))
      line("ETA", format_duration(std::max(0.0, status.eta_seconds - view.age_seconds)));
    if (view.state == RunView::State::kRuns && std::isfinite(status.job_seconds_left))
      line("job ends in", format_duration(std::max(0.0, status.job_seconds_left - view.age_seconds)));
  }
  if (view.state != RunView::State::kComplete) text += table_of_ranks(view.ranks);
  if (!view.checkpoint.empty())
    line("checkpoint",
         fmt::format("{}, {} ago", view.checkpoint, format_duration(view.checkpoint_age_seconds)));
  if (!view.summary.empty()) line("result", view.summary);
  constexpr int kHeight = 8;
  const auto chart = [&](const char* title, const std::vector<metrics::Curve>& curves) {
    if (curves.empty() || curves.front().points.size() < 2) return;
    text += "\n" + metrics::text_chart(title, curves, width, kHeight);
  };
  chart("loss by epoch", view.loss);
  chart("accuracy by epoch", view.accuracy);
  return text;
}

}  // namespace convoke::supervise
