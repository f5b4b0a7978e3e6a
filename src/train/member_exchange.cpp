#include "convoke/train/member_exchange.hpp"

#include <algorithm>

#include "convoke/mpi/together.hpp"

namespace convoke::train {

MemberExchange::MemberExchange(std::span<const TrainedMember* const> voters,
                               std::span<const TrainedMember> mine, std::size_t values,
                               const mpi::Communicator& world)
    : voters_(voters), mine_(mine), world_(world), parameters_(values) {}

// Returns the voter with its parameters, or null on ranks that do not have them.
const TrainedMember* MemberExchange::mine(std::size_t voter) const {
  if (voters_[voter]->rank != world_.rank()) return nullptr;
  const auto it = std::ranges::find_if(
      mine_, [&](const TrainedMember& member) { return member.model.index == voters_[voter]->model.index; });
  return it == mine_.end() ? nullptr : &*it;
}

// Pages that are read from a file must not count as memory of this rank afterwards.
void MemberExchange::copy(const TrainedMember& member) {
  std::ranges::copy(member.parameters(), parameters_.begin());
  if (member.stored) member.stored->release();
}

std::span<const float> MemberExchange::receive(std::size_t voter) {
  if (const TrainedMember* const here = mine(voter)) {
    copy(*here);
  } else {
    world_.receive(std::as_writable_bytes(std::span(parameters_)), voters_[voter]->rank,
                   mpi::Tag::kMemberParameters);
  }
  return parameters_;
}

void MemberExchange::bring_to_root(const std::function<void(const Next&)>& work) {
  for (std::size_t voter = 0; voter < voters_.size() && !world_.root(); ++voter) {
    if (const TrainedMember* const here = mine(voter)) {
      copy(*here);
      world_.send(std::as_bytes(std::span(parameters_)), 0, mpi::Tag::kMemberParameters);
    }
  }
  mpi::on_root(world_, [&] {
    std::size_t done = 0;
    const auto next = [&](std::size_t voter) {
      done = voter + 1;
      return receive(voter);
    };
    try {
      work(next);
    } catch (...) {
      while (done < voters_.size()) next(done);  // the others wait until their members are taken
      throw;
    }
  });
}

std::span<const float> MemberExchange::bring_to_all(std::size_t voter) {
  if (const TrainedMember* const here = mine(voter)) copy(*here);
  world_.broadcast(std::as_writable_bytes(std::span(parameters_)), voters_[voter]->rank);
  return parameters_;
}

}  // namespace convoke::train
