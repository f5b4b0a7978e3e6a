#pragma once
#include <vector>

#include "interop/onnx/call.hpp"

// Brings the operands of element-wise operators to one shape, as NumPy.

namespace convoke::interop::onnx {

/// Returns the dimensions to which both are broadcast. Refuses the node if they do not fit.
std::vector<Dim> broadcast(const Call& call, const std::vector<Dim>& a, const std::vector<Dim>& b);
/// Returns the view with axes of extent 1 in front, up to `rank`.
View with_rank(const View& view, std::size_t rank);
/// Returns the view with all axes of extent 1 of `to` repeated.
View repeated(Call& call, const View& view, const std::vector<Dim>& to);
/// Brings views to one shape.
std::vector<View> broadcast_all(Call& call, std::vector<View> views);

/// The elements of a constant that is broadcast to a view, along the axes in which they differ.
struct Spread {
  View view;  ///< has a channel for each element
  Constant constant;
};

Spread spread(Call& call, const View& view, const Constant& constant);

/// Values of one shape over nodes of one shape.
struct Aligned {
  std::vector<std::size_t> nodes;
  View view;  ///< of a node with the same axes
};
Aligned aligned(Call& call, const std::vector<View>& views);

}  // namespace convoke::interop::onnx
