#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/metrics/text_chart.hpp"
#include "convoke/run/run_status.hpp"
#include "convoke/supervise/heartbeat.hpp"

namespace convoke::supervise {

/// A run as its folder shows it on any host, during the run and afterwards.
struct RunView {
  enum class State {
    kBegins,  ///< training has not started yet
    kRuns,
    kStopped,   ///< not complete, and no process holds the lock
    kSilent,    ///< locked, but without a sign of life for 90 seconds
    kComplete,  ///< it has a summary
  };

  std::filesystem::path folder;
  State state = State::kBegins;
  double age_seconds = 0;  ///< since the last sign of life, by this host's clock
  std::string holder;      ///< owner of the lock; empty: not locked
  std::string place;       ///< "4 ranks x 2 threads on n1, n2"
  std::optional<run::RunStatus> status;
  std::vector<Heartbeat> ranks;  ///< by rank; empty before training, and when it has ended
  std::string checkpoint;        ///< the newest, relative to the folder; empty: none
  double checkpoint_age_seconds = 0;
  std::vector<metrics::Curve> loss;  ///< over epochs: training and validation
  std::vector<metrics::Curve> accuracy;
  std::string summary;  ///< of a complete run, in one line
};

/// Throws Error if `folder` is not a run folder.
RunView view_run(const std::filesystem::path& folder);

/// Returns lines of text, with charts of `width` characters.
std::string to_text(const RunView& view, int width);

}  // namespace convoke::supervise
