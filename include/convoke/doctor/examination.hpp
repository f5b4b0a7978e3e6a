#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/doctor/binding.hpp"
#include "convoke/doctor/finding.hpp"
#include "convoke/doctor/plan.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::doctor {

/// What the checks look at; the same on all ranks but for what they find there.
struct Context {
  const mpi::Communicator& world;
  const Binding& binding;
  int threads = 0;             ///< per rank as wanted; 0: auto
  bool quick = false;          ///< leave out what is measured
  std::filesystem::path runs;  ///< folder that runs are written to; it need not exist yet
  const Plan* plan = nullptr;  ///< none: no recipe
};

/// Every check of the table, in its order; the same findings on all ranks. A check that finds nothing says so
/// by an ok. Collective.
std::vector<Finding> examine(const Context& context);

/// As lines for a terminal: severity, subject, evidence, and below it what mends it.
std::string to_text(std::span<const Finding> findings);

/// What a job says before it starts: warnings and errors as `warning: evidence`, `  hint: remedy`; "" if all
/// is well.
std::string short_text(std::span<const Finding> findings);

/// Throws Error with the first finding that is an error, on all ranks, unless `ignore`.
void require_health(std::span<const Finding> findings, bool ignore);

}  // namespace convoke::doctor
