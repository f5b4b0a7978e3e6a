#pragma once
#include <string_view>
#include <vector>

#include "convoke/nn/plan/parameters.hpp"
#include "nn/dnnl.hpp"

namespace convoke::nn {

/// oneDNN's side of a ParameterLayout.
struct ParameterLayout::Descriptors {
  std::vector<Desc> descs;  ///< by slot: dims as the primitive sees them (a dense layer on an image has four)
  std::vector<std::pair<std::size_t, std::string>> keys;  ///< by slot: (node, parameter)

  std::size_t find(std::size_t node, std::string_view parameter) const;
};

}  // namespace convoke::nn
