#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/engine/state_array.hpp"
#include "convoke/engine/update.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/sync/bucket.hpp"

namespace convoke::engine {

enum class Reduction { kFast, kExact };

/// Options that define the computation of a training step. The section [train] of a recipe holds them.
struct StepOptions {
  std::int64_t batch = 64;  ///< global batch; of each member in an ensemble
  std::int64_t micro_batch =
      0;  ///< samples per micro-batch, divides batch; 0 in a recipe: auto_micro_batch()
  Reduction reduction = Reduction::kFast;
  nn::ConvolutionChoice convolution = nn::ConvolutionChoice::kAuto;
  nn::Precision precision = nn::Precision::kFloat32;
  bool low_memory = false;                 ///< nn::PlanOptions::low_memory
  sync::Wire wire = sync::Wire::kFloat32;  ///< between nodes; kExact ignores it
  UpdateOptions update;
};

/// Which ranks share one copy of the model (ModelMemory). The others exchange with them through MPI.
enum class ModelSharing {
  kNone,  ///< each rank has a copy
  kNuma,  ///< those of a NUMA node: each of them counts as a node of the cluster
  kHost,  ///< those of a host
};

/// How a rank executes a training step. A recipe's [run] holds it.
struct ExecutionOptions {
  int threads = 1;  ///< worker threads of this rank, >= 1; 0 in a recipe: its share of the cores
  ModelSharing sharing = ModelSharing::kHost;
  std::size_t bucket_bytes = 0;   ///< 0: chosen by the strategy
  bool balance = false;           ///< micro-batches go to workers that are free, or to ranks by their speed
  std::int64_t verify_every = 0;  ///< steps, see GradientVerification; 0: never; kExact only
};

struct EngineOptions : StepOptions, ExecutionOptions {
  std::uint64_t seed = 0;
  nn::LossPtr loss = nn::default_loss();
  std::int64_t classes = 0;  ///< nn::LossInputs::classes
};

/// A rank among those that share a copy of the model with it, and its workers among those of its host.
struct ModelRanks {
  mpi::Communicator sharing;
  os::WorkerPlace place;
};

/// Returns the ranks of `group` that share a copy of the model with this one. With kNuma this is a pure
/// function of the host's topology, of the cores that its ranks may use and of their numbers of workers
/// (os::numa_node_of_rank): the first rank of a NUMA node owns the copy, which it touches first; the sums of
/// a worker are touched first by this worker. Collective over `group`.
ModelRanks model_ranks(const EngineOptions& options, const mpi::Communicator& group);

/// Returns the micro-batch of `micro_batch = "auto"`: batch / 64, so that up to 64 workers have one, but at
/// least 8 samples, rounded up to a divisor of the batch.
std::int64_t auto_micro_batch(std::int64_t batch);

/// Returns the options with a batch of at most the micro-batches that so many samples of an epoch fill.
EngineOptions for_samples(EngineOptions options, std::int64_t samples);

/// Executes training steps. The micro-batches of a step are distributed over the ranks of a group
/// (MicroBatchShares) and over this rank's worker threads; with kExact or options.balance, workers of a node
/// that are done take micro-batches from others (WorkQueue). Each worker runs neighboring micro-batches
/// together on one thread. Gradients are summed over micro-batches, threads and ranks, and then every node
/// makes the same update. Owns parameters, gradients and optimizer state of one model; the ranks of a node
/// share them (ModelMemory), so the destructor is collective.
class StepEngine {
 public:
  /// Collective over `group`. `loader` provides the samples; `loader` and `optimizer` must outlive the
  /// engine. Throws Error on all ranks if batch is not a multiple of micro-batch, if the ranks have different
  /// parameter layouts, or if one rank fails.
  StepEngine(const nn::Graph& graph, const EngineOptions& options, const data::BatchLoader& loader,
             const optim::Optimizer& optimizer, const mpi::Communicator& group);
  ~StepEngine();

  /// The result of one training step over `samples` (the ids of the whole global batch, at most
  /// options.batch). The step is collective. If one rank throws, all throw its error (mpi::agree), and if a
  /// verification finds a difference, all throw SilentCorruption; the engine cannot be used afterwards.
  struct StepResult {
    /// Mean over the batch, plus penalties. If it is not finite, there was no update, see diagnose().
    double loss = 0;
    double accuracy = 0;  ///< of the forward pass in training, as Keras reports it
  };
  /// `repeats`: see data::EpochPlan.
  StepResult step(std::uint32_t epoch, std::span<const std::uint32_t> samples, double learning_rate,
                  std::span<const std::uint32_t> repeats = {});

  /// Counts a step in which this rank, the only one of its group, has no samples. The parameters stay the
  /// same; their average takes them once more.
  void skip_step();

  /// The cause of a loss that is not finite.
  struct Cause {
    std::string where;       ///< "conv2d_2 on rank 1"
    bool too_large = false;  ///< all values are finite, but one is too large for exact sums
  };
  /// Call it after the step, while its samples still exist. Collective.
  Cause diagnose();

  /// Returns the first parameter, in the order of the network, that is not finite, or whose optimizer state
  /// or average is not: "conv2d_1.weight"; empty if there is none.
  std::string first_bad_parameter();

  /// Returns what was verified since the last call (options.verify_every).
  VerificationUse take_verification();

  /// Returns the number of samples of the last step that this rank computed; other ranks of its node may have
  /// computed some of its share (WorkQueue).
  std::int64_t samples() const;

  /// Returns the shares of the next step. A step may change them if options.balance is set.
  const MicroBatchShares& shares() const;

  const nn::ParameterLayout& layout() const;
  /// Returns the number of copies of the model that the group has.
  int model_copies() const;
  /// Returns why ranks do not share memory although options.sharing says so, at the root of the group; empty
  /// otherwise.
  const std::string& unshared() const;
  /// True on the rank of a node that writes parameters and states; the others see what it wrote after the
  /// next collective operation of the group.
  bool writes() const;
  std::span<float> parameters();                 ///< layout().size() floats, plan layout, statistics included
  StateArray optimizer_state(std::size_t slot);  ///< layout().trainable_size() elements each
  /// Sets the optimizer's state to 0; the optimizer counts its steps from here.
  void reset_optimizer();
  /// Returns the moving average of the parameters, layout().size() floats; empty without options.update.ema.
  /// Valid after the first step.
  std::span<float> average();
  /// Returns the parameters to evaluate and to store: the average if there is one, otherwise parameters().
  std::span<const float> result();
  std::int64_t steps_done() const;
  void set_steps_done(std::int64_t steps);  ///< when resuming

  /// Returns a plan that a worker of this rank ran in the last step, for inspection or timing; null if this
  /// rank had no micro-batch.
  nn::Network* plan();
  std::size_t plan_bytes() const;      ///< activation memory of all workers
  std::size_t exchange_bytes() const;  ///< buffers of this rank for the exchange between nodes

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoke::engine
