#include "studies/bench.hpp"

#include <fmt/format.h>

#include <numeric>

namespace convoke::app {

std::string samples_of(const nn::Graph& graph) {
  const nn::ValueSpec input(graph.input_shape());
  if (input.rank() == 3) return "images";
  return input.type == nn::ValueType::kToken || input.rank() == 2 ? "sequences" : "samples";
}

std::string figures(double rate) { return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : rate < 100 ? 1 : 0); }

Bound bound_of(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
               std::int64_t samples) {
  Bound bound;
  double total = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].product()) continue;
    total += seconds[i];
    bound.flops_per_image += steps[i].flops / static_cast<double>(samples);
  }
  if (total > 0) bound.images_per_second = static_cast<double>(samples) / total;
  return bound;
}

void print_profile(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
                   std::int64_t samples) {
  fmt::print("{:<16} {:<28} {:<30} {:>9} {:>9}\n", "node", "step", "implementation", "us/image", "GFLOP/s");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double micros = seconds[i] * 1e6 / static_cast<double>(samples);
    const std::string rate =
        steps[i].product() ? fmt::format("{:9.1f}", steps[i].flops / seconds[i] / 1e9) : "";
    fmt::print("{:<16} {:<28} {:<30} {:>9.2f} {:>9}\n", steps[i].node, steps[i].what, steps[i].implementation,
               micros, rate);
  }
  fmt::print("{:<76} {:>9.2f}\n\n", "sum of the steps, each timed alone on one worker",
             std::accumulate(seconds.begin(), seconds.end(), 0.0) * 1e6 / static_cast<double>(samples));
}

}  // namespace convoke::app
