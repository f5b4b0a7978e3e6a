#pragma once
#include <limits>
#include <span>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// What is known of the numbers of one sample at a node, whatever the network's input: each number and the
/// sum of all of them lie between two bounds.
struct ValueRange {
  double least = -std::numeric_limits<double>::infinity();
  double largest = std::numeric_limits<double>::infinity();
  double least_sum = -std::numeric_limits<double>::infinity();
  double largest_sum = std::numeric_limits<double>::infinity();

  bool within(double low, double high) const { return least >= low && largest <= high; }
  /// True if the numbers are the probabilities of classes of which one is right.
  bool is_distribution() const;
};

/// A node whose range is wanted, with the ranges of its inputs.
struct RangeOfInputs {
  const Graph& graph;
  const Node& node;
  std::span<const ValueRange> inputs;

  std::int64_t values() const { return node.shape.elements(); }
  std::int64_t values_of(std::size_t input) const { return graph.node(node.inputs[input]).shape.elements(); }
};

/// Returns the range of a node's value in prediction. The layer table has one for each layer of which
/// anything is known.
using RangeOf = ValueRange (*)(const RangeOfInputs& at);

ValueRange range_of_same(const RangeOfInputs& at);    ///< the numbers of the input in another order
ValueRange range_of_some(const RangeOfInputs& at);    ///< each is one of the input's, or a mean of some
ValueRange range_of_padded(const RangeOfInputs& at);  ///< the same, or 0, or a mean with zeroes
ValueRange range_of_all_means(
    const RangeOfInputs& at);  ///< means of equally many, which use each number once
ValueRange range_of_softmax(const RangeOfInputs& at);
ValueRange range_of_probability(const RangeOfInputs& at);  ///< from 0 to 1
ValueRange range_of_tanh(const RangeOfInputs& at);
ValueRange range_of_relu(const RangeOfInputs& at);
ValueRange range_of_relu6(const RangeOfInputs& at);
ValueRange range_of_rescale(const RangeOfInputs& at);
ValueRange range_of_sum(const RangeOfInputs& at);
ValueRange range_of_difference(const RangeOfInputs& at);
ValueRange range_of_product(const RangeOfInputs& at);
ValueRange range_of_average(const RangeOfInputs& at);
ValueRange range_of_maximum(const RangeOfInputs& at);
ValueRange range_of_concat(const RangeOfInputs& at);
ValueRange range_of_elementwise(const RangeOfInputs& at);  ///< comparisons, and bounds by a number

/// Returns the range of each node's value.
std::vector<ValueRange> value_ranges(const Graph& graph);

}  // namespace convoke::nn
