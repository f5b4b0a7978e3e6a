#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nn/plan/step.hpp"
#include "nn/plan/weight_form.hpp"

namespace convoke::nn {

/// The result of compiling the layers of a graph: the steps, and the memory and parameters that they need.
struct CompiledPlan {
  std::vector<Step> forward;
  std::vector<Step> backward;
  std::vector<std::size_t> buffer_bytes;
  std::size_t scratchpad_bytes = 0;       ///< of the memory that steps share
  std::set<std::size_t> recomputed;       ///< buffers that hold no value between forward and backward
  Tensor input;                           ///< plain
  Tensor output;                          ///< plain
  Tensor logits;                          ///< what the loss reads: the output, or the input of a last softmax
  const Loss* loss = nullptr;             ///< computes the gradient with which backward begins
  bool loss_reads_probabilities = false;  ///< `logits` are values of the loss's activation, not its inputs
  Tensor converted;       ///< for the logits that belong to these probabilities, training only
  Tensor loss_gradient;   ///< d loss / d logits, training only
  Tensor input_gradient;  ///< d loss / d input, plain; with options.input_gradient only
  std::map<std::pair<std::size_t, std::string>, Desc> preferred;
  /// In a dry run, the copies that working() was asked for: (node, parameter), form.
  std::vector<std::pair<std::pair<std::size_t, std::string>, WeightForm>> wanted;
};

}  // namespace convoke::nn
