#pragma once
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/nn/zoo.hpp"

// Weights and samples for comparing zoo models with torchvision and Keras. They depend on names alone.

/// Returns canonical values of the parameter `name` ("conv1.weight"): He-normal weights, so that signals keep
/// their size through a deep network; scales and variances in 0.5..1.5, all others in -0.5..0.5, so that each
/// has an effect. `gain` scales weights. With 1, EfficientNet-B3 and deeper models amplify the last bit of a
/// float to the size of the output (as torchvision in fp32 compared with fp64 does); with 0.8 they do not.
std::vector<float> comparison_weights(const std::string& name, const convoke::Shape& shape, double gain = 1);

/// Returns the model at `size` x `size`, or at its default size for 0.
convoke::nn::Graph comparison_model(const std::string& name, std::int64_t size, std::int64_t classes);
