#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// What a rank computes with, and how fast that is clocked. Frequencies in GHz; 0: unknown.
struct Processor {
  std::string host = {};
  std::string instruction_set = {};  ///< that oneDNN uses there
  std::string model = {};
  std::string governor = {},
              driver = {};  ///< of the clock; "" where the system does not say, as in virtual machines
  double largest_ghz = 0;   ///< as the system states it
  double measured_ghz = 0;  ///< of one busy core
};

/// This rank's. `measure`: takes some 10 ms. `system`: where the kernel describes processors.
Processor look_at_processor(bool measure, const std::filesystem::path& system = "/sys/devices/system");

/// Of all ranks, at the root; those but the first of a host do not measure. Collective.
std::vector<Processor> gather_processors(const run::Machine& machine, const mpi::Communicator& world,
                                         bool measure);

/// Ranks that disagree on the instruction set, clocks that are kept low, hosts that are slower than others.
/// Pure.
std::vector<Finding> judge_processors(const std::vector<Processor>& ranks);

}  // namespace convoke::doctor
