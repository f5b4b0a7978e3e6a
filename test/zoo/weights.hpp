#pragma once
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/nn/zoo.hpp"

// What a zoo model is compared on with torchvision and Keras: weights and samples that depend on names alone.

/// Canonical values of the parameter `name` ("conv1.weight"): weights He-normal, such that signals keep their
/// size through a deep network; scales and variances of 0.5..1.5, all others of -0.5..0.5, such that none can
/// be left out. `gain` scales weights: with 1, EfficientNet-B3 and deeper ones blow up the last bit of a
/// float to the size of the output (as torchvision in fp32 beside fp64 does), with 0.8 they do not.
std::vector<float> comparison_weights(const std::string& name, const convoke::Shape& shape, double gain = 1);

/// The model at `size` x `size`, or at its own size for 0.
convoke::nn::Graph comparison_model(const std::string& name, std::int64_t size, std::int64_t classes);
