#include "convoke/run/other_programs.hpp"

#include <algorithm>
#include <limits>

#include "convoke/os/processors.hpp"

namespace convoke::run {

double share_of_others(double busy, double used, double cores, double workers, double seconds) {
  const double others = busy - used - std::max(0.0, cores - workers) * seconds;
  return std::clamp(others / (workers * seconds), 0.0, 1.0);
}

OtherPrograms::OtherPrograms(const Machine& machine) {
  const Placement& mine = machine.placements[static_cast<std::size_t>(machine.rank)];
  for (const Sharing& group : sharings(machine.placements, mine.node)) {
    if (group.ranks.front() != machine.rank) continue;
    for (const os::LogicalCpu& cpu : os::online_cpus()) {
      if (std::ranges::binary_search(group.cores, cpu.core)) cpus_.push_back(cpu.cpu);
    }
    cores_ = static_cast<double>(group.cores.size());
  }
  busy_ = busy();
  used_ = os::process_cpu_seconds();
}

double OtherPrograms::busy() const { return cpus_.empty() ? 0 : os::busy_seconds(cpus_); }

double OtherPrograms::share(int workers, const mpi::Communicator& world) const {
  double sums[] = {busy() - busy_, os::process_cpu_seconds() - used_, cores_};
  double seconds[] = {watch_.seconds()};
  world.sum(sums);
  world.max(seconds);
  if (seconds[0] < 1) return std::numeric_limits<double>::quiet_NaN();
  return share_of_others(sums[0], sums[1], sums[2], workers, seconds[0]);
}

}  // namespace convoke::run
