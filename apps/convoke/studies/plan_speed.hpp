#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"

// The speed of a plan's steps, each alone, as `convoke bench` prints it.

namespace convoke::app {

/// The samples of a network, in the plural: "images", "sequences", or "samples" of a table.
std::string samples_of(const nn::Graph& graph);

/// "3.41", "41.3", "8031": large networks process few images per second.
std::string figures(double rate);

/// The speed of a plan if only its convolutions and products took time.
struct Bound {
  double images_per_second = 0;  ///< of one worker
  double flops_per_image = 0;
};

/// `seconds`: of each step (Network::time_steps). `samples`: of the plan.
Bound bound_of(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
               std::int64_t samples);

/// Prints the time of each step.
void print_profile(const std::vector<nn::PlanStep>& steps, const std::vector<double>& seconds,
                   std::int64_t samples);

}  // namespace convoke::app
