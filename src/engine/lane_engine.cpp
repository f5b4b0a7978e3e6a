#include "convoke/engine/lane_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/engine/lane_worker.hpp"
#include "convoke/engine/moments_exchange.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/working_weights.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

template <class T>
[[gnu::always_inline]] inline void add_into_body(const T* values, T* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += values[i];
}
CONVOKE_MULTIVERSION
void add_into(const float* values, float* sum, std::size_t n) { add_into_body(values, sum, n); }
CONVOKE_MULTIVERSION
void add_into(const std::int64_t* values, std::int64_t* sum, std::size_t n) { add_into_body(values, sum, n); }

void check(const EngineOptions& options) {
  if (options.batch < 1 || options.lane < 1 || options.batch % options.lane != 0) {
    throw Error(fmt::format("a batch of {} samples is not a multiple of a lane (micro-batch) of {}",
                            options.batch, options.lane),
                "choose a lane that divides the batch, or lane = \"auto\"");
  }
}

void check_layouts_agree(const nn::ParameterLayout& layout, const mpi::Communicator& group) {
  // Two halves of the hash, because a double holds 32 bits exactly.
  const std::array<double, 2> mine{static_cast<double>(layout.hash() >> 32),
                                   static_cast<double>(layout.hash() & 0xFFFFFFFF)};
  std::array<double, 2> least = mine;
  std::array<double, 2> most = mine;
  group.min(least);
  group.max(most);
  if (least == most) return;
  throw Error(
      "the ranks have different parameter layouts, because their processors have different instruction sets",
      "set ONEDNN_MAX_CPU_ISA on all ranks to the smallest of these sets, for example AVX2");
}

}  // namespace

std::int64_t auto_lane(std::int64_t batch) {
  std::int64_t lane = std::min(batch, std::max<std::int64_t>(8, batch / 16));
  while (batch % lane != 0) ++lane;
  return lane;
}

int worker_count(const EngineOptions& options, int rank, int ranks) {
  const std::int64_t lanes = share_of({0, options.batch / options.lane}, rank, ranks).count;
  return static_cast<int>(std::clamp<std::int64_t>(options.threads, 1, std::max<std::int64_t>(1, lanes)));
}

int primitive_threads(const EngineOptions& options, int workers) {
  // With fewer lanes than cores, the remaining cores work inside the primitives. Exact sums do not allow
  // this, because a kernel's rounding may depend on its threads.
  return options.reduction == Reduction::kExact ? 1 : std::max(1, options.threads / workers);
}

nn::PlanOptions plan_options(const EngineOptions& options) {
  return {.convolution = options.convolution,
          .precision = options.precision,
          .working_weights = true,
          .loss = options.loss.get()};
}

class LaneEngine::Impl {
 public:
  Impl(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
       const optim::Optimizer& optimizer, const mpi::Communicator& group,
       std::shared_ptr<MomentsExchange> moments)
      : options_(options),
        group_(group),
        layout_(make_layout(graph, options)),
        parameters_(nn::initial_parameters(*layout_, options.seed)),
        working_(layout_, parameters_.data()),
        team_(worker_count(options, group.rank(), group.size())),
        moments_(std::move(moments)) {
    const bool exact = options.reduction == Reduction::kExact;
    primitive_threads_ = primitive_threads(options, team_.size());
    workers_.resize(static_cast<std::size_t>(team_.size()));
    team_.run([&](int i) {
      nn::set_primitive_threads(primitive_threads_);
      workers_[static_cast<std::size_t>(i)] = std::make_unique<LaneWorker>(
          graph, layout_, parameters_.data(), working_.data(), loader,
          LaneWorker::Options{exact, plan_options(options_), bytes_together(graph), moments_.get(), i});
    });
    LaneWorker& first = *workers_.front();
    update_ = std::make_unique<Update>(
        *layout_, options.update, optimizer, parameters_.span(),
        Update::Sums{first.floats().first(layout_->gradient_size()),
                     exact ? first.fixed().first(layout_->gradient_size()) : first.fixed()},
        team_);
    strategy_ =
        sync::make_strategy(options.strategy, group_,
                            exact ? sync::Exchange{{}, first.fixed()} : sync::Exchange{first.floats(), {}},
                            {options.bucket_bytes});
    prepare_ = [this](int i) { working_.refresh(i, team_.size()); };
    compute_ = [this](int i) { compute(i); };
    progress_ = [this] { advance(); };
    no_progress_ = [] {};
  }

