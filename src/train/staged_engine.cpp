#include "convoke/train/staged_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/run/engine_state.hpp"

namespace convoke::train {

StagedEngine::StagedEngine(const Job& job, const Assignment& assignment, const data::BatchLoader& loader,
                           const mpi::Communicator& group, run::Phases& phases)
    : job_(job),
      assignment_(assignment),
      options_(job.engine_for(assignment.seed)),
      loader_(loader),
      group_(group),
      phases_(phases),
      steps_per_epoch_(
          data::EpochPlan(assignment.training, assignment.seed, 0, job.engine.batch, false).steps()),
      parameters_(engine::canonical_parameters(job.model.graph)),
      graph_(job.model.graph) {
  make_engine(0);
}

void StagedEngine::make_engine(std::size_t stages) {
  if (engine_) exposed_seconds_ += engine_->exposed_seconds();
  engine_.reset();  // frees its memory for the next engine
  const std::span<const Stage> begun = std::span(job_.stages).first(stages);
  stages_begun_ = stages;
  learning_rate_ = learning_rate_after(begun, job_.learning_rate);
  graph_ = unfrozen_by(begun, job_.model.graph, steps_per_epoch_);
  if (features_ != nullptr) graph_ = nn::suffix_of(graph_, features_->last_node());
  engine_ = std::make_unique<engine::LaneEngine>(
      graph_, options_, features_ != nullptr ? features_->loader() : loader_, *job_.optimizer, group_);
}

bool StagedEngine::begin_epoch(std::int64_t epochs_done) {
  const std::size_t stages = stages_begun(job_.stages, epochs_done);
  const bool begins = stages != stages_begun_;
  const bool cached =
      job_.cache_features > 0 &&
      prefix_is_frozen(unfrozen_by(std::span(job_.stages).first(stages), job_.model.graph, 0));
  if (begins || cached != (features_ != nullptr)) {
    run::CheckpointState state;
    state.updates = engine_->steps_done();
    mpi::together(group_, [&] { capture(state); });
    if (!cached) {
      engine_.reset();  // it reads the features
      own_.reset();
      features_ = nullptr;
    } else if (features_ == nullptr) {
      open_features(state.parameters);
    }
    make_engine(stages);
    run::restore(state, job_.optimizer->state_slots(), parameters_, *engine_);
  }
  if (features_ != nullptr) {
    mpi::together(group_, [&] { features_->turn_to(epochs_done); });  // the group may span several nodes
  }
  return begins;
}

// True as long as the job's own graph freezes the prefix: a stage may unfreeze it, which ends the cache.
bool StagedEngine::prefix_is_frozen(const nn::Graph& graph) const {
  return nn::frozen_prefix(graph) >= nn::frozen_prefix(job_.model.graph);
}

void StagedEngine::open_features(const std::vector<float>& parameters) {
  features_ = assignment_.features;
  if (features_ == nullptr) {
    const mpi::Communicator node = group_.split_node();
    own_ = mpi::together(group_, [&] {
      return std::make_unique<FeatureCache>(job_, loader_, parameters, node, assignment_.feature_file,
                                            phases_);
    });
    features_ = own_.get();
  } else if (!std::equal(features_->parameters().begin(), features_->parameters().end(),
                         parameters.begin())) {
    throw Error(fmt::format("the frozen weights of member {}'s checkpoint differ from model.weights",
                            assignment_.member),
                "use the weights that the run started with, or set model.cache_features to 0");
  }
}

void StagedEngine::start_from(const run::InitialWeights& weights) {
  mpi::together(group_, [&] { run::apply(weights, parameters_, *engine_); });
}

engine::LaneEngine::StepResult StagedEngine::step(std::uint32_t epoch, std::span<const std::uint32_t> samples,
                                                  double learning_rate,
                                                  std::span<const std::uint32_t> repeats) {
  if (features_ != nullptr && group_.root()) {
    phases_.features.read += static_cast<std::int64_t>(samples.size());
  }
  return engine_->step(epoch, samples, learning_rate, repeats);
}

std::vector<float> StagedEngine::result() {
  return mpi::together(
      group_, [&] { return whole(engine::unpack(parameters_, engine_->layout(), engine_->result())); });
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
  run::capture(*engine_, job_.optimizer->state_slots(), parameters_, state);
  state.parameters = whole(std::move(state.parameters));
  state.average = whole(std::move(state.average));
}

// A checkpoint between two epochs is restored in the stage of the next epoch, which begin_epoch() would have
// entered.
void StagedEngine::restore(run::CheckpointState& state) {
  const std::size_t stages = stages_begun(job_.stages, state.epochs_done);
  if (stages != stages_begun_) make_engine(stages);
  run::restore(state, job_.optimizer->state_slots(), parameters_, *engine_);
}

}  // namespace convoke::train
