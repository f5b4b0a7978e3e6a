#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// The processor of a rank, and its clock. Frequencies in GHz; 0: unknown.
struct Processor {
  std::string host = {};
  std::string instruction_set = {};  ///< that oneDNN uses
  std::string model = {};
  std::string governor = {}, driver = {};  ///< of the clock; "" if unknown, as in virtual machines
  double largest_ghz = 0;                  ///< as the system states
  double measured_ghz = 0;                 ///< of one busy core
};

/// The processor of this rank. `measure`: takes about 10 ms. `system`: the folder in which the kernel
/// describes processors.
Processor probe_processor(bool measure, const std::filesystem::path& system = "/sys/devices/system");

/// The processors of all ranks, at the root; only the first rank of a host measures. Collective.
std::vector<Processor> gather_processors(const run::Machine& machine, const mpi::Communicator& world,
                                         bool measure);

/// Finds different instruction sets, clocks that are kept low, and hosts that are slower than others. Pure.
std::vector<Finding> check_processors(const std::vector<Processor>& ranks);

}  // namespace convoke::doctor
