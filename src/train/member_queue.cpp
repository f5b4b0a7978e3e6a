#include "convoke/train/member_queue.hpp"

#include <chrono>
#include <span>
#include <thread>

#include "convoke/core/timeline.hpp"

namespace convoke::train {

using namespace std::chrono_literals;

MemberQueue::MemberQueue(const Groups& groups, const mpi::Communicator& world)
    : groups_(groups), world_(world.split(0, world.rank())), given_(groups.count) {}

std::optional<std::int64_t> MemberQueue::next() {
  if (groups_.group.root()) last_ = take();
  groups_.group.broadcast(std::as_writable_bytes(std::span(&last_, 1)));
  return last_ < groups_.members ? std::optional(last_) : std::nullopt;
}

std::int64_t MemberQueue::take() {
  if (last_ < 0) return groups_.mine;
  if (!groups_.equal) return last_ + groups_.count;
  return world_.root() ? take_shared() : ask();
}

// Sleeps while rank 0 makes its step.
std::int64_t MemberQueue::ask() {
  std::int64_t member = groups_.mine;
  world_.send(std::as_bytes(std::span(&member, 1)), 0, mpi::Tag::kAskMember);
  const ScopedWait wait("the next member");
  while (!world_.sender_of(mpi::Tag::kMember)) std::this_thread::sleep_for(200us);
  world_.receive(std::as_writable_bytes(std::span(&member, 1)), 0, mpi::Tag::kMember);
  return member;
}

void MemberQueue::serve() {
  if (!world_.root()) return;
  while (const std::optional<int> from = world_.sender_of(mpi::Tag::kAskMember)) {
    std::int64_t member = 0;
    world_.receive(std::as_writable_bytes(std::span(&member, 1)), *from, mpi::Tag::kAskMember);
    member = take_shared();
    world_.send(std::as_bytes(std::span(&member, 1)), *from, mpi::Tag::kMember);
  }
}

}  // namespace convoke::train
