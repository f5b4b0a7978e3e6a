#include "study/prediction/simulated_world.hpp"

#include <algorithm>

namespace convoke::study {

double Network::occupy(double& until, double bytes, double earliest) const {
  until = std::max(until, earliest) + bytes / between().bytes_per_second;
  return until;
}

double Network::send(int from, int to, double bytes, double at) {
  if (from == to) return at + within().latency_seconds + bytes / within().bytes_per_second;
  const double latency = between().latency_seconds;
  const double left = leave(from, bytes, at);
  const double first = left - bytes / between().bytes_per_second + latency;
  return std::max(left + latency, arrive(to, bytes, first));
}

void SimulatedWorld::run(const std::function<void(const Wakeup&)>& handle) {
  while (!queue_.empty()) {
    const Wakeup next = queue_.top();
    queue_.pop();
    handle(next);
  }
}

}  // namespace convoke::study
