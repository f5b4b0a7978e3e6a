#include "convoke/engine/busy_workers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"
#include "convoke/engine/lane_engine.hpp"

namespace convoke::engine {
namespace {

constexpr std::int64_t kLeastLane = 8;  // smaller ones cost time, see docs/lanes.md

bool fills(std::int64_t batch, std::int64_t lane, std::int64_t workers) {
  return batch % lane == 0 && batch / lane % workers == 0;
}

// Returns the largest such lane up to `lane`, otherwise the next larger one; 0 if there is none.
std::int64_t lane_for(std::int64_t batch, std::int64_t lane, std::int64_t workers) {
  for (std::int64_t smaller = lane; smaller >= kLeastLane; --smaller) {
    if (fills(batch, smaller, workers)) return smaller;
  }
  for (std::int64_t larger = std::max(lane, kLeastLane); larger <= batch / workers; ++larger) {
    if (fills(batch, larger, workers)) return larger;
  }
  return 0;
}

}  // namespace

double busy_workers(std::int64_t lanes, std::int64_t workers) {
  return static_cast<double>(lanes) / static_cast<double>((lanes + workers - 1) / workers);
}

std::string setting_for_workers(std::int64_t batch, std::int64_t lane, std::int64_t workers) {
  if (fills(batch, lane, workers)) return {};
  if (const std::int64_t other = lane_for(batch, lane, workers)) return fmt::format("train.lane={}", other);
  const std::string scaled = fmt::format("with train.reference_batch={}", batch);
  const bool automatic = lane == auto_lane(batch);
  const std::int64_t least = (batch + workers - 1) / workers * workers,
                     most = 2 * std::max(batch, kLeastLane * workers);
  for (const std::int64_t multiple : {kLeastLane, std::int64_t{1}}) {  // kernels take eight samples at once
    for (std::int64_t larger = least; larger <= most; larger += workers) {
      const std::int64_t its = automatic ? auto_lane(larger) : lane;
      if (its % multiple == 0 && fills(larger, its, workers))
        return fmt::format("train.batch={} {}", larger, scaled);
    }
  }
  const std::int64_t step = kLeastLane * workers;
  return fmt::format("train.batch={} and train.lane={} {}", (batch + step - 1) / step * step, kLeastLane,
                     scaled);
}

std::string describe_busy_cores(std::int64_t batch, std::int64_t lane, std::int64_t cores,
                                std::int64_t members) {
  const std::int64_t at_once = std::min(cores, members), each = cores / at_once, lanes = batch / lane;
  const std::string setting = setting_for_workers(batch, lane, each);
  return fmt::format("a step{} has {} of {}, which keep {:.3g} of {} busy{}",
                     members > 1 ? fmt::format(" of each of {} members", members) : "",
                     counted(lanes, "lane"), counted(lane, "sample"),
                     static_cast<double>(at_once) * busy_workers(lanes, each), counted(cores, "core"),
                     setting.empty() ? "" : fmt::format("; {} keeps all busy", setting));
}

}  // namespace convoke::engine
