#include "convoke/doctor/launcher.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/mpi/launcher.hpp"
#include "convoke/mpi/session.hpp"

namespace convoke::doctor {

std::vector<Finding> judge_launcher(const run::Machine& machine) {
  if (std::string warning = mpi::launcher_warning(machine.ranks); !warning.empty()) {
    return {{.severity = Severity::kError,
             .subject = "launcher",
             .evidence = std::move(warning),
             .remedy = fmt::format("use the mpirun of {} (see mpirun --version), or srun --mpi=pmix",
                                   mpi::Session::library_version())}};
  }
  return {{
      .severity = Severity::kOk,
      .subject = "launcher",
      .evidence = fmt::format("{} in one MPI world on {}, {}", counted(machine.ranks, "rank"),
                              counted(machine.nodes, "host"), mpi::Session::library_version()),
  }};
}

}  // namespace convoke::doctor
