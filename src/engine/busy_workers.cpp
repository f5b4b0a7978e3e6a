#include "convoke/engine/busy_workers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"
#include "convoke/engine/step_engine.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

constexpr std::int64_t kLeastMicroBatch = 8;  // smaller ones cost time, see docs/micro-batches.md

bool fills(std::int64_t batch, std::int64_t micro_batch, std::int64_t workers) {
  return batch % micro_batch == 0 && batch / micro_batch % workers == 0;
}

// Returns the largest such micro-batch up to `micro_batch`, otherwise the next larger one; 0 if there is
// none.
std::int64_t micro_batch_for(std::int64_t batch, std::int64_t micro_batch, std::int64_t workers) {
  for (std::int64_t smaller = micro_batch; smaller >= kLeastMicroBatch; --smaller) {
    if (fills(batch, smaller, workers)) return smaller;
  }
  for (std::int64_t larger = std::max(micro_batch, kLeastMicroBatch); larger <= batch / workers; ++larger) {
    if (fills(batch, larger, workers)) return larger;
  }
  return 0;
}

}  // namespace

double busy_workers(std::int64_t micro_batches, std::int64_t workers) {
  return static_cast<double>(micro_batches) / static_cast<double>((micro_batches + workers - 1) / workers);
}

std::int64_t helping_threads(const EngineOptions& options, int ranks) {
  std::int64_t helping = 0;
  const std::int64_t busy = std::min<std::int64_t>(ranks, options.batch / options.micro_batch);
  for (int rank = 0; rank < busy; ++rank) {
    const int workers = worker_count(options, rank, ranks);
    helping += workers * (primitive_threads(options, workers) - 1);
  }
  return helping;
}

std::string setting_for_workers(std::int64_t batch, std::int64_t micro_batch, std::int64_t workers) {
  if (fills(batch, micro_batch, workers)) return {};
  if (const std::int64_t other = micro_batch_for(batch, micro_batch, workers))
    return fmt::format("train.micro_batch={}", other);
  const std::string scaled = fmt::format("with train.reference_batch={}", batch);
  const bool automatic = micro_batch == auto_micro_batch(batch);
  const std::int64_t least = (batch + workers - 1) / workers * workers,
                     most = 2 * std::max(batch, kLeastMicroBatch * workers);
  for (const std::int64_t multiple :
       {kLeastMicroBatch, std::int64_t{1}}) {  // kernels take eight samples at once
    for (std::int64_t larger = least; larger <= most; larger += workers) {
      const std::int64_t its = automatic ? auto_micro_batch(larger) : micro_batch;
      if (its % multiple == 0 && fills(larger, its, workers))
        return fmt::format("train.batch={}{} {}", larger,
                           its == micro_batch ? "" : fmt::format(" and train.micro_batch={}", its), scaled);
    }
  }
  const std::int64_t step = kLeastMicroBatch * workers;
  return fmt::format("train.batch={} and train.micro_batch={} {}", (batch + step - 1) / step * step,
                     kLeastMicroBatch, scaled);
}

std::string describe_busy_cores(std::int64_t batch, std::int64_t micro_batch, std::int64_t cores,
                                std::int64_t members) {
  const std::int64_t at_once = std::min(cores, members), each = cores / at_once,
                     micro_batches = batch / micro_batch;
  const std::string setting = setting_for_workers(batch, micro_batch, each);
  return fmt::format("a step{} has {} of {}, which keep {:.3g} of {} busy{}",
                     members > 1 ? fmt::format(" of each of {} members", members) : "",
                     counted(micro_batches, "micro-batch"), counted(micro_batch, "sample"),
                     static_cast<double>(at_once) * busy_workers(micro_batches, each), counted(cores, "core"),
                     setting.empty() ? "" : fmt::format("; {} keeps all busy", setting));
}

}  // namespace convoke::engine
