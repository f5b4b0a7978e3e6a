#include "convoke/run/stop_calls.hpp"

#include <chrono>
#include <thread>

#include "convoke/os/stop_signals.hpp"

namespace convoke::run {

using namespace std::chrono_literals;

StopCalls::StopCalls(const mpi::Communicator& world, const mpi::Communicator& group)
    : world_(world.split(0, world.rank())), first_(group.root()) {
  std::vector<std::int64_t> is_first(static_cast<std::size_t>(world.size()), 0);
  is_first[static_cast<std::size_t>(world.rank())] = first_ ? 1 : 0;
  world.sum(std::span(is_first));
  for (int rank = 0; rank < world.size(); ++rank) {
    if (is_first[static_cast<std::size_t>(rank)] != 0 && rank != world.rank()) firsts_.push_back(rank);
  }
}

// A caller calls all ranks, so a rank that has received a call need not call.
void StopCalls::call(StopReason reason) {
  if (called_ != 0 || heard()) return;
  called_ = reason.number();
  for (const int rank : firsts_) {
    sent_.push_back(world_.start_send(std::as_bytes(std::span(&called_, 1)), rank, kTag));
  }
}

StopReason StopCalls::heard() {
  if (!first_) return {};
  while (const std::optional<int> from = world_.sender_of(kTag)) {
    world_.receive(std::as_writable_bytes(std::span(&heard_, 1)), *from, kTag);
    ++messages_;
  }
  return StopReason::from(heard_);
}

void StopCalls::wait_for_all() {
  mpi::Request all = world_.start_barrier();
  while (!all.test()) {
    if (const int signal = os::StopSignals::received(); signal != 0) call(StopReason::by_signal(signal));
    std::this_thread::sleep_for(1ms);
  }
  // No rank calls any more, so the number of messages is known.
  std::int64_t callers = called_ != 0 ? 1 : 0;
  const std::int64_t mine = callers;
  world_.sum(std::span(&callers, 1));
  while (first_ && messages_ < callers - mine) heard();
  for (mpi::Request& message : sent_) message.wait();
  sent_.clear();
}

}  // namespace convoke::run
