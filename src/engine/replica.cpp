#include "convoke/engine/replica.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::engine {

namespace {

// Returns the options of a rank that makes the steps of its share of a batch.
EngineOptions options_of_share(EngineOptions options, int ranks) {
  const std::int64_t micro_batches = options.batch / options.micro_batch;
  if (micro_batches < ranks) {
    throw Error(
        fmt::format("{} ranks train a model each, but a step of at most {} samples has {} of {}", ranks,
                    options.batch, counted(micro_batches, "micro-batch"), options.micro_batch),
        "use fewer ranks, a smaller train.micro_batch or, if there are more samples, a larger train.batch");
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

StepEngine::Cause Replica::diagnose() {
  if (!average_) return engine_->diagnose();
  StepEngine::Cause mine;
  mpi::together(group_, [&] {
    if (std::isfinite(sums_.loss)) return;
    mine = engine_->diagnose();
    mine.where += fmt::format(" of replica {}", group_.rank());
  });
  // A value that is not finite explains more than one that is too large.
  const std::string not_finite = mpi::first_text(group_, mine.too_large ? std::string() : mine.where);
  const std::string first = mpi::first_text(group_, mine.where);
  return not_finite.empty() ? StepEngine::Cause{first, !first.empty()} : StepEngine::Cause{not_finite};
}

namespace {

constexpr std::size_t kMostFloats = std::size_t{1} << 20;

std::size_t count_pieces(std::size_t size, std::size_t piece) {
  return piece == 0 ? 0 : (size + piece - 1) / piece;
}

// Returns the size of pieces of equal size, at most kMostFloats, that cover `size` floats.
std::size_t piece_floats(std::size_t size) { return count_pieces(size, count_pieces(size, kMostFloats)); }

}  // namespace

ModelAverage::ModelAverage(StepEngine& engine, std::size_t slots, const mpi::Communicator& group,
                           const sync::Strategy& strategy, std::uint64_t seed)
    : engine_(engine),
      slots_(slots),
      seed_(seed),
      rule_(strategy.state_rule()),
      momentum_(static_cast<float>(strategy.momentum())),
      share_(1.0F / static_cast<float>(group.size())),
      channels_(group),
      piece_(piece_floats(engine.layout().gradient_size())),
      sum_(channels_, piece_.span()),
      begin_(momentum_ > 0 ? engine.layout().trainable_size() : 0),
      change_(begin_.size()) {}

ModelAverage::Sums ModelAverage::sums_of(StepEngine& engine, std::size_t slots, sync::StateRule rule) {
  const std::size_t changing = engine.layout().gradient_size();
  const std::size_t piece = piece_floats(changing);
  std::size_t count = count_pieces(changing, piece);
  if (!engine.average().empty()) count *= 2;
  if (rule == sync::StateRule::kAverage)
    count += slots * count_pieces(engine.layout().trainable_size(), piece);
  return {piece, count};
}

void ModelAverage::begin_round() { std::copy_n(engine_.parameters().begin(), begin_.size(), begin_.data()); }

void ModelAverage::run() {
  const std::size_t changing = engine_.layout().gradient_size();  // the others are frozen
  average(StateArray(engine_.parameters().first(changing)));
  if (momentum_ > 0) add_momentum();
  if (!engine_.average().empty()) average(StateArray(engine_.average().first(changing)));
  if (rule_ == sync::StateRule::kReset) engine_.reset_optimizer();
  if (rule_ != sync::StateRule::kAverage) return;
  for (std::size_t slot = 0; slot < slots_; ++slot)
    average(engine_.optimizer_state(slot), kMostStates + slot);
}

// `number`: of the array, for the random numbers of its rounding. They are the same on all ranks, and an
// update of the same step uses others.
void ModelAverage::average(const StateArray& values, std::size_t number) {
  const auto step = static_cast<std::uint32_t>(engine_.steps_done());
  const StochasticRounding rounding{philox_key(seed_, Purpose::kRounding, step),
                                    static_cast<std::uint32_t>(number)};
  for (std::size_t first = 0; first < values.size(); first += piece_.size()) {
    const std::span<float> part = piece_.span().first(std::min(piece_.size(), values.size() - first));
    values.read(first, part);
    sum_.start();
    sum_.combine(true);
    sum_.finish(true);
    for (float& value : part) value *= share_;
    values.write(first, part, rounding);
  }
}

//   x_t = m_t + momentum (x_{t-1} - x_{t-2})
void ModelAverage::add_momentum() {
  const std::span<float> parameters = engine_.parameters();
  for (std::size_t i = 0; i < change_.size(); ++i) {
    parameters[i] += momentum_ * change_[i];
    change_[i] = parameters[i] - begin_[i];
  }
}

}  // namespace convoke::engine
