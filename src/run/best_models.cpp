#include "convoke/run/best_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <system_error>
#include <tuple>

#include "convoke/core/error.hpp"

namespace convoke::run {
namespace {

namespace fs = std::filesystem;

/// Returns the place that a file's name states, counted from 0; empty for other files.
std::optional<std::size_t> place_in(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name == "best.h5") return 0;
  std::size_t number = 0;
  int length = 0;
  if (std::sscanf(name.c_str(), "best-%zu.h5%n", &number, &length) < 1 || number < 2) return std::nullopt;
  return static_cast<std::size_t>(length) == name.size() ? std::optional(number - 1) : std::nullopt;
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) {
    throw Error(
        fmt::format("{}: cannot become {}: {}", from.string(), to.filename().string(), failed.message()));
  }
}

void erase(const fs::path& file) {
  std::error_code failed;
  fs::remove(file, failed);
  if (failed) throw Error(fmt::format("{}: cannot be removed: {}", file.string(), failed.message()));
}

}  // namespace

struct BestModels::Entry {
  fs::path path;
  std::optional<std::int64_t> step;  // empty: not stored in the file
  double cost = std::numeric_limits<double>::infinity();

  // The sort key. The place decides only among files without a validation or with equal ones.
  auto rank() const {
    return std::tuple(!step.has_value(), cost, step.value_or(0), place_in(path).value_or(0));
  }
};

BestModels::BestModels(fs::path folder, std::int64_t kept, Cost cost)
    : folder_(std::move(folder)), kept_(static_cast<std::size_t>(kept)), cost_(std::move(cost)) {}

fs::path BestModels::file(std::size_t place) const {
  return folder_ / (place == 0 ? "best.h5" : fmt::format("best-{}.h5", place + 1));
}

std::vector<fs::path> BestModels::files() const {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    if (place_in(entry.path())) found.push_back(entry.path());
  }
  return found;
}

std::vector<BestModels::Entry> BestModels::entries() const {
  std::vector<Entry> found;
  for (const fs::path& path : files()) {
    Entry& entry = found.emplace_back(Entry{.path = path, .step = {}});
    const std::optional<Validated> validated = validated_in(path);
    if (!validated) continue;
    entry.step = validated->step;
    entry.cost = cost_(*validated);
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.rank() < b.rank(); });
  // If a process was killed while it made room, a model has two names.
  const auto same = [](const Entry& a, const Entry& b) { return a.step && a.step == b.step; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::size_t BestModels::place_of(const Validated& validated, const std::vector<Entry>& entries) const {
  const std::tuple mine(false, cost_(validated), validated.step, std::size_t{0});
  const auto behind =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return mine < entry.rank(); });
  return static_cast<std::size_t>(behind - entries.begin());
}

bool BestModels::admits(const Validated& validated) const {
  return kept_ > 0 && place_of(validated, entries()) < kept_;
}

void BestModels::keep(const ModelDescription& model, std::span<const float> parameters,
                      const Validated& validated) const {
  const std::vector<Entry> before = entries();
  const std::size_t place = place_of(validated, before);
  if (place >= kept_) return;
  arrange(before);
  write_model(file(place), model, parameters, validated, [&] { make_room(place, before.size()); });
}

void BestModels::go_back_to(std::int64_t step) const {
  if (kept_ == 0) return;
  std::vector<Entry> staying = entries();
  std::erase_if(staying, [&](const Entry& entry) { return entry.step.value_or(0) > step; });
  staying.resize(std::min(staying.size(), kept_));
  arrange(std::move(staying));
}

// Starts with the last file. A place stays occupied until the next model takes its name, so that readers of
// best.h5 always find a file; without hard links the place is briefly empty.
void BestModels::make_room(std::size_t place, std::size_t count) const {
  const fs::path link = folder_ / "best.h5.link";
  for (std::size_t to = std::min(count, kept_ - 1); to > place; --to) {
    std::error_code failed;
    fs::remove(link, failed);
    fs::create_hard_link(file(to - 1), link, failed);
    move(failed ? file(to - 1) : link, file(to));
  }
}

// Usually all files are in place. Files out of place first get names beyond all others, which still count: no
// model is lost if the process is killed meanwhile.
void BestModels::arrange(std::vector<Entry> order) const {
  std::size_t free = order.size();
  for (const fs::path& path : files()) {
    const bool stays =
        std::any_of(order.begin(), order.end(), [&](const Entry& entry) { return entry.path == path; });
    if (stays) {
      free = std::max(free, place_in(path).value() + 1);
    } else {
      erase(path);
    }
  }
  const auto move_to = [&](std::size_t first) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].path == file(i)) continue;
      move(order[i].path, file(first + i));
      order[i].path = file(first + i);
    }
  };
  move_to(free);
  move_to(0);
}

}  // namespace convoke::run
