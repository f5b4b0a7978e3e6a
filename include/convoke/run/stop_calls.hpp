#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/stop_reason.hpp"

namespace convoke::run {

/// Lets all groups of a job stop when one of them is to. Groups meet in no collective while they train, so a
/// rank calls the others: it sends a message to the first rank of each group, which looks for one whenever
/// its group agrees (StopAgreement).
class StopCalls {
 public:
  /// `world`: all ranks; `group`: those that train together with this one. Collective over `world`.
  StopCalls(const mpi::Communicator& world, const mpi::Communicator& group);

  /// Calls all groups, unless somebody has done so before, as far as this rank knows.
  void call(StopReason reason);

  /// What this rank was called for; on ranks that are not the first of a group: nothing.
  StopReason heard();

  /// For a rank that trains no more: returns when all do so, and asleep until then. A signal that comes
  /// meanwhile is passed on to those that still train. No message is under way any more afterwards.
  /// Collective over `world`.
  void wait_for_all();

 private:
  static constexpr int kTag = 1;

  mpi::Communicator world_;    // for these messages alone
  bool first_;                 // in its group
  std::vector<int> firsts_;    // of all groups but for this rank, in `world`
  std::int64_t called_ = 0;    // what for, as a number; 0: this rank has not called
  std::int64_t heard_ = 0;     // likewise
  std::int64_t messages_ = 0;  // that were received
  std::vector<mpi::Request> sent_;
};

}  // namespace convoke::run
