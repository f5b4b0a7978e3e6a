#include "interop/onnx/fold.hpp"

#include "convoke/core/error.hpp"
#include "interop/onnx/folding.hpp"

namespace convoke::interop::onnx {
namespace {

/// (x - zero point) * scale, for all numbers or along an axis
Array dequantized(Call& call) {
  const Array x = Array::of(call.constant(0, "input")).as_floats();
  Array scale = Array::of(call.constant(1, "scale")).as_floats();
  Array zero{.shape = scale.shape, .whole = false, .numbers = {}, .floats = {}};
  zero.floats.assign(scale.floats.size(), 0);
  if (call.has(2)) zero = Array::of(call.constant(2, "zero point")).as_floats();
  if (scale.shape.rank() == 1 && scale.size() > 1) {
    const std::size_t axis = call.axis(call.integer("axis", 1), x.shape.rank());
    const Shape along = with_extent(Shape(std::vector<std::int64_t>(x.shape.rank(), 1)), axis, scale.size());
    if (zero.size() != scale.size()) call.refuse("has not as many zero points as scales");
    scale.shape = zero.shape = along;
  } else if (scale.size() != 1 || zero.size() != 1) {
    call.refuse("has scales for blocks, which Convoke does not read");
  }
  const Array centred = combined("Sub", x, zero);
  return combined("Mul", centred, scale);
}

bool fold_quantized(Call& call) {
  if (call.node().op != "DequantizeLinear") return false;
  call.builder().note("Quantised weights are converted to float32.");
  give_array(call, dequantized(call));
  return true;
}

}  // namespace

Array array_of(Call& call, std::size_t input) { return Array::of(call.constant(input, "input")); }

void give_array(Call& call, const Array& array, std::size_t output) {
  // a whole number takes as much as eight others: twice two words
  call.import().count_numbers(array.shape.elements() * (array.whole ? 8 : 1));
  call.give(array.constant(), output);
}

bool fold(Call& call) {
  try {
    return fold_shape(call) || fold_elementwise(call) || fold_reduction(call) || fold_parts(call) ||
           fold_made(call) || fold_quantized(call);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with("node ")) throw;
    call.refuse(what, error.hint());
  }
}

}  // namespace convoke::interop::onnx
