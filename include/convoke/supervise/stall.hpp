#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/supervise/heartbeat.hpp"

namespace convoke::supervise {

/// The signs of life that one rank has from another one.
struct RankLiveness {
  std::optional<Heartbeat> newest;  ///< empty: none was ever seen
  double silent_seconds = 0;        ///< since the heartbeat last changed
  bool ended = false;               ///< its heartbeat was removed, as a rank does when it has finished
};

/// A job in which nothing happens any more.
struct Stall {
  std::vector<int> silent;   ///< ranks without a sign of life: stopped, or their host hangs
  std::vector<int> waiting;  ///< ranks that have waited for others for so long
};

/// Finds a stall: at least one rank has waited for others for `timeout` seconds in the same place, and either
/// a rank has given no sign of life for as long, or every rank waits. A rank that lives and does not wait is
/// working, however long it takes. Ranks that were never seen may be working, too. A pure function.
std::optional<Stall> find_stall(std::span<const RankLiveness> ranks, double timeout);

/// Describes a stall: who is missing, and a line for each rank with its host, step and phase.
std::string to_text(const Stall& stall, std::span<const RankLiveness> ranks);

}  // namespace convoke::supervise
