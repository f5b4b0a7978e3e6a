#include "cluster/start.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "convoke/doctor/binding.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::app {
namespace {

const os::Stopwatch kSinceStart;  // runs from static initialization, just before main

}  // namespace

double seconds_since_start() { return kSinceStart.seconds(); }

run::Machine bound_machine(const mpi::Communicator& world, int threads) {
  doctor::Binding binding = doctor::fix_binding(world, threads);
  if (world.root() && !binding.fixed.empty()) fmt::print(stderr, "{}\n", binding.fixed);
  return std::move(binding.machine);
}

}  // namespace convoke::app
