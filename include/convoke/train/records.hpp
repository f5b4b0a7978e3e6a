#pragma once
#include <cstdint>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/train/evaluation.hpp"

namespace convoke::train {

// The lines of metrics.jsonl; docs/formats.md lists their keys.

/// The end of an epoch of one member. What is NaN is left out.
Settings epoch_record(std::int64_t member, const metrics::EpochFields& epoch);

/// An evaluation of all members on `split`.
Settings evaluation_record(const std::string& split, const Evaluation& evaluation);

}  // namespace convoke::train
