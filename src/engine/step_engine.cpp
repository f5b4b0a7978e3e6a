#include "convoke/engine/step_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/engine/gradient_sums.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/moments_exchange.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/engine/work_queue.hpp"
#include "convoke/engine/worker.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/thread.hpp"
#include "engine/engine_parts.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

void check(const EngineOptions& options) {
  if (options.batch < 1 || options.micro_batch < 1 || options.batch % options.micro_batch != 0) {
    throw Error(fmt::format("a batch of {} samples is not a multiple of a micro-batch of {}", options.batch,
                            options.micro_batch),
                "choose a micro-batch that divides the batch, or micro_batch = \"auto\"");
  }
}

}  // namespace

std::int64_t auto_micro_batch(std::int64_t batch) {
  std::int64_t micro_batch = std::min(batch, std::max<std::int64_t>(8, batch / 64));
  while (batch % micro_batch != 0) ++micro_batch;
  return micro_batch;
}

EngineOptions for_samples(EngineOptions options, std::int64_t samples) {
  if (samples < options.batch)
    options.batch = (samples + options.micro_batch - 1) / options.micro_batch * options.micro_batch;
  return options;
}

int worker_count(const EngineOptions& options, int rank, int ranks) {
  const std::int64_t micro_batches = share_of({0, options.batch / options.micro_batch}, rank, ranks).count;
  return static_cast<int>(
      std::clamp<std::int64_t>(options.threads, 1, std::max<std::int64_t>(1, micro_batches)));
}

int primitive_threads(const EngineOptions& options, int workers) {
  // With fewer micro-batches than cores, the remaining cores work inside the primitives. Exact sums do not
  // allow this, because a kernel's rounding may depend on its threads.
  return options.reduction == Reduction::kExact ? 1 : std::max(1, options.threads / workers);
}

// With floats, the sums depend on who computes a micro-batch, and on whether it is computed alone.
bool steals_micro_batches(const EngineOptions& options, const nn::Graph& graph) {
  return (options.balance || options.reduction == Reduction::kExact) && !nn::synchronizes(graph);
}

nn::PlanOptions plan_options(const EngineOptions& options) {
  return {.convolution = options.convolution,
          .precision = options.precision,
          .working_weights = true,
          .low_memory = options.low_memory,
          .loss = options.loss.get(),
          .classes = options.classes};
}

class StepEngine::Impl {
 public:
  Impl(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
       const optim::Optimizer& optimizer, const mpi::Communicator& group, EngineParts parts)
      : options_(options),
        group_(group),
        parts_(std::move(parts)),
        layout_(*parts_.layout),
        memory_(*parts_.memory),
        sums_(*parts_.sums),
        team_(parts_.team->mine()),
        working_(parts_.layout, memory_.parameters().data()),
        update_(layout_, options.update, options.seed, optimizer, memory_, *parts_.team),
        shares_(group.size()),
        state_slots_(optimizer.state_slots()) {
    if (options.verify_every > 0) start_verification();
    if (writes())
      std::ranges::copy(nn::initial_parameters(layout_, options.seed).span(), memory_.parameters().begin());
    primitive_threads_ = primitive_threads(options, team_.size());
    workers_.resize(static_cast<std::size_t>(team_.size()));
    team_.run([&](int i) {
      nn::set_primitive_threads(primitive_threads_);
      os::request_short_time_slices();
      workers_[static_cast<std::size_t>(i)] =
          std::make_unique<Worker>(graph, parts_.layout, memory_.parameters().data(), working_.data(), loader,
                                   memory_.sums(memory_.first_worker() + i),
                                   Worker::Options{exact(), plan_options(options_), segment_bytes(graph),
                                                   moments(), i, sums_.overlaps()});
    });
    prepare_ = [this](int i) { working_.refresh(i, team_.size()); };
    compute_ = [this](int i) { compute(i); };
    progress_ = [this] { sums_.advance(); };
    no_progress_ = [] {};
  }

