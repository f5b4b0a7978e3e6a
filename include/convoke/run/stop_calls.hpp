#pragma once
#include <cstdint>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/run/stop_reason.hpp"

namespace convoke::run {

/// Stops all groups of a job when one of them stops. Groups share no collective while they train, so a rank
/// sends a message ("call") to the first rank of each group, which checks for messages whenever its group
/// agrees (StopAgreement).
class StopCalls {
 public:
  /// `world`: all ranks; `group`: the ranks that train together with this one. Collective over `world`.
  StopCalls(const mpi::Communicator& world, const mpi::Communicator& group);

  /// Calls all groups, unless this rank knows of an earlier call.
  void call(StopReason reason);

  /// The reason of the calls to this rank; empty on ranks that are not the first of a group.
  StopReason heard();

  /// For a rank that has finished training: sleeps until all ranks have finished. Passes on a signal that
  /// arrives meanwhile to the groups that still train. Afterwards no message is in transit. Collective over
  /// `world`.
  void wait_for_all();

 private:
  static constexpr int kTag = 1;

  mpi::Communicator world_;    // only for these messages
  bool first_;                 // this rank is the first of its group
  std::vector<int> firsts_;    // first ranks of all groups without this rank, in `world`
  std::int64_t called_ = 0;    // the reason as a number; 0: this rank has not called
  std::int64_t heard_ = 0;     // reason of the received calls as a number; 0: none
  std::int64_t messages_ = 0;  // number of received messages
  std::vector<mpi::Request> sent_;
};

}  // namespace convoke::run
