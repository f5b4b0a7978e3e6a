#include "interop/onnx/fold.hpp"

namespace convoke::interop::onnx {
Array array_of(Call& call, std::size_t input) { return Array::of(call.constant(input, "input")); }

Constant counted(Call& call, const Array& array) {
  // a whole number takes as much as eight others: twice two words
  call.import().count_numbers(array.shape.elements() * (array.whole ? 8 : 1));
  return array.constant();
}

void give_array(Call& call, const Array& array) { call.give(counted(call, array)); }

bool fold(Call& call) {
  return fold_elementwise(call) || fold_reduction(call) || fold_made(call) || fold_quantized(call);
}

}  // namespace convoke::interop::onnx
