#include "convoke/train/staged_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/gradient_sums.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/split.hpp"

namespace convoke::train {

StagedEngine::StagedEngine(const ModelContext& context)
    : context_(context),
      options_(context.job.engine),
      steps_per_epoch_(data::EpochPlan(context.assignment.training, context.assignment.seed, 0,
                                       context.job.engine.batch, false)
                           .steps()),
      parameters_(engine::canonical_parameters(context.job.model.graph)),
      graph_(context.job.model.graph) {
  options_.seed = context.assignment.seed;
  make_engine(0, 0);
}

void StagedEngine::make_engine(std::size_t stages, std::int64_t epoch) {
  replica_.reset();  // frees its memory for the next engine
  const std::span<const Stage> begun = std::span(context_.job.loop.stages).first(stages);
  stages_begun_ = stages;
  used_ = false;
  learning_rate_ = learning_rate_after(begun, context_.job.loop.learning_rate);
  graph_ = unfrozen_by(begun, context_.job.model.graph, steps_per_epoch_);
  if (features_ != nullptr) graph_ = nn::suffix_of(graph_, features_->last_node());
  replica_ = std::make_unique<engine::Replica>(
      graph_, options_, features_ != nullptr ? features_->loader() : context_.loader,
      *context_.job.loop.optimizer, context_.group, *context_.job.loop.strategy, epoch);
  static bool told = false;  // once in a job, for all members
  if (!replica_->engine().unshared().empty() && !std::exchange(told, true)) {
    context_.reports.progress.warn(
        fmt::format("each rank keeps its own copy of the model, and they exchange through MPI: {}",
                    replica_->engine().unshared()));
  }
  const bool by_node = context_.job.engine.sharing == engine::ModelSharing::kNuma && replica_->together();
  // A copy on each host is what run.share_memory = "host" makes.
  const int hosts = by_node ? engine::node_place(context_.group.split_node(), context_.group).nodes : 0;
  if (by_node && !std::exchange(told, true)) {
    const int copies = replica_->engine().model_copies();
    if (copies > hosts) {
      context_.reports.progress.note(fmt::format("{} share {} copies of the model, one for each NUMA node",
                                                 counted(context_.group.size(), "rank"), copies));
    } else if (context_.group.root()) {
      context_.reports.progress.warn(
          "run.share_memory = \"numa\" has no effect: all ranks of a host run in one NUMA node, or there is one rank; "
          "start ranks in each NUMA node (mpirun --map-by ppr:1:numa:PE=N, for N cores in each)");
    }
  }
}

bool StagedEngine::begin_epoch(std::int64_t epochs_done, const FeatureCache::Stop& stop) {
  const std::size_t stages = stages_begun(context_.job.loop.stages, epochs_done);
  const std::size_t cached = mpi::together(context_.group, [&] { return cached_node(context_.job, stages); });
  const bool begins = stages != stages_begun_;
  const bool together = context_.job.loop.strategy->sums_gradients(epochs_done);
  if (begins || cached != cached_ || together != replica_->together()) enter(stages, cached, epochs_done);
  if (begins) {
    context_.reports.progress.note(fmt::format("a new stage begins with epoch {}: {} parameters are trained",
                                               epochs_done + 1, format_count(graph_.trainable_count())));
  }
  return features_ == nullptr || compute_features(epochs_done, stop);
}

void StagedEngine::enter(std::size_t stages, std::size_t cached, std::int64_t epoch) {
  run::CheckpointState state;
  state.updates = replica_->engine().steps_done();
  mpi::together(context_.group, [&] { capture(state); });
  if (cached != cached_) {
    replica_.reset();  // it reads the features
    features_ = nullptr;
    own_.reset();
    if (cached > 0) open_features(cached, state.parameters);
    cached_ = cached;
  }
  make_engine(stages, epoch);
  restore_engine(state);
}

// Later caches are larger than the first. A run that has come so far goes on without one.
void StagedEngine::open_features(std::size_t last, const std::vector<float>& parameters) {
  const auto shared = std::ranges::find_if(context_.assignment.features,
                                           [&](const auto& cache) { return cache->last_node() == last; });
  if (shared != context_.assignment.features.end()) {
    features_ = shared->get();
    if (std::ranges::equal(features_->parameters(),
                           std::span(parameters).first(features_->parameters().size()))) {
      return;
    }
    throw Error(fmt::format("the frozen weights of member {}'s checkpoint differ from model.weights",
                            context_.assignment.member),
                "use the weights that the run started with, or set model.cache_features to 0");
  }
  const mpi::Communicator node = context_.group.split_node();
  try {
    own_ = mpi::together(context_.group, [&] {
      return std::make_unique<FeatureCache>(context_.job, last, context_.loader, cached_views(context_.job),
                                            parameters, node, context_.assignment.feature_file,
                                            context_.phases);
    });
    features_ = own_.get();
  } catch (const Error& error) {
    if (cached_ == 0) throw;
    if (!context_.group.root()) return;
    context_.reports.progress.warn(
        fmt::format("the features of {} are not cached, each epoch computes them: {}",
                    context_.job.model.graph.node(last).name, error.what()));
  }
}

bool StagedEngine::compute_features(std::int64_t epochs_done, const FeatureCache::Stop& stop) {
  if (!features_->has(epochs_done)) {
    const std::int64_t views = cached_views(context_.job);
    context_.reports.progress.note(fmt::format(
        "computing features: {} samples, frozen layers up to {}{}",
        format_count(static_cast<std::int64_t>(features_->count())),
        context_.job.model.graph.node(features_->last_node()).name,
        views > 1 ? fmt::format(", variant {} of {}", epochs_done % views + 1, views) : std::string()));
  }
  bool complete = true;
  mpi::together(context_.group, [&] { complete = features_->select_epoch(epochs_done, stop); });
  return !mpi::any_of(context_.group, !complete);  // the group may span several nodes
}

void StagedEngine::start_from(const run::InitialWeights& weights) {
  mpi::together(context_.group, [&] {
    engine::StepEngine& engine = replica_->engine();
    if (!engine.writes()) return;
    std::vector<float> values = canonical(engine.parameters());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(parameters_[i].offset);
      if (!weights.given[i]) continue;
      std::copy_n(weights.values.begin() + at, parameters_[i].size(), values.begin() + at);
    }
    engine::pack(parameters_, engine.layout(), values, engine.parameters());
  });
}

