#include "convoke/slurm/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <sstream>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke::slurm {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;

// Returns the numbers between colons; empty if there is any other text.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::int64_t number = parse_number<std::int64_t>(rest.substr(0, end)).value_or(-1);
    if (number < 0 || number > 100000) return {};
    numbers.push_back(number);
    if (end == rest.size()) return numbers;
    rest.remove_prefix(end + 1);
  }
}

// Nodes in these states accept no job until an administrator acts.
constexpr std::array kLost{"down", "drain", "fail", "unknown", "maint", "power_down", "future"};

bool lost(const std::string& state) {
  return state.ends_with('*') || std::any_of(kLost.begin(), kLost.end(), [&](const char* word) {
           return state.find(word) != std::string::npos;
         });
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '|');) fields.push_back(field);
  return fields;
}

}  // namespace

std::int64_t parse_time(std::string_view text, const std::string& what) {
  if (text == "infinite" || text == "UNLIMITED") return kUnlimited;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  const std::vector<std::int64_t> days = numbers_in(with_days ? text.substr(0, dash) : "0");
  const std::vector<std::int64_t> rest = numbers_in(with_days ? text.substr(dash + 1) : text);
  if (days.size() != 1 || rest.empty() || rest.size() > 3) {
    throw Error(fmt::format("{}: \"{}\" is not a time", what, text),
                "write minutes, hours:minutes:seconds or days-hours, such as 90, 1:30:00 or 2-12");
  }
  const auto at = [&](std::size_t i) { return i < rest.size() ? rest[i] : 0; };
  if (with_days) return days[0] * kDay + at(0) * kHour + at(1) * kMinute + at(2);
  if (rest.size() == 3) return at(0) * kHour + at(1) * kMinute + at(2);
  return at(0) * kMinute + at(1);
}

std::string format_time(std::int64_t seconds) {
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds % kDay / kHour, seconds % kHour / kMinute, seconds % kMinute);
  return seconds < kDay ? clock : fmt::format("{}-{}", seconds / kDay, clock);
}

std::int64_t Partition::nodes() const {
  return std::transform_reduce(kinds.begin(), kinds.end(), std::int64_t{0}, std::plus<>(),
                               [](const NodeKind& kind) { return kind.count; });
}

std::vector<Partition> parse_sinfo(const std::string& text) {
  std::vector<Partition> partitions;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = fields_of(line);
    NodeKind kind;
    int cpus = 0, cores_per_socket = 0;
    long long count = 0, memory = 0;
    if (fields.size() != 8 || std::sscanf(fields[3].c_str(), "%lld", &count) != 1 ||
        std::sscanf(fields[4].c_str(), "%d", &cpus) != 1 ||
        std::sscanf(fields[5].c_str(), "%lld", &memory) != 1 ||
        std::sscanf(fields[6].c_str(), "%d:%d:%d", &kind.sockets, &cores_per_socket,
                    &kind.threads_per_core) != 3) {
      throw Error(fmt::format("unexpected output of sinfo: \"{}\"", line),
                  "add --nodes, --ranks-per-node and --cpus-per-rank; then sinfo is not needed");
    }
    std::string name = fields[0];
    const bool is_default = name.ends_with('*');
    if (is_default) name.pop_back();
    auto it = std::ranges::find(partitions, name, &Partition::name);
    if (it == partitions.end()) {
      it = partitions.insert(it, {name, is_default, parse_time(fields[2], "sinfo: " + name), {}});
    }
    if (fields[1] != "up" || lost(fields[7])) continue;
    kind.cores = std::max(1, std::min(cpus, kind.sockets * cores_per_socket));
    kind.memory_mib = memory;
    const auto same = std::find_if(it->kinds.begin(), it->kinds.end(), [&](const NodeKind& other) {
      return other.cores == kind.cores && other.memory_mib == memory && other.sockets == kind.sockets;
    });
    kind.count = count;
    if (same == it->kinds.end()) {
      it->kinds.push_back(kind);
    } else {
      same->count += count;
    }
  }
  for (Partition& partition : partitions) {
    std::stable_sort(partition.kinds.begin(), partition.kinds.end(),
                     [](const NodeKind& a, const NodeKind& b) { return a.count > b.count; });
  }
  return partitions;
}

const Partition& choose(const std::vector<Partition>& partitions, std::string_view name) {
  if (partitions.empty()) throw Error("sinfo lists no partition", "ask your administrator");
  const Partition* chosen = &partitions.front();
  if (!name.empty()) {
    chosen = &find_in(partitions, name, "partition");
  } else {
    for (const Partition& partition : partitions) {
      if (partition.is_default) chosen = &partition;
    }
  }
  if (chosen->kinds.empty()) {
    throw Error(fmt::format("all nodes of partition {} are down or drained", chosen->name),
                "sinfo -R says why; choose another --partition: " + join(names_in(partitions)));
  }
  return *chosen;
}

}  // namespace convoke::slurm
