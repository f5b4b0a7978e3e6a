#include "interop/onnx/fold.hpp"

#include "interop/onnx/folding.hpp"

namespace convoke::interop::onnx {
Array array_of(Call& call, std::size_t input) { return Array::of(call.constant(input, "input")); }

void give_array(Call& call, const Array& array, std::size_t output) {
  // a whole number takes as much as eight others: twice two words
  call.import().count_numbers(array.shape.elements() * (array.whole ? 8 : 1));
  call.give(array.constant(), output);
}

bool fold(Call& call) {
  return fold_shape(call) || fold_elementwise(call) || fold_reduction(call) || fold_parts(call) ||
         fold_made(call) || fold_quantized(call);
}

}  // namespace convoke::interop::onnx
