#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// How an ensemble's members share the training samples.
enum class Sharding { kContiguous, kStratified, kBootstrap, kFull };

struct ShardingEntry {
  std::string_view name;
  Sharding value;
};
inline constexpr std::array kShardings{
    ShardingEntry{"contiguous", Sharding::kContiguous}, ShardingEntry{"stratified", Sharding::kStratified},
    ShardingEntry{"bootstrap", Sharding::kBootstrap}, ShardingEntry{"full", Sharding::kFull}};

/// The sample ids of member `member` of `members`. Contiguous: N / members each, the rest to the last (as the
/// seed paper); stratified: every class spread evenly; bootstrap: N / members drawn with replacement with
/// numbers keyed by (seed, member); full: all. A pure function. Throws Error if a member would have no
/// sample.
std::vector<std::uint32_t> shard(std::span<const std::int32_t> labels, Sharding sharding, std::int64_t member,
                                 std::int64_t members, std::uint64_t seed);

/// Splits off the last `fraction` of the ids for validation, as Keras' validation_split: the first
/// int(n * (1 - fraction)) train. Throws Error if nothing is left to train.
struct Holdout {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
};
Holdout hold_out(std::vector<std::uint32_t> ids, double fraction);

/// A share of the ids, 0 < portion <= 1, in their order: those at the first floor(n * portion) places of a
/// shuffle keyed by the seed. Nested: those of a smaller portion are among those of a larger one. A pure
/// function of its arguments. Throws Error if none is left.
std::vector<std::uint32_t> portion_of(std::vector<std::uint32_t> ids, double portion, std::uint64_t seed);

/// Which samples make an epoch: all, each once, or as many of each class (balanced_epoch).
enum class Sampling { kAll, kBalanced };

/// How the samples of an epoch are shuffled: each by itself, or, so that files can be read in large pieces,
/// chunks of neighbours first and then the samples of several chunks among each other.
struct Shuffle {
  Shuffle(bool shuffle = true) : on(shuffle) {}  // NOLINT: a conversion
  /// Chunks of about `chunk_bytes`, and as many of them to a window as make `window_bytes`.
  static Shuffle chunks(std::int64_t sample_bytes, std::int64_t window_bytes,
                        std::int64_t chunk_bytes = 1 << 20);

  bool on;
  std::int64_t chunk = 0;   ///< samples; 0: each by itself
  std::int64_t window = 0;  ///< samples, a multiple of `chunk`
};

/// The order of an epoch: `ids` shuffled with numbers keyed by (seed, epoch) (or as they are), cut into steps
/// of `batch`; the last may be smaller. A pure function of its arguments, the same on all ranks.
class EpochPlan {
 public:
  EpochPlan(std::span<const std::uint32_t> ids, std::uint64_t seed, std::uint32_t epoch, std::int64_t batch,
            Shuffle shuffle = {});

  /// Balanced and shuffled. `labels`: of all samples that ids count.
  static EpochPlan balanced(std::span<const std::uint32_t> ids, std::span<const std::int32_t> labels,
                            std::uint64_t seed, std::uint32_t epoch, std::int64_t batch);

  std::int64_t steps() const;
  std::int64_t batch() const { return batch_; }
  std::int64_t window() const { return window_; }  ///< of the shuffle; 0: none
  /// All steps, one after the other.
  std::span<const std::uint32_t> order() const { return order_; }
  /// Ids of step `step`: `batch` of them, or what is left.
  std::span<const std::uint32_t> step(std::int64_t step) const;
  /// Of each of them, how often the epoch has had it before; empty if it has none twice.
  std::span<const std::uint32_t> repeats(std::int64_t step) const;

 private:
  void count_repeats();

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> repeats_;
  std::int64_t batch_;
  std::int64_t window_;
};

}  // namespace convoke::data
