#pragma once
#include <cstdint>
#include <string>

namespace convoke::engine {

/// Returns how many of `workers` (the worker threads of all ranks of a group) the micro-batches of a step
/// keep busy on average: a step ends when the worker with most micro-batches has computed them.
double busy_workers(std::int64_t micro_batches, std::int64_t workers);

struct EngineOptions;

/// Returns how many threads of a group of `ranks` ranks compute no micro-batch of their own, but a part of
/// the layers in those of others; 0 with exact sums, and if there are enough micro-batches.
std::int64_t helping_threads(const EngineOptions& options, int ranks);

/// Returns a setting with which the micro-batches of a step keep all workers busy: "train.micro_batch=16", or
/// a larger batch with the same learning rate per sample, "train.batch=512 with train.reference_batch=64"; ""
/// if they do already. It names the micro-batch if that changes, because the recipe may state it.
/// Micro-batches stay at least 8 samples. `micro_batch` is the one of micro_batch = "auto" or the recipe's.
std::string setting_for_workers(std::int64_t batch, std::int64_t micro_batch, std::int64_t workers);

/// Returns "a step of each of 2 members has 8 micro-batches of 8 samples, which keep 16 of 64 cores busy;
/// train.micro_batch=4 keeps all busy". As many of the members as there are cores train at once, and share
/// `cores` equally.
std::string describe_busy_cores(std::int64_t batch, std::int64_t micro_batch, std::int64_t cores,
                                std::int64_t members);

}  // namespace convoke::engine
