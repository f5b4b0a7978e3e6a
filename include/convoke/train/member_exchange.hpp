#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/train/ensemble.hpp"

namespace convoke::train {

/// Brings the parameters of members from the ranks that trained them to others, one model at a time, so that
/// no rank needs memory for all members.
class MemberExchange {
 public:
  /// `voters`: the members to bring, in order, as list_members() returns them; `mine`: the members of this
  /// rank. Both must outlive the exchange. `values`: the number of canonical parameters of a member.
  MemberExchange(std::span<const TrainedMember* const> voters, std::span<const TrainedMember> mine,
                 std::size_t values, const mpi::Communicator& world);

  /// Returns the parameters of a voter, valid until the next call.
  using Next = std::function<std::span<const float>(std::size_t voter)>;

  /// Calls `work` on rank 0, which asks for each voter once, in order. Collective; all ranks throw the error
  /// of `work`.
  void bring_to_root(const std::function<void(const Next&)>& work);

  /// Returns the parameters of a voter on all ranks, valid until the next call. Collective.
  std::span<const float> bring_to_all(std::size_t voter);

 private:
  const TrainedMember* mine(std::size_t voter) const;
  void copy(const TrainedMember& member);
  std::span<const float> receive(std::size_t voter);

  std::span<const TrainedMember* const> voters_;
  std::span<const TrainedMember> mine_;
  const mpi::Communicator& world_;
  std::vector<float> parameters_;  ///< of one member
};

}  // namespace convoke::train