  StepResult step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                  std::span<const std::uint32_t> repeats) {
    ensure(!samples.empty() && static_cast<std::int64_t>(samples.size()) <= options_.batch,
           "a step has at least one sample and at most a batch");
    nn::set_primitive_threads(primitive_threads_);
    input_ = {options_.seed, epoch, samples, options_.lane, repeats};
    lanes_ = share_of({0, (static_cast<std::int64_t>(samples.size()) + options_.lane - 1) / options_.lane},
                      group_.rank(), group_.size());

    // 1. Forward and backward of this rank's lanes. Complete gradients are sent while the rest is computed.
    if (!working_.empty()) team_.run(prepare_);
    for (const auto& worker : workers_) worker->restart();
    merged_ = 0;
    if (moments_) moments_->begin_step();
    strategy_->begin_step();
    std::exception_ptr failure;
    try {
      team_.run(compute_);
    } catch (...) {
      failure = std::current_exception();
      if (group_.size() == 1) throw;
    }
    // A rank that fails still takes part in the exchange, because the others wait for it.
    for (const auto& worker : workers_) {
      if (worker->complete() < exchange_size()) worker->give_up();
    }

    // 2. Sum over threads and ranks.
    if (group_.size() == 1) {
      team_.run([this](int i) { merge(slice_of(exchange_size(), i, team_.size())); });
    } else {
      spin_until([&] { return advance() == exchange_size(); });
    }
    strategy_->finish_gradients();
    if (any_failed()) mpi::agree(group_, failure);
    exposed_seconds_ += strategy_->exposed_seconds() + (moments_ ? moments_->seconds() : 0);
    StepResult result = tally(samples.size());
    if (!std::isfinite(result.loss)) return result;

    // 3. Make the same update on all ranks.
    result.loss += update_->run(learning_rate, ++steps_done_);
    strategy_->after_step(parameters_.span());
    return result;
  }

  std::string diagnose() {
    std::vector<std::string> found(workers_.size());
    mpi::together(group_, [&] {
      team_.run([&](int i) {
        const auto index = static_cast<std::size_t>(i);
        found[index] = workers_[index]->first_non_finite(input_, share_of(lanes_, i, team_.size()));
      });
    });
    const auto it =
        std::find_if(found.begin(), found.end(), [](const std::string& name) { return !name.empty(); });
    const std::vector<std::string> all = group_.gather(it == found.end() ? std::string() : *it);
    std::string first;
    for (std::size_t rank = 0; rank < all.size() && first.empty(); ++rank) {
      if (!all[rank].empty()) first = fmt::format("{} on rank {}", all[rank], rank);
    }
    if (group_.root() && first.empty())
      first = "the gradients, which are too large for fixed point or not finite";
    return group_.broadcast(std::move(first));
  }

  EngineOptions options_;
  mpi::Communicator group_;
  std::shared_ptr<const nn::ParameterLayout> layout_;
  AlignedBuffer<float> parameters_;
  nn::WorkingWeights working_;
  std::vector<std::unique_ptr<LaneWorker>> workers_;
  std::unique_ptr<Update> update_;
  std::int64_t steps_done_ = 0;
  double exposed_seconds_ = 0;

 private:
  static std::shared_ptr<const nn::ParameterLayout> make_layout(const nn::Graph& graph,
                                                                const EngineOptions& options) {
    nn::single_threaded();
    return std::make_shared<nn::ParameterLayout>(graph, options.lane, options.convolution, options.precision);
  }

  bool exact() const { return options_.reduction == Reduction::kExact; }
  std::size_t exchange_size() const { return layout_->gradient_size() + kTallySize; }

  void compute(int i) {
    // Worker 0 also drives the exchange, if there is one.
    const bool drives_exchange = i == 0 && group_.size() > 1;
    workers_[static_cast<std::size_t>(i)]->run(input_, share_of(lanes_, i, team_.size()),
                                               drives_exchange ? progress_ : no_progress_);
  }

  // Adds the sums of the other workers to those of the first, which are exchanged.
  void merge(Range range) {
    const std::size_t count = range.end - range.begin;
    LaneWorker& into = *workers_.front();
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      if (exact()) {
        add_into(workers_[i]->fixed().data() + range.begin, into.fixed().data() + range.begin, count);
      } else {
        add_into(workers_[i]->floats().data() + range.begin, into.floats().data() + range.begin, count);
      }
    }
  }

  // Merges and passes on the elements that all workers have completed. Returns their number.
  std::size_t advance() {
    std::size_t complete = exchange_size();
    for (const auto& worker : workers_) complete = std::min(complete, worker->complete());
    if (complete > merged_) {
      merge({merged_, complete});
      merged_ = complete;
    }
    strategy_->gradients_ready(merged_);
    return merged_;
  }

  // Called after the exchange, so all ranks get the same answer.
  bool any_failed() {
    LaneWorker& first = *workers_.front();
    const std::size_t place = layout_->gradient_size() + kFailed;
    return exact() ? first.fixed()[place] != 0 : first.floats()[place] > 0;
  }

  StepResult tally(std::size_t samples) {
    LaneWorker& first = *workers_.front();
    std::span<float> tail = first.floats().subspan(layout_->gradient_size());
    if (exact()) {
      const std::span<const std::int64_t> fixed = first.fixed().subspan(layout_->gradient_size());
      fixed_point_to_float(fixed, tail);
      if (fixed[kBad] != 0) tail[kLoss] = std::numeric_limits<float>::quiet_NaN();
    }
    return {static_cast<double>(tail[kLoss]),
            static_cast<double>(tail[kCorrect]) / static_cast<double>(samples)};
  }

  WorkerTeam team_;
  std::shared_ptr<MomentsExchange> moments_;  ///< exchange of synchronised batch norms, if there are any
  int primitive_threads_ = 1;
  std::unique_ptr<sync::Strategy> strategy_;
  std::function<void(int)> prepare_, compute_;
  std::function<void()> progress_, no_progress_;

  // State of the current step.
  StepInput input_;
  LaneRange lanes_;
  std::size_t merged_ = 0;
};

