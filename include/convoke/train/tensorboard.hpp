#pragma once
#include <cstdint>
#include <filesystem>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/event_file.hpp"
#include "convoke/run/run_folder.hpp"
#include "convoke/train/job.hpp"

namespace convoke::train {

struct Verdict;

// What TensorBoard is told of a run: `tensorboard --logdir RUN`.

/// Where the event files of a member are: tensorboard/ in the run folder, of an ensemble
/// tensorboard/member-000.
std::filesystem::path events_folder(const Job& job, const run::RunFolder& folder, std::int64_t member);

/// Adds what an epoch's or a validation's record (train/records.hpp) has of loss, accuracy, learning rate and
/// speed, at its step; other records have nothing. Throws Error naming the file.
void append_curves(metrics::EventFile& events, const Settings& record);

/// The test, after the last step: of each member that votes in its folder, of an ensemble the accuracy of
/// every rule in tensorboard/. Call it on one rank. Throws Error naming the file.
void append_test(const Job& job, const run::RunFolder& folder, const Verdict& verdict);

}  // namespace convoke::train
