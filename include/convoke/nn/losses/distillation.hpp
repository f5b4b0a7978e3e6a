#pragma once
#include "convoke/nn/losses/loss.hpp"

namespace convoke::nn {

/// Returns a loss that teaches the soft labels of the inputs, q, with the labels (Hinton, Vinyals and Dean,
/// "Distilling the knowledge in a neural network", 2015):
///
///     (1 - w) base + w T^2 (-sum_k q_k log softmax(z / T)_k)
///
/// T^2 keeps the gradients of both parts comparable. `base`: a loss whose activation is "softmax", which also
/// counts the correct predictions and evaluates. `temperature` T > 0, `weight` w in [0, 1]. Every
/// sample must have soft labels.
LossPtr distilled(LossPtr base, double temperature, double weight);

}  // namespace convoke::nn
