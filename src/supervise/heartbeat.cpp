#include "convoke/supervise/heartbeat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <span>
#include <system_error>

#include "convoke/core/keys.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/file.hpp"

namespace convoke::supervise {

namespace {

namespace fs = std::filesystem;

// A heartbeat is written by one call, over the one before: a file keeps its size.
constexpr std::size_t kBytes = 512;

constexpr std::array kHeartbeatFields{
    field<&Heartbeat::rank>("rank"),
    field<&Heartbeat::host>("host"),
    field<&Heartbeat::beat>("beat"),
    field<&Heartbeat::step>("step"),
    field<&Heartbeat::phase>("phase"),
    field<&Heartbeat::waits_for>("waits_for"),
    field<&Heartbeat::waiting_seconds>("waiting_seconds"),
};

}  // namespace

std::string activity_text(const Heartbeat& heartbeat) {
  if (heartbeat.waits_for.empty()) return heartbeat.phase.empty() ? "works" : heartbeat.phase;
  return fmt::format("{}{}waits {} for {}", heartbeat.phase, heartbeat.phase.empty() ? "" : ", ",
                     format_duration(heartbeat.waiting_seconds), heartbeat.waits_for);
}

fs::path heartbeat_folder(const fs::path& run) { return run / ".heartbeats"; }

fs::path heartbeat_file(const fs::path& folder, int rank) { return folder / fmt::format("rank-{}", rank); }

bool write_heartbeat(const fs::path& folder, const Heartbeat& heartbeat) try {
  std::string text = metrics::to_json(to_settings(kHeartbeatFields, heartbeat));
  text.resize(std::max(kBytes, text.size() + 1), ' ');
  text.back() = '\n';
  os::File file(heartbeat_file(folder, heartbeat.rank), os::Access::kCreate);
  file.write_at(0, std::as_bytes(std::span(text)));
  file.close();
  return true;
} catch (const std::exception&) {
  return false;
}

// A network file system shows what others wrote when a file is opened.
std::optional<Heartbeat> read_heartbeat(const fs::path& folder, int rank) try {
  const fs::path file = heartbeat_file(folder, rank);
  const std::string text = os::File(file, os::Access::kRead).text();
  return from_settings(kHeartbeatFields, metrics::settings_from_json(text, file.string()), file.string());
} catch (const std::exception&) {
  return std::nullopt;
}

std::vector<Heartbeat> read_heartbeats(const fs::path& folder) {
  constexpr std::string_view kPrefix = "rank-";
  std::vector<Heartbeat> all;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    int rank = -1;
    if (!name.starts_with(kPrefix)) continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), rank);
    std::optional<Heartbeat> heartbeat = read_heartbeat(folder, rank);
    const auto written = fs::last_write_time(entry.path(), failed);
    if (!heartbeat || failed) continue;
    heartbeat->age_seconds =
        std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
    all.push_back(std::move(*heartbeat));
  }
  std::ranges::sort(all, {}, &Heartbeat::rank);
  return all;
}

namespace {

std::string names_of(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + join(numbers);
}

std::string state_of(const RankLiveness& rank, bool silent) {
  if (rank.ended) return "has ended";
  if (!rank.newest) return "was never seen";
  if (!silent) return activity_text(*rank.newest);
  return fmt::format("no sign of life for {}; before: {}", format_duration(rank.silent_seconds),
                     activity_text(*rank.newest));
}

}  // namespace

std::optional<Stall> find_stall(std::span<const RankLiveness> ranks, double timeout) {
  Stall stall;
  bool all_wait = true;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const RankLiveness& liveness = ranks[static_cast<std::size_t>(rank)];
    if (liveness.ended) continue;
    if (liveness.newest && liveness.silent_seconds >= timeout) {
      stall.silent.push_back(rank);
    } else if (liveness.newest && !liveness.newest->waits_for.empty() &&
               liveness.newest->waiting_seconds >= timeout) {
      stall.waiting.push_back(rank);
    } else {
      all_wait = false;
    }
  }
  if (stall.waiting.empty() || (stall.silent.empty() && !all_wait)) return std::nullopt;
  return stall;
}

std::string to_text(const Stall& stall, std::span<const RankLiveness> ranks) {
  const auto longest = [&](const std::vector<int>& some, auto seconds) {
    double most = 0;
    for (const int rank : some) most = std::max(most, seconds(ranks[static_cast<std::size_t>(rank)]));
    return format_duration(most);
  };
  std::string text = "the job stands still: ";
  if (stall.silent.empty()) {
    text +=
        fmt::format("all ranks have waited for each other for {}",
                    longest(stall.waiting, [](const RankLiveness& r) { return r.newest->waiting_seconds; }));
  } else {
    text += fmt::format("{} {} given no sign of life for {}, and others wait", names_of(stall.silent),
                        stall.silent.size() == 1 ? "has" : "have",
                        longest(stall.silent, [](const RankLiveness& r) { return r.silent_seconds; }));
  }
  std::size_t width = 4;
  for (const RankLiveness& rank : ranks) width = std::max(width, rank.newest ? rank.newest->host.size() : 0);
  text += fmt::format("\n  {:>4}  {:<{}}  {:>8}  phase", "rank", "host", width, "step");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankLiveness& liveness = ranks[rank];
    const bool silent = std::ranges::count(stall.silent, static_cast<int>(rank)) > 0;
    text += fmt::format("\n  {:>4}  {:<{}}  {:>8}  {}", rank, liveness.newest ? liveness.newest->host : "?",
                        width, liveness.newest ? liveness.newest->step : 0, state_of(liveness, silent));
  }
  return text;
}

}  // namespace convoke::supervise
