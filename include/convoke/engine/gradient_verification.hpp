#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/engine/shares.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::engine {

/// Two ranks computed other bits for the same samples. Names the ranks and their hosts; the same on all ranks
/// of the group.
struct SilentCorruption : mpi::GroupError {
  using GroupError::GroupError;
};

/// The exit code of a job that ends because of SilentCorruption.
inline constexpr int kExitCorrupted = 88;

/// Returns 64 bits that depend on all bits of `values`: their CRC-32 and CRC-32C.
std::uint64_t digest_of(std::span<const float> values);

/// How much was verified, and what it cost.
struct VerificationUse {
  std::int64_t micro_batches = 0;  ///< that were computed again
  double seconds = 0;              ///< of this rank
};

/// Verifies gradients: every so many steps one micro-batch of the step is computed again by another
/// rank. With exact sums both must have the same bits; a difference is the fault of a processor or of memory.
/// If they differ, all ranks compute the micro-batch, and the majority tells which ranks are wrong. The
/// micro-batches and pairs of ranks alternate, so that all come in turn. A group of one rank verifies itself.
class GradientVerification {
 public:
  /// `every`: steps, at least 1. `group` must outlive it.
  GradientVerification(const mpi::Communicator& group, std::int64_t every) : group_(group), every_(every) {}

  /// Which micro-batch of a step is verified, and by whom.
  struct Check {
    std::int64_t step = 0;  ///< from 1
    std::int64_t micro_batch = 0;
    int owner = 0;    ///< the rank whose result is in the sums
    int checker = 0;  ///< the rank that computes it again
  };
  /// True if step `step` (from 1) is verified.
  bool due(std::int64_t step) const { return step % every_ == 0; }
  /// Returns the check of a step that is due, which has `micro_batches` micro-batches. The same on all ranks.
  Check check_of(std::int64_t step, std::int64_t micro_batches, const MicroBatchShares& shares) const;

  /// Compares the results, as digests: `first` on the owner, and `again` on the checker, which may be called
  /// several times. Collective. Throws SilentCorruption on all ranks; and if `again` throws on one rank, its
  /// error on all (mpi::agree).
  void run(const Check& check, std::uint64_t first, const std::function<std::uint64_t()>& again);

 private:
  [[noreturn]] void blame(const Check& check, std::uint64_t first, std::uint64_t second,
                          const std::function<std::uint64_t()>& again) const;

  const mpi::Communicator& group_;
  std::int64_t every_;
  std::int64_t good_ = 0;  ///< the newest step without a difference; 0: none
};

/// Returns the ranks that are wrong: those with a result that differs from that of the majority. `results`:
/// of each rank, at least one. Empty if no result has a majority.
std::vector<int> wrong_ranks(std::span<const std::vector<std::uint64_t>> results);

}  // namespace convoke::engine
