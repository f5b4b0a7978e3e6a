#include "convoke/run/phases.hpp"

#include <fstream>
#include <string>

namespace convoke::run {

Phases Phases::slowest(const mpi::Communicator& world) const {
  // compute() of the slowest rank: not the difference of two maxima, which may be of different ranks.
  double values[] = {load, compute(), exposed_communication, checkpoint, evaluation, gather, first_step};
  world.max(values);
  Phases result = *this;
  result.load = values[0];
  result.steps = values[1] + values[2];
  result.exposed_communication = values[2];
  result.checkpoint = values[3];
  result.evaluation = values[4];
  result.gather = values[5];
  result.first_step = values[6];
  return result;
}

std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    std::uint64_t kib = 0;
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace convoke::run
