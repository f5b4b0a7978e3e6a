#include "convoke/study/analysis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::study {
namespace {

// The criterion: with a deadline, few core-seconds; otherwise, little time.
bool is_better(const Recommendation& a, const Recommendation& b, const Requirements& requirements) {
  if (requirements.deadline_seconds) {
    return a.at.workers() != b.at.workers() ? a.at.workers() < b.at.workers() : a.seconds < b.seconds;
  }
  return a.seconds < b.seconds;
}

// Returns "" if the configuration fulfils the requirements, otherwise the reason.
std::string shortcoming(const Recommendation& r, const Requirements& requirements) {
  const double seconds = r.seconds_interval ? r.seconds_interval->high : r.seconds;
  if (requirements.deadline_seconds && seconds > *requirements.deadline_seconds) return "deadline";
  if (requirements.budget_core_seconds &&
      seconds * static_cast<double>(r.at.workers()) > *requirements.budget_core_seconds) {
    return "budget";
  }
  if (requirements.accuracy && (!r.accuracy || r.accuracy->at_least() < *requirements.accuracy))
    return "accuracy";
  return "";
}

Recommendation measured(const ScalingPoint& point, std::span<const MeasuredConfiguration> configurations) {
  Recommendation r;
  r.possible = true;
  r.at = point.at;
  r.seconds = point.seconds->mean;
  r.seconds_interval = point.seconds->interval;
  r.core_seconds = r.seconds * static_cast<double>(point.at.workers());
  r.marks = point.marks;
  const MeasuredConfiguration* configuration = configuration_at(configurations, point.at);
  if (const Statistics* accuracy = configuration->find("accuracy")) r.accuracy = *accuracy;
  return r;
}

Recommendation predicted(const Curve& curve, std::int64_t workers) {
  const Prediction p = curve.amdahl->at(workers);
  Recommendation r;
  r.possible = r.predicted = true;
  r.at = curve.points.back().at;
  r.at.threads = curve.base.threads;
  r.at.ranks = workers / r.at.threads;
  r.seconds = p.seconds;
  r.seconds_interval = p.seconds_interval;
  r.core_seconds = p.seconds * static_cast<double>(workers);
  r.marks = curve.law_marks;
  return r;
}

std::string wanted(const Requirements& requirements) {
  std::vector<std::string> parts;
  if (requirements.deadline_seconds)
    parts.push_back(fmt::format("{} at most", format_duration(*requirements.deadline_seconds)));
  if (requirements.budget_core_seconds) {
    parts.push_back(fmt::format("{:.4g} core-hours at most", *requirements.budget_core_seconds / 3600));
  }
  if (requirements.accuracy) parts.push_back(fmt::format("accuracy {} at least", *requirements.accuracy));
  return join(parts);
}

}  // namespace

std::vector<Recommendation> recommend(std::span<const Curve> curves,
                                      std::span<const MeasuredConfiguration> configurations,
                                      const Requirements& requirements, std::int64_t up_to) {
  std::vector<Recommendation> all;
  for (const Curve& curve : curves) {
    if (curve.quantity != "makespan_seconds" || curve.base.workers() == 0) continue;
    Recommendation best;
    const auto consider = [&](const Recommendation& r) {
      if (shortcoming(r, requirements).empty() && (!best.possible || is_better(r, best, requirements)))
        best = r;
    };
    std::int64_t most = 0;
    for (const ScalingPoint& point : curve.points) {
      if (is_oversubscribed(point.marks)) continue;
      most = std::max(most, point.at.workers());
      // The base may have another mode.
      if (point.at.mode == curve.shared.mode && point.at.batch == curve.shared.batch)
        consider(measured(point, configurations));
    }
    // The law does not predict accuracies.
    const bool by_law = !best.possible && curve.amdahl && !requirements.accuracy && up_to > most;
    if (by_law) {
      const std::int64_t threads = curve.base.threads;
      for (std::int64_t n = (most / threads + 1) * threads; n <= up_to; n += threads)
        consider(predicted(curve, n));
    }
    best.curve = to_string(curve.shared);
    if (best.possible) {
      best.reason = fmt::format("{}: {}", wanted(requirements),
                                requirements.deadline_seconds ? "the fewest workers" : "the fastest");
    } else {
      best.reason = fmt::format("{}: no measured configuration fulfils this{}", wanted(requirements),
                                by_law ? fmt::format(", nor does Amdahl's law up to {} workers", up_to) : "");
    }
    all.push_back(std::move(best));
  }
  if (all.empty()) {
    Recommendation none;
    none.reason = wanted(requirements) + ": makespans of at least two numbers of workers are needed";
    all.push_back(std::move(none));
  }
  return all;
}

}  // namespace convoke::study