  StepResult step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                  std::span<const std::uint32_t> repeats) {
    ensure(!samples.empty() && static_cast<std::int64_t>(samples.size()) <= options_.batch,
           "a step has at least one sample and at most a batch");
    nn::set_primitive_threads(primitive_threads_);
    input_ = {options_.seed, epoch, samples, options_.micro_batch, repeats};
    const std::int64_t micro_batches =
        (std::ssize(samples) + options_.micro_batch - 1) / options_.micro_batch;
    micro_batches_ = shares_.micro_batches(micro_batches, group_.rank());

    // 1. Forward and backward of this rank's micro-batches. Between nodes, complete gradients are sent while
    // the rest
    //    is computed.
    if (!working_.empty()) team_.run(prepare_);
    sums_.begin_step();
    for (const auto& worker : workers_) worker->begin_step();
    if (moments() != nullptr) moments()->begin_step();
    const std::optional<GradientVerification::Check> check = begin_verification(micro_batches);
    // Each worker compiles its plans in the first full step, and a smaller last micro-batch needs one of its
    // own. Whose micro-batch is verified must be known.
    const bool full = std::ssize(samples) == options_.batch;
    shares_micro_batches_ =
        parts_.queue && compiled_ && full && !check && parts_.queue->shares(micro_batches);
    if (shares_micro_batches_) parts_.queue->begin_step(micro_batches, shares_);
    compiled_ = compiled_ || full;
    std::exception_ptr failure;
    try {
      team_.run(compute_);
    } catch (...) {
      failure = std::current_exception();
      if (group_.size() == 1) throw;
    }
    // A rank that fails still takes part in the exchange, because the others wait for it.
    for (const auto& worker : workers_) {
      if (worker->complete() < sums_.floats().size()) worker->give_up();
    }

    // 2. Sum over threads and ranks.
    sums_.finish();
    if (any_failed()) mpi::agree(group_, failure);
    StepResult result = result_of(samples.size());
    if (!std::isfinite(result.loss)) {
      memory_.barrier();  // until all ranks of the node have read the sums, which diagnose() overwrites
      return result;
    }
    if (check) verify(*check);

    // 3. Make the same update on all nodes.
    result.loss += update_.run(learning_rate, ++steps_done_);
    if (parts_.balance && full) balance();
    return result;
  }

  void skip_step() {
    ensure(group_.size() == 1, "ranks that share an engine make each step together");
    update_.skip(++steps_done_);
  }

  std::string first_bad_parameter() {
    const nn::ParameterSlot* first = nullptr;
    for (const nn::ParameterSlot& slot : layout_.slots()) {
      if (first != nullptr && first->node <= slot.node) continue;
      if (!finite(slot)) first = &slot;
    }
    return first == nullptr ? std::string() : first->name;
  }

  Cause diagnose() {
    std::vector<std::string> found(workers_.size());
    mpi::together(group_, [&] {
      team_.run([&](int i) {
        const auto index = static_cast<std::size_t>(i);
        found[index] = workers_[index]->first_non_finite(input_, share_of(micro_batches_, i, team_.size()));
      });
    });
    const auto it =
        std::find_if(found.begin(), found.end(), [](const std::string& name) { return !name.empty(); });
    const std::string first = mpi::first_text(
        group_, it == found.end() ? std::string() : fmt::format("{} on rank {}", *it, group_.rank()));
    return first.empty() ? first_bad_term() : Cause{first};
  }

  // Finds the term that an exact sum could not add. All values of the network are finite here, so a term that
  // is too large comes first: what is not finite on other ranks may follow from it.
  Cause first_bad_term() const {
    std::string too_large, not_finite;
    for (const auto& worker : workers_) {
      const std::optional<BadTerm>& bad = worker->bad_term();
      if (!bad) continue;
      if (std::isfinite(bad->value)) {
        too_large = fmt::format("{} ({:.3g} in a micro-batch, at most {:.3g}) on rank {}", bad->name,
                                std::abs(bad->value), bad->limit, group_.rank());
      } else {
        not_finite = fmt::format("{} on rank {}", bad->name, group_.rank());
      }
    }
    too_large = mpi::first_text(group_, too_large);
    if (!too_large.empty()) return {too_large, true};
    not_finite = mpi::first_text(group_, not_finite);
    return {not_finite.empty() ? "the loss itself" : not_finite};
  }

  /// True on the rank that writes the memory which the ranks of a node share.
  bool writes() const { return memory_.node().root(); }

  EngineOptions options_;
  mpi::Communicator group_;
  EngineParts parts_;
  const nn::ParameterLayout& layout_;
  ModelMemory& memory_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::int64_t steps_done_ = 0;

  void start_verification() {
    ensure(exact(), "only exact gradients have the same bits on all ranks");
    if (moments() != nullptr) {
      throw Error(
          "a micro-batch with synchronized batch norms cannot be verified alone: it needs the whole batch",
          "set run.verify_every = 0, or leave synchronized out of the batch norms");
    }
    verification_.emplace(group_, options_.verify_every);
  }

  bool exact() const { return options_.reduction == Reduction::kExact; }
  MomentsExchange* moments() const { return parts_.moments.get(); }

  void compute(int i) {
    const bool drives_exchange = i == 0 && sums_.overlaps();
    workers_[static_cast<std::size_t>(i)]->run(input_, share_of(micro_batches_, i, team_.size()),
                                               shares_micro_batches_ ? parts_.queue.get() : nullptr,
                                               drives_exchange ? progress_ : no_progress_);
  }

  // Checks a parameter, what the optimizer remembers of it, and its average.
  bool finite(const nn::ParameterSlot& slot) const {
    const auto part_is_finite = [&](const StateArray& arena) {
      if (arena.size() < slot.offset + slot.size) return true;  // statistics have no state, for example
      return arena.finite(slot.offset, slot.size);
    };
    for (std::size_t i = 0; i < state_slots_; ++i) {
      if (!part_is_finite(memory_.state(i))) return false;
    }
    return part_is_finite(StateArray(memory_.parameters())) && part_is_finite(StateArray(memory_.average()));
  }

  // Chooses the micro-batch of this step that is verified, if it is due, and tells its worker to keep the
  // digest.
  std::optional<GradientVerification::Check> begin_verification(std::int64_t micro_batches) {
    if (!verification_ || !verification_->due(steps_done_ + 1)) return std::nullopt;
    const GradientVerification::Check check =
        verification_->check_of(steps_done_ + 1, micro_batches, shares_);
    for (const auto& worker : workers_) worker->watch(check.micro_batch * options_.micro_batch);
    return check;
  }

  // The floats of a worker are free here: the update, which writes them, begins after the comparison.
  void verify(const GradientVerification::Check& check) {
    const os::Stopwatch watch;
    std::uint64_t first = 0;
    for (int i = 0; i < team_.size(); ++i) {
      const MicroBatchRange mine = share_of(micro_batches_, i, team_.size());
      if (check.micro_batch >= mine.first && check.micro_batch < mine.first + mine.count) {
        first = workers_[static_cast<std::size_t>(i)]->digest();
      }
    }
    verification_->run(check, first, [&] { return workers_.front()->recompute(input_, check.micro_batch); });
    for (const auto& worker : workers_) worker->watch(-1);
    verification_use_ = {verification_use_.micro_batches + 1, verification_use_.seconds + watch.seconds()};
  }

  // The slowest worker decides how fast this rank is. Unchanged if others computed all micro-batches of this
  // rank.
  double micro_batch_seconds() {
    double slowest = 0;
    for (const auto& worker : workers_) {
      if (worker->micro_batches() > 0)
        slowest = std::max(slowest, worker->seconds() / static_cast<double>(worker->micro_batches()));
    }
    if (slowest > 0) micro_batch_seconds_ = slowest;
    return micro_batch_seconds_;
  }

  void balance() {
    const std::optional<MicroBatchShares> better = parts_.balance->after_step(micro_batch_seconds());
    if (!better) return;
    shares_ = *better;
    compiled_ = false;
    for (const auto& worker : workers_) worker->micro_batches_change();
  }

  // Called after the exchange, so all ranks get the same answer.
  bool any_failed() const {
    const std::size_t place = layout_.gradient_size() + kFailed;
    return exact() ? sums_.fixed()[place] != 0 : sums_.floats()[place] > 0;
  }

  StepResult result_of(std::size_t samples) const {
    std::array<float, kStepMetrics> tail{};
    if (exact()) {
      const std::span<const std::int64_t> fixed = sums_.fixed().subspan(layout_.gradient_size());
      fixed_point_to_float(fixed, tail);
      if (fixed[kBad] != 0) tail[kLoss] = std::numeric_limits<float>::quiet_NaN();
    } else {
      std::ranges::copy(sums_.floats().subspan(layout_.gradient_size()), tail.begin());
    }
    return {static_cast<double>(tail[kLoss]),
            static_cast<double>(tail[kCorrect]) / static_cast<double>(samples)};
  }

  GradientSums& sums_;
  WorkerTeam& team_;  ///< of this rank
  nn::WorkingWeights working_;
  Update update_;
  MicroBatchShares shares_;
  std::size_t state_slots_;
  std::optional<GradientVerification> verification_;
  VerificationUse verification_use_;
  double micro_batch_seconds_ = 0;  ///< of the newest step
  int primitive_threads_ = 1;
  std::function<void(int)> prepare_, compute_;
  std::function<void()> progress_, no_progress_;

  // State of the current step.
  StepInput input_;
  MicroBatchRange micro_batches_;
  bool shares_micro_batches_ = false;
  bool compiled_ = false;  ///< in earlier full steps of these shares
};

