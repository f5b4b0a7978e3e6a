#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/doctor/binding.hpp"
#include "convoke/doctor/demand.hpp"
#include "convoke/doctor/finding.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::doctor {

/// The input of the checks; the same on all ranks.
struct Context {
  const mpi::Communicator& world;
  const Binding& binding;
  int threads = 0;                 ///< requested per rank; 0: auto
  bool quick = false;              ///< measure nothing
  std::filesystem::path runs;      ///< the folder for runs; it need not exist yet
  const Demand* demand = nullptr;  ///< null: no recipe
};

/// Runs every check of the table, in its order. All ranks return the same findings; most checks that find no
/// problem return an ok. Collective.
std::vector<Finding> examine(const Context& context);

/// Lines for a terminal: severity, subject and evidence, with the fix below.
std::string to_text(std::span<const Finding> findings);

/// Lines for the start of a job: warnings and errors only, as `warning: evidence` and `  hint: fix`.
std::string short_text(std::span<const Finding> findings);

/// Throws Error with the first finding that is an error, on all ranks, unless `ignore` is set.
void require_health(std::span<const Finding> findings, bool ignore);

}  // namespace convoke::doctor