void StagedEngine::step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                        std::span<const std::uint32_t> repeats) {
  if (features_ != nullptr && context_.group.root()) {
    context_.phases.features.read += static_cast<std::int64_t>(samples.size());
  }
  used_ = true;
  replica_->step(epoch, samples, learning_rate, repeats);
  context_.phases.samples += replica_->samples();
  const engine::VerificationUse use = replica_->engine().take_verification();
  context_.phases.verification.micro_batches += use.micro_batches;
  context_.phases.verification.seconds += use.seconds;
}

std::vector<float> StagedEngine::result() {
  return mpi::together(context_.group, [&] { return whole(canonical(replica_->engine().result())); });
}

template <class Array>
std::vector<float> StagedEngine::canonical(const Array& array) const {
  return engine::unpack(parameters_, replica_->engine().layout(), array);
}

// Returns the parameters with those of the prefix filled in: while cached features replace the prefix, the
// engine has 0 there.
std::vector<float> StagedEngine::whole(std::vector<float> parameters) const {
  if (features_ != nullptr && !parameters.empty()) {
    std::copy(features_->parameters().begin(), features_->parameters().end(), parameters.begin());
  }
  return parameters;
}

void StagedEngine::capture(run::CheckpointState& state) {
  engine::StepEngine& engine = replica_->engine();
  state.parameters = whole(canonical(engine.parameters()));
  state.optimizer.clear();
  for (std::size_t slot = 0; slot < context_.job.loop.optimizer->state_slots(); ++slot) {
    state.optimizer.push_back(canonical(engine.optimizer_state(slot)));
  }
  state.average.clear();
  if (options_.update.ema > 0) state.average = whole(canonical(engine.average()));
  // 0 for frozen layers, also while cached features replace them.
  if (!replica_->change().empty()) state.change = canonical(engine::StateArray(replica_->change()));
}

