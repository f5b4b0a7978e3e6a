#pragma once
#include <cstdint>
#include <filesystem>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/event_file.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

struct Verdict;

// Writes event files of a run for TensorBoard: `tensorboard --logdir RUN`.

/// Returns the folder for the event files of a member: tensorboard/ in the run folder, or
/// tensorboard/member-000 in an ensemble.
std::filesystem::path events_folder(const Job& job, const run::RunFolder& folder, std::int64_t member);

/// Writes loss, accuracy, learning rate and speed of an epoch's or a validation's record (train/reports.hpp)
/// at its step; ignores other records. Throws Error naming the file.
void append_curves(metrics::EventFile& events, const Settings& record);

/// Writes the test results after the last step: those of each voting member to its folder, and in an ensemble
/// the accuracy of every rule to tensorboard/. Call it on one rank. Throws Error naming the file.
void append_test(const Job& job, const run::RunFolder& folder, const Verdict& verdict);

}  // namespace convoke::train