StepEngine::StepEngine(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
                       const optim::Optimizer& optimizer, const mpi::Communicator& group) {
  check(options);
  EngineParts parts = make_parts(graph, options, optimizer, group, loader.split().stream != nullptr);
  impl_ = mpi::together(group, [&] {
    return std::make_unique<Impl>(graph, options, loader, optimizer, group, std::move(parts));
  });
}
StepEngine::~StepEngine() = default;

StepEngine::StepResult StepEngine::step(std::uint32_t epoch, std::span<const std::uint32_t> samples,
                                        double learning_rate, std::span<const std::uint32_t> repeats) {
  return impl_->step(epoch, samples, learning_rate, repeats);
}

void StepEngine::skip_step() { impl_->skip_step(); }
std::string StepEngine::first_bad_parameter() { return impl_->first_bad_parameter(); }
VerificationUse StepEngine::take_verification() { return std::exchange(impl_->verification_use_, {}); }
StepEngine::Cause StepEngine::diagnose() { return impl_->diagnose(); }
std::int64_t StepEngine::samples() const {
  std::int64_t samples = 0;
  for (const auto& worker : impl_->workers_) samples += worker->samples();
  return samples;
}

const MicroBatchShares& StepEngine::shares() const { return impl_->shares_; }
const nn::ParameterLayout& StepEngine::layout() const { return impl_->layout_; }
std::span<float> StepEngine::parameters() { return impl_->memory_.parameters(); }
StateArray StepEngine::optimizer_state(std::size_t slot) { return impl_->memory_.state(slot); }
std::span<float> StepEngine::average() { return impl_->memory_.average(); }
void StepEngine::reset_optimizer() { impl_->update_.reset_states(impl_->steps_done_); }
int StepEngine::model_copies() const { return impl_->parts_.sums->nodes(); }
std::size_t StepEngine::exchange_bytes() const { return impl_->parts_.sums->exchange_bytes(); }
const std::string& StepEngine::unshared() const { return impl_->parts_.unshared; }
bool StepEngine::writes() const { return impl_->writes(); }
std::span<const float> StepEngine::result() {
  return average().empty() || steps_done() == 0 ? parameters() : average();
}
std::int64_t StepEngine::steps_done() const { return impl_->steps_done_; }
void StepEngine::set_steps_done(std::int64_t steps) { impl_->steps_done_ = steps; }

// A rank that got fewer micro-batches for its speed may have fewer micro-batches than workers.
nn::Network* StepEngine::plan() {
  for (const auto& worker : impl_->workers_) {
    if (nn::Network* const plan = worker->latest()) return plan;
  }
  return nullptr;
}

std::size_t StepEngine::plan_bytes() const {
  std::size_t bytes = 0;
  for (const auto& worker : impl_->workers_) bytes += worker->plan_bytes();
  return bytes;
}

}  // namespace convoke::engine
