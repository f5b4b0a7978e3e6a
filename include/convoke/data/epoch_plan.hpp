#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convoke/core/table.hpp"
#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// How an ensemble's members share the training samples.
enum class Sharding { kContiguous, kStratified, kBootstrap, kFull };

inline constexpr std::array kShardings{Named<Sharding>{"contiguous", Sharding::kContiguous},
                                       Named<Sharding>{"stratified", Sharding::kStratified},
                                       Named<Sharding>{"bootstrap", Sharding::kBootstrap},
                                       Named<Sharding>{"full", Sharding::kFull}};

/// The sample ids of a member; no sample is in both parts.
struct Holdout {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
};

/// Returns the samples of member `member` of `members`. Contiguous: N / members each, and the last member
/// gets the rest (as in the seed paper). Stratified: every class is spread evenly. Full: all samples. The
/// last `validation` of these n ids are held out, as Keras's validation_split: the first int(n * (1 -
/// validation)) train. Bootstrap, with n = N / members: as many samples are held out, at random, the same for
/// all members; int(n * (1 - validation)) samples to train are drawn with replacement from all others, keyed
/// by (seed, member). A pure function. Throws Error if a member would have no sample to train.
/// `groups` (Split::groups), unless empty: no group is divided. The seed then decides which groups a member
/// gets and which are held out (deal_groups), so sizes are only about those above; Bootstrap draws groups.
Holdout shard(std::span<const std::int32_t> labels, Sharding sharding, std::int64_t member,
              std::int64_t members, std::uint64_t seed, double validation = 0,
              std::span<const std::int32_t> groups = {});

/// Returns a share of the ids, 0 < fraction <= 1, in their order: those at the first floor(n * fraction)
/// places of a shuffle keyed by the seed. Fractions are nested: a larger one contains a smaller one. A pure
/// function of its arguments. Throws Error if no id is left.
std::vector<std::uint32_t> fraction_of(std::vector<std::uint32_t> ids, double fraction, std::uint64_t seed);

/// Throws the Error of shard(), or of fraction_of() for its samples to train, for any of the members, in
/// about the time of one of them.
void require_shards(std::span<const std::int32_t> labels, Sharding sharding, std::int64_t members,
                    std::uint64_t seed, double validation, double fraction,
                    std::span<const std::int32_t> groups);

/// The samples of an epoch: all samples, each once, or equally many of each class (balanced_epoch).
enum class Sampling { kAll, kBalanced };

/// The shuffle of an epoch's samples: sample by sample, or by chunks of neighbors first and then among the
/// samples of several chunks, so that files can be read in large pieces.
struct Shuffle {
  Shuffle(bool shuffle = true) : on(shuffle) {}  // NOLINT: a conversion
  /// Makes chunks of about `chunk_bytes`; a window has as many chunks as fit into `window_bytes`.
  static Shuffle chunks(std::int64_t sample_bytes, std::int64_t window_bytes,
                        std::int64_t chunk_bytes = 1 << 20);

  bool on;
  std::int64_t chunk = 0;   ///< samples; 0: sample by sample
  std::int64_t window = 0;  ///< samples, a multiple of `chunk`
};

/// The order of an epoch: `ids`, shuffled with numbers keyed by (seed, epoch) or in the given order, cut into
/// steps of `batch`; the last step may be smaller. A pure function of its arguments, the same on all ranks.
class EpochPlan {
 public:
  EpochPlan(std::span<const std::uint32_t> ids, std::uint64_t seed, std::uint32_t epoch, std::int64_t batch,
            Shuffle shuffle = {});

  /// A balanced and shuffled epoch. `labels`: of all samples that ids index.
  static EpochPlan balanced(std::span<const std::uint32_t> ids, std::span<const std::int32_t> labels,
                            std::uint64_t seed, std::uint32_t epoch, std::int64_t batch);

  /// Sorts the samples of each step by length, so that those of a micro-batch are about as long. The
  /// micro-batches stay mixed: any half, quarter, ... of a step has short and long ones, for the ranks that
  /// compute it. `lengths`: of all samples that ids index.
  void bucket_by_length(std::span<const std::int32_t> lengths, std::int64_t micro_batch);

  std::int64_t steps() const;
  std::int64_t batch() const { return batch_; }
  std::int64_t window() const { return window_; }  ///< of the shuffle; 0: none
  /// The ids of all steps, one step after the other.
  std::span<const std::uint32_t> order() const { return order_; }
  /// The ids of step `step`: `batch` of them, or the rest.
  std::span<const std::uint32_t> step(std::int64_t step) const;
  /// How often the epoch has used each of them before; empty if it uses none twice.
  std::span<const std::uint32_t> repeats(std::int64_t step) const;

 private:
  void count_repeats();

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> repeats_;
  std::int64_t batch_;
  std::int64_t window_;
};

/// Returns the weight of a sample of each class that makes all classes count equally: n / (K n_k), as
/// scikit-learn's class_weight="balanced", for n samples of K classes, n_k of class k. Throws Error, naming
/// the class, if a class has no sample.
std::vector<double> balanced_class_weights(std::span<const std::int32_t> labels, std::int64_t classes);

/// Returns an epoch in which every class has as many places, ids.size() / K, where K is the number of classes
/// that occur; the classes take turns in using the places that remain. The samples of a class fill its places
/// in an order keyed by (seed, class), and are shuffled again after each has had its turn. The next epoch
/// continues there, so all samples of a large class are used too. `labels`: of all samples that ids index.
/// Sorted by class. A pure function of its arguments.
std::vector<std::uint32_t> balanced_epoch(std::span<const std::uint32_t> ids,
                                          std::span<const std::int32_t> labels, std::uint64_t seed,
                                          std::uint32_t epoch);

}  // namespace convoke::data
