#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "convoke/data/batch_loader.hpp"

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

}  // namespace convoke::train