LaneEngine::LaneEngine(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
                       const optim::Optimizer& optimizer, const mpi::Communicator& group) {
  check(options);
  std::shared_ptr<MomentsExchange> moments;
  if (nn::synchronizes(graph)) {
    moments = std::make_shared<MomentsExchange>(group, worker_count(options, group.rank(), group.size()),
                                                options.batch / options.lane,
                                                options.reduction == Reduction::kExact);
  }
  impl_ = mpi::together(
      group, [&] { return std::make_unique<Impl>(graph, options, loader, optimizer, group, moments); });
  check_layouts_agree(*impl_->layout_, group);
}
LaneEngine::~LaneEngine() = default;

LaneEngine::StepResult LaneEngine::step(std::uint32_t epoch, std::span<const std::uint32_t> samples,
                                        double learning_rate, std::span<const std::uint32_t> repeats) {
  return impl_->step(epoch, samples, learning_rate, repeats);
}

std::string LaneEngine::diagnose() { return impl_->diagnose(); }
const nn::ParameterLayout& LaneEngine::layout() const { return *impl_->layout_; }
std::span<float> LaneEngine::parameters() { return impl_->parameters_.span(); }
std::span<float> LaneEngine::optimizer_state(std::size_t slot) { return impl_->update_->state(slot); }
std::span<float> LaneEngine::average() { return impl_->update_->average(); }
std::span<const float> LaneEngine::result() {
  return average().empty() || steps_done() == 0 ? parameters() : average();
}
std::int64_t LaneEngine::steps_done() const { return impl_->steps_done_; }
void LaneEngine::set_steps_done(std::int64_t steps) { impl_->steps_done_ = steps; }
double LaneEngine::exposed_seconds() const { return impl_->exposed_seconds_; }

nn::Network* LaneEngine::plan() { return impl_->workers_.front()->latest(); }

std::size_t LaneEngine::plan_bytes() const {
  std::size_t bytes = 0;
  for (const auto& worker : impl_->workers_) bytes += worker->plan_bytes();
  return bytes;
}

}  // namespace convoke::engine
