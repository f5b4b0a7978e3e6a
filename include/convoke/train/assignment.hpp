#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/run/run_status.hpp"

namespace convoke::train {

class FeatureCache;

/// Which model a trainer trains, and on what.
struct Assignment {
  std::int64_t member = 0;
  std::uint64_t seed = 0;
  std::span<const std::uint32_t> training;    ///< sample ids
  std::span<const std::uint32_t> validation;  ///< may be empty
  /// Whose samples `validation` numbers; null: that of training.
  const data::BatchLoader* validation_loader = nullptr;
  FeatureCache* features = nullptr;         ///< of all members together; null: a cache of its own, if any
  std::filesystem::path feature_file = {};  ///< where that may be
};

/// Where a trainer tells how far it is.
struct Reports {
  metrics::Progress& progress;               ///< silent on all ranks but one
  std::function<void(const Settings&)> log;  ///< takes a line for metrics.jsonl; may be empty
  std::string title = {};                    ///< "mnist-ensemble member 2/4"
  run::StatusWriter* status = nullptr;       ///< for those who watch; null: on all ranks but one
};

}  // namespace convoke::train