bool StagedEngine::keeps_states() const {
  return !replica_->together() && context_.job.loop.strategy->state_rule() == sync::StateRule::kKeep &&
         context_.group.size() > 1;
}

std::vector<std::vector<float>> StagedEngine::gather_states() {
  const std::size_t slots = keeps_states() ? context_.job.loop.optimizer->state_slots() : 0;
  std::vector<std::vector<std::vector<std::byte>>> all;  // by slot and rank
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::vector<float> mine = canonical(replica_->engine().optimizer_state(slot));
    all.push_back(context_.group.gather(std::as_bytes(std::span(mine))));
  }
  std::vector<std::vector<float>> others;
  if (!context_.group.root()) return others;
  for (std::size_t rank = 1; slots > 0 && rank < all.front().size(); ++rank) {
    for (const auto& slot : all) {
      std::vector<float>& values = others.emplace_back(slot[rank].size() / sizeof(float));
      std::memcpy(values.data(), slot[rank].data(), slot[rank].size());
    }
  }
  return others;
}

// A checkpoint between two epochs is restored in the stage of the next epoch, which begin_epoch() would have
// entered.
void StagedEngine::restore(run::CheckpointState& state) {
  const std::size_t stages = stages_begun(context_.job.loop.stages, state.epochs_done);
  const bool together = context_.job.loop.strategy->sums_gradients(state.epochs_done);
  if (stages != stages_begun_ || together != replica_->together() || used_) {
    make_engine(stages, state.epochs_done);
  }
  restore_engine(state);
}

void StagedEngine::restart() { make_engine(0, 0); }

void StagedEngine::restore_engine(run::CheckpointState& state) {
  engine::StepEngine& engine = replica_->engine();
  const std::size_t slots = context_.job.loop.optimizer->state_slots();
  // Ranks that share memory wait in mpi::together() for the one that writes.
  const auto fill = [&](const std::vector<float>& values, const auto& array) {
    if (engine.writes()) engine::pack(parameters_, engine.layout(), values, array);
  };
  mpi::together(context_.group, [&] {
    take_own_state(state);
    if (!state.change.empty() && !replica_->change().empty()) {
      engine::pack(parameters_, engine.layout(), state.change, engine::StateArray(replica_->change()));
    }
    if (state.optimizer.size() != slots) {
      throw Error(fmt::format("the checkpoint has {} optimizer state arrays, but the optimizer needs {}",
                              state.optimizer.size(), slots));
    }
    if (state.average.empty() != (options_.update.ema == 0)) {
      throw Error(state.average.empty() ? "the checkpoint has no moving average of the parameters"
                                        : "the checkpoint has a moving average, but train.ema is off");
    }
    engine.set_steps_done(state.updates);
    fill(state.parameters, engine.parameters());
    for (std::size_t slot = 0; slot < slots; ++slot) {
      fill(state.optimizer[slot], engine.optimizer_state(slot));
    }
    if (!state.average.empty()) fill(state.average, engine.average());
    state.parameters = {};
    state.optimizer = {};
    state.average = {};
    state.change = {};
    state.other_optimizers = {};
    if (!replica_->together() && context_.job.loop.strategy->state_rule() == sync::StateRule::kReset)
      engine.reset_optimizer();
  });
}

// Replaces the optimizer state of rank 0 by that of this rank, if the checkpoint has it.
void StagedEngine::take_own_state(run::CheckpointState& state) const {
  const std::size_t slots = context_.job.loop.optimizer->state_slots();
  if (state.other_optimizers.empty() || slots == 0) return;
  const std::size_t ranks = 1 + state.other_optimizers.size() / slots;
  if (ranks != static_cast<std::size_t>(context_.group.size())) {
    throw Error(
        fmt::format("the checkpoint has the optimizer states of {}, but {} train now", counted(ranks, "rank"),
                    context_.group.size()),
        fmt::format("resume with {}, or train with optimizer_state = \"average\"", counted(ranks, "rank")));
  }
  if (context_.group.rank() == 0) return;
  const std::size_t mine = static_cast<std::size_t>(context_.group.rank() - 1) * slots;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    state.optimizer.at(slot) = std::move(state.other_optimizers.at(mine + slot));
  }
  state.other_optimizers.clear();
}

}  // namespace convoke::train
