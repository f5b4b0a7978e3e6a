#pragma once
#include <cstddef>
#include <limits>
#include <vector>

#include "convoke/sync/bucket.hpp"
#include "convoke/sync/bucket_sum.hpp"
#include "study/prediction/slice_sum.hpp"

namespace convoke::study {

/// A member's part in a round of a sum: it sends a part of the bucket, receives a part, or both, and adds
/// the part that it has received.
struct Round {
  int number = 0;  ///< the same for the sender and the receiver of a message
  int to = -1, from = -1;
  double share = 1;  ///< of the bucket, in each message
  bool adds = false;
};

/// The rounds of Rabenseifner's algorithm ("Optimization of collective reduction operations", ICCS 2004),
/// which Convoke selects in Open MPI: halving and doubling; members beyond a power of two send all to another
/// one first, and receive the sums last.
std::vector<Round> halving_and_doubling(int member, int members);

/// When the messages of a sum arrive, for all members and rounds.
class Inbox {
 public:
  Inbox(std::size_t members, std::size_t rounds)
      : rounds_(rounds), times_(members * rounds, std::numeric_limits<double>::infinity()) {}
  double& at(int member, int round) {
    return times_[static_cast<std::size_t>(member) * rounds_ + static_cast<std::size_t>(round)];
  }

 private:
  std::size_t rounds_;
  std::vector<double> times_;
};

/// A sum by the MPI library, in simulated time. The library enters the next round only when it is called.
class LibrarySum final : public sync::BucketSum {
 public:
  LibrarySum(SimulatedWorld& world, const PeerGroup& group, std::size_t member,
             const std::vector<Round>& rounds, Inbox& inbox, const sync::Bucket& bucket, int number,
             double add_seconds_per_byte);

  void start() override;
  bool combine(bool wait) override;
  bool finish(bool wait) override;
  /// Makes the progress that any call of the library makes on this sum.
  void progress();

 private:
  void enter();

  SimulatedWorld& world_;
  const PeerGroup& group_;
  std::size_t member_;
  const std::vector<Round>& rounds_;
  Inbox& inbox_;
  int number_;
  double bytes_, add_seconds_per_byte_;
  std::size_t round_ = 0;
  bool started_ = false;
};

}  // namespace convoke::study
