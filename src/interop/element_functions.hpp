#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace convoke::interop {

/// How the operands and results of a function differ from those of our elementwise layer.
struct ElementForm {
  bool boolean = false;                           ///< gives booleans
  bool takes_booleans = false;                    ///< takes operands other than 0 for 1
  bool swapped = false;                           ///< its operands have the other order
  std::optional<double> before = {}, after = {};  ///< operands that it does not have
};

/// A function of our elementwise layer under the names that other programs have for it; empty: none. The
/// first entry of a `name` is how it is written; the others are only read.
struct ElementFunction {
  std::string_view name;        ///< of our elementwise layer
  std::string_view onnx;        ///< an operator
  std::string_view keras;       ///< a class of keras.ops
  std::string_view tensorflow;  ///< a function of TensorFlow, behind "tf."
  ElementForm form = {};
};

std::span<const ElementFunction> element_functions();

/// Returns the first entry with this `name` in a column (&ElementFunction::onnx), or null.
inline const ElementFunction* find_element_function(std::string_view ElementFunction::*column,
                                                    std::string_view name) {
  const auto all = element_functions();
  const auto found = std::ranges::find(all, name, column);
  return found == all.end() || name.empty() ? nullptr : &*found;
}

}  // namespace convoke::interop
