#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/metrics/text_chart.hpp"
#include "convoke/run/run_status.hpp"

namespace convoke::run {

/// A run as its folder shows it, from any host, while it is under way and after.
struct RunView {
  enum class State {
    kBegins,  ///< nothing is trained yet
    kRuns,
    kStopped,   ///< nobody holds the folder any more, and it is not complete
    kSilent,    ///< it is held, but there has been no sign of life for 90 seconds
    kComplete,  ///< there is a summary
  };

  std::filesystem::path folder;
  State state = State::kBegins;
  double age_seconds = 0;  ///< since the last sign of life, by this host's clock
  std::string holder;      ///< who has it locked; empty: nobody
  std::string place;       ///< "4 ranks x 2 threads on n1, n2"
  std::optional<RunStatus> status;
  std::string checkpoint;  ///< the newest, relative to the folder; empty: none
  double checkpoint_age_seconds = 0;
  std::vector<metrics::Curve> loss;  ///< over epochs: training and validation
  std::vector<metrics::Curve> accuracy;
  std::string summary;  ///< of a complete run, in a line
};

/// Throws Error if there is no run in `folder`.
RunView view_run(const std::filesystem::path& folder);

/// As lines, with charts of `width` characters.
std::string to_text(const RunView& view, int width);

}  // namespace convoke::run
