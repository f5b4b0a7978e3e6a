#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "convoke/nn/plan/parameters.hpp"
#include "nn/dnnl.hpp"
#include "nn/plan/weight_form.hpp"

namespace convoke::nn {

/// oneDNN's memory descriptors of a ParameterLayout.
struct ParameterLayout::Descriptors {
  std::vector<Desc> descs;  ///< by slot: dims as in the primitive (a dense layer on an image has four)
  std::vector<std::pair<std::size_t, std::string>> keys;  ///< by slot: (node, parameter)

  std::size_t find(std::size_t node, std::string_view parameter) const;

  /// A copy of a parameter in another form.
  struct Working {
    std::size_t slot;
    WeightForm form;
    std::size_t offset;  ///< in bytes, a multiple of 64
  };
  std::vector<Working> working;
  std::size_t working_bytes = 0;
  /// Returns the offset of the copy of `slot` in that form, if there is one.
  std::optional<std::size_t> find_working(std::size_t slot, const WeightForm& form) const;
};

}  // namespace convoke::nn
