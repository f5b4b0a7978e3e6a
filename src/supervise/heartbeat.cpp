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

}  // namespace convoke::supervise
