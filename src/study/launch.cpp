#include "convoke/study/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/run/machine.hpp"
#include "convoke/run/processors.hpp"

namespace convoke::study {

Launch launch_of(std::int64_t ranks, std::int64_t threads, std::int64_t cores, bool bind) {
  Launch launch{.words = {"mpirun", "-n", fmt::format("{}", ranks)}, .oversubscribed = ranks * threads > cores};
  if (launch.oversubscribed) {
    launch.words.insert(launch.words.end(), {"--oversubscribe", "--bind-to", "none"});
  } else if (!bind) {
    launch.words.insert(launch.words.end(), {"--bind-to", "none"});
  } else {
    launch.words.insert(launch.words.end(),
                        {"--map-by", fmt::format("slot:PE={}", threads), "--bind-to", "core"});
  }
  return launch;
}

std::vector<int> cores_here() {
  std::vector<int> cores = run::cores_of(run::allowed_cpus(), run::online_cpus());
  if (const double quota = run::cpu_quota(); quota > 0) {
    const auto granted = static_cast<std::size_t>(std::max(1.0, std::floor(quota)));
    if (granted < cores.size()) cores.resize(granted);
  }
  return cores;
}

}  // namespace convoke::study
