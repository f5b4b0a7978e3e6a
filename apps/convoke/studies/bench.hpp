#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::app {

/// Random samples for `convoke bench`, in memory like a dataset: images of bytes, tokens below the vocabulary
/// of the graph's embeddings, or numbers in 0..1; and labels below the number of outputs.
class RandomData {
 public:
  /// `count` samples of the graph's input shape, decided by `seed`.
  RandomData(const nn::Graph& graph, std::int64_t count, std::uint64_t seed);

  /// Refers to this object.
  data::BatchLoader loader(std::shared_ptr<const data::Augmenter> augmenter = nullptr) const;

  /// The number of samples to work on: whole batches, at least one, of about 2,048 samples but at most 32
  /// MiB, so that the data do not decide the time of the first step or the peak memory.
  static std::int64_t count_for(const nn::Graph& graph, std::int64_t batch);

 private:
  nn::ValueSpec input_;
  std::vector<std::uint8_t> bytes_;   // (count, H, W, C); one of the three is filled
  std::vector<float> numbers_;        // (count, ...)
  std::vector<std::int32_t> tokens_;  // (count, L)
  std::vector<std::int32_t> labels_;  // (count)
};

/// The augmentation of a recipe for 8-bit pictures; null: none.
std::shared_ptr<const data::Augmenter> augmenter_of(const recipe::Recipe& recipe);

/// Options of `convoke bench`.
struct BenchOptions : RecipeOptions {
  double seconds = 1;
  int rounds = 3;
  int beside = 0;  ///< programs that keep cores busy in every other round
  bool json = false;
  bool profile = false;
  std::string trace;                         ///< file for a trace of the steps; empty: none
  bool data = false;                         ///< time only the preparation of samples
  bool inference = false;                    ///< time prediction
  std::vector<std::int64_t> batches{1, 32};  ///< samples of a prediction
};

/// Measures how many random samples of the recipe's shape all ranks and threads convert, normalize and
/// augment in a second, without a network. Prints the rate, and returns the exit code.
int bench_data(const BenchOptions& options);

/// Measures the latency and the rate of predictions for random samples, on every rank with all its threads.
/// Prints both for each of options.batches, and returns the exit code.
int bench_inference(const BenchOptions& options);

// The speed of a plan's steps, each alone, as `convoke bench` prints it.

/// The samples of a network, in the plural: "images", "sequences", or "samples" of a table.
std::string samples_of(const nn::Graph& graph);

/// "3.41", "41.3", "8031": large networks process few images per second.
std::string figures(double rate);

/// The speed of a plan if only its convolutions and products took time.
struct Bound {
  double images_per_second = 0;  ///< of one worker
  double flops_per_image = 0;
};

/// `seconds`: of each step (Network::time_steps). `samples`: of the plan.
Bound bound_of(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
               std::int64_t samples);

/// Prints the time of each step.
void print_profile(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
                   std::int64_t samples);

}  // namespace convoke::app
