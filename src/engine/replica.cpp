#include "convoke/engine/replica.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::engine {

namespace {

// Returns the options of a rank that makes the steps of its share of a batch.
EngineOptions options_of_share(EngineOptions options, int ranks) {
  const std::int64_t micro_batches = options.batch / options.micro_batch;
  if (micro_batches < ranks) {
    throw Error(fmt::format("{} ranks train a model each, but a batch of {} has {} of {} samples", ranks,
                            options.batch, counted(micro_batches, "micro-batch"), options.micro_batch),
                "use fewer ranks, a larger train.batch or a smaller train.micro_batch");
  }
  options.batch = (micro_batches + ranks - 1) / ranks * options.micro_batch;
  return options;
}

bool is_corruption(const std::exception_ptr& failure) try {
  if (failure) std::rethrow_exception(failure);
  return false;
} catch (const SilentCorruption&) {
  return true;
} catch (...) {
  return false;
}

// As mpi::agree, but silent corruption, which ends the job, comes before other failures and keeps its type.
void agree_on_failure(const mpi::Communicator& group, const std::exception_ptr& failure) {
  try {
    mpi::agree(group, is_corruption(failure) ? failure : nullptr);
  } catch (const mpi::GroupError& error) {
    throw SilentCorruption(error.what(), error.hint());
  }
  mpi::agree(group, failure);
}

}  // namespace

Replica::Replica(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
                 const optim::Optimizer& optimizer, const mpi::Communicator& group,
                 const sync::Strategy& strategy, std::int64_t epoch)
    : group_(group), strategy_(strategy), micro_batch_(options.micro_batch), equal_(group.size()) {
  if (strategy.sums_gradients(epoch)) {
    engine_ = std::make_unique<StepEngine>(graph, options, loader, optimizer, group);
    return;
  }
  const mpi::Communicator alone = group.split(group.rank(), 0);
  engine_ = mpi::together(group, [&] {
    return std::make_unique<StepEngine>(graph, options_of_share(options, group.size()), loader, optimizer,
                                        alone);
  });
  average_.emplace(*engine_, optimizer.state_slots(), group, strategy, options.seed);
}

void Replica::step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                   std::span<const std::uint32_t> repeats) {
  ++sums_.steps;
  samples_ = 0;
  if (average_) {
    if (std::exchange(synchronized_, false)) average_->begin_round();
    const data::SampleRange mine = equal_.samples(std::ssize(samples), micro_batch_, group_.rank());
    const auto part = [&mine](std::span<const std::uint32_t> all) {
      return all.empty()
                 ? all
                 : all.subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.count));
    };
    samples = part(samples);
    repeats = part(repeats);
    if (failure_ || !std::isfinite(sums_.loss)) return;
    if (samples.empty()) return engine_->skip_step();
  }
  try {
    const StepEngine::StepResult result = engine_->step(epoch, samples, learning_rate, repeats);
    samples_ = engine_->samples();
    const auto count = static_cast<double>(samples.size());
    sums_.loss += result.loss * count;
    sums_.correct += result.accuracy * count;
    sums_.samples += std::ssize(samples);
  } catch (...) {
    if (!average_) throw;
    failure_ = std::current_exception();
  }
}

// In the order of ranks, so that all ranks have the same sums.
Replica::StepSums Replica::sum_of_all() const {
  struct Entry {
    StepSums sums;
    std::int64_t failed = 0;
  };
  StepSums total{.steps = sums_.steps};
  std::int64_t failed = 0;
  for (const Entry& entry : mpi::all_gather(group_, Entry{sums_, failure_ ? 1 : 0})) {
    total.loss += entry.sums.loss;
    total.correct += entry.sums.correct;
    total.samples += entry.sums.samples;
    failed += entry.failed;
  }
  if (failed > 0) agree_on_failure(group_, failure_);
  return total;
}

Replica::StepSums Replica::synchronize() {
  if (!average_) return std::exchange(sums_, {});
  const Span span(Activity::kExchange, "average of models");
  const StepSums total = sum_of_all();
  if (!std::isfinite(total.loss)) return total;
  average_->run();
  sums_ = {};
  synchronized_ = true;
  return total;
}

std::string Replica::diagnose() {
  if (!average_) return engine_->diagnose();
  std::string mine;
  mpi::together(group_, [&] {
    if (!std::isfinite(sums_.loss))
      mine = fmt::format("{} of replica {}", engine_->diagnose(), group_.rank());
  });
  return mpi::first_text(group_, mine);
}

}  // namespace convoke::engine
