#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::app {

/// Samples for `convoke bench`, held in memory as a dataset would be: images of random bytes, tokens below
/// the vocabulary of the graph's embeddings, or numbers of 0..1; and labels below the number of its outputs.
class RandomData {
 public:
  /// `count` samples of the graph's input shape, decided by `seed`.
  RandomData(const nn::Graph& graph, std::int64_t count, std::uint64_t seed);

  /// Refers to this object.
  data::BatchLoader loader(std::shared_ptr<const data::Augmenter> augmenter = nullptr) const;

  /// How many samples to work on: whole batches, about 2,048 samples but no more than 32 MiB of them, so that
  /// neither the first step nor the peak memory is that of the data; at least a batch.
  static std::int64_t count_for(const nn::Graph& graph, std::int64_t batch);

 private:
  nn::ValueSpec input_;
  std::vector<std::uint8_t> bytes_;   // (count, H, W, C); one of the three is filled
  std::vector<float> numbers_;        // (count, ...)
  std::vector<std::int32_t> tokens_;  // (count, L)
  std::vector<std::int32_t> labels_;  // (count)
};

/// What a recipe does to pictures of 8 bits; null: nothing.
std::shared_ptr<const data::Augmenter> augmenter_of(const recipe::Recipe& recipe);

}  // namespace convoke::app
