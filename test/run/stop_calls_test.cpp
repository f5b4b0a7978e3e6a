#include "convoke/run/stopping.hpp"

#include <csignal>

#include "convoke/os/stop_signals.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

// Groups that stop because another group stops, on 1 to 4 ranks.

using namespace convoke::run;
namespace os = convoke::os;
using convoke::mpi::Communicator;

namespace {

using namespace std::chrono_literals;

// Steps until this rank's group stops; returns whether that happened within half a minute, and why.
StopReason train_until_stopped(const Communicator& group, StopCalls& calls) {
  StopAgreement stop(group, std::nullopt, calls);
  const auto begin = std::chrono::steady_clock::now();
  StopReason reason;
  while (!reason && std::chrono::steady_clock::now() < begin + 30s) reason = stop.after_step();
  return reason;
}

// Sends one signal to `rank`.
void signal_to(int rank, const Communicator& world) {
  world.barrier();
  if (world.rank() == rank) std::raise(SIGUSR1);
}

}  // namespace

TEST_CASE("a signal to any rank stops all groups") {
  const auto signal_stops = [&](int groups, int rank) {
    const Communicator group = world().split(world().rank() * groups / world().size(), 0);
    const os::StopSignals none_yet;
    StopCalls calls(world(), group);
    signal_to(rank, world());
    CHECK(train_until_stopped(group, calls).to_string() == "SIGUSR1");
    calls.wait_for_all();
  };
  signal_stops(2, 0);
  signal_stops(world().size(), world().size() - 1);
}

TEST_CASE("a rank that has finished training passes its signal on") {
  const Communicator group = world().split(world().rank() == 0 ? 0 : 1, 0);
  const os::StopSignals none_yet;
  StopCalls calls(world(), group);
  signal_to(world().size() - 1, world());
  // The group that gets the signal has finished; rank 0 trains alone.
  if (world().root() && world().size() > 1) CHECK(train_until_stopped(group, calls).to_string() == "SIGUSR1");
  calls.wait_for_all();
}

TEST_CASE("simultaneous calls, and calls without a check, are received") {
  const Communicator alone = world().split(world().rank(), 0);
  const os::StopSignals none;
  for (int i = 0; i < 20; ++i) {
    StopCalls calls(world(), alone);
    if (i % 2 == 0 || world().rank() == i % world().size()) calls.call(StopReason::out_of_time());
    calls.wait_for_all();
    // Each rank knows it, also a caller, through rank 0; only rank 0 does not if it is the only caller.
    double called = calls.heard() ? 1 : 0;
    if (called == 1) CHECK(calls.heard().to_string() == "the end of the job's time");
    if (i % 2 != 0) CHECK((called == 1) == (!world().root() || i % world().size() != 0));
    world().sum(std::span(&called, 1));
    CHECK(called >= world().size() - 1);
  }
}
