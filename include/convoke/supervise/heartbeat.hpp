#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convoke::supervise {

/// The state of a rank. The rank writes it to a file of the run folder at intervals. Other ranks and `convoke
/// watch` read it.
struct Heartbeat {
  int rank = 0;
  std::string host = {};
  std::int64_t beat = 0;       ///< counts the beats of a rank: a rank lives if it changes
  std::int64_t step = 0;       ///< the newest training step that has begun, from 1; 0: none
  std::string phase = {};      ///< "evaluation"; "" between two phases
  std::string waits_for = {};  ///< "a barrier": the rank waits for other ranks; empty: it works
  double waiting_seconds = 0;  ///< in this wait
  double age_seconds = 0;      ///< since it was written, by the clock of the reader; only read_heartbeats()
};

/// Returns "evaluation", "exchange, waits 12.0 s for an exchange".
std::string activity_text(const Heartbeat& heartbeat);

/// The hidden folder `.heartbeats` of a run, with a file for each rank.
std::filesystem::path heartbeat_folder(const std::filesystem::path& run);

/// Writes the file of the heartbeat's rank into `folder`, in place. Returns false if that fails.
bool write_heartbeat(const std::filesystem::path& folder, const Heartbeat& heartbeat);

/// Returns the newest heartbeat of a rank; empty if there is none, or if it is being written.
std::optional<Heartbeat> read_heartbeat(const std::filesystem::path& folder, int rank);
std::filesystem::path heartbeat_file(const std::filesystem::path& folder, int rank);

/// Returns the heartbeats in `folder`, by rank. Ranks that have ended have none.
std::vector<Heartbeat> read_heartbeats(const std::filesystem::path& folder);

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
