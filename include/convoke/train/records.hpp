#pragma once
#include <cstdint>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

// The lines of metrics.jsonl; docs/formats.md lists their keys.

/// The end of an epoch of one member, after `updates` steps since the start. NaN values are left out.
Settings epoch_record(std::int64_t member, std::int64_t updates, const metrics::EpochFields& epoch);

/// A validation of one member within an epoch, after `updates` steps since the start.
Settings validation_record(std::int64_t member, std::int64_t epoch, std::int64_t updates,
                           const engine::Score& score);

/// A member that stops early, described by `state`.
Settings early_stopping_record(std::int64_t member, const EarlyStopping& rule,
                               const run::CheckpointState& state);

/// An evaluation of all members on `split`.
Settings evaluation_record(const std::string& split, const Evaluation& evaluation);

}  // namespace convoke::train
