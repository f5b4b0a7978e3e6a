#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "interop/onnx/operators.hpp"

// Models quantized in the QDQ form: each tensor goes through QuantizeLinear and DequantizeLinear.
//   q = saturate(round(x / scale) + zero point),  x' = (q - zero point) scale

namespace convoke::interop::onnx {
namespace {

/// The ends of a type of whole numbers, by ONNX's TensorProto.DataType.
struct Range {
  std::int64_t type;
  float low, high;
};
constexpr std::array kRanges{Range{2, 0, 255},        Range{3, -128, 127}, Range{4, 0, 65535},
                             Range{5, -32768, 32767}, Range{21, 0, 15},    Range{22, -8, 7}};

Range range_of(Call& call) {
  constexpr std::int64_t kUnsignedByte = 2;
  std::int64_t type = call.integer("output_dtype", kUnsignedByte);
  if (call.has(2)) type = call.constant(2, "zero point").type;
  const auto range =
      std::find_if(kRanges.begin(), kRanges.end(), [&](const Range& r) { return r.type == type; });
  if (range == kRanges.end()) call.refuse(fmt::format("quantizes to ONNX's type {}", type));
  return *range;
}

/// Scale and zero point of `x`, or along an axis of it.
struct Grid {
  Array scale, zero;
};
Grid grid_of(Call& call, const Shape& x) {
  Grid grid{.scale = Array::of(call.constant(1, "scale")).as_floats(), .zero = {}};
  grid.zero =
      call.has(2) ? Array::of(call.constant(2, "zero point")).as_floats() : Array::zeros(grid.scale.shape);
  if (grid.scale.shape.rank() == 1 && grid.scale.size() > 1) {
    const std::size_t axis = call.axis(call.integer("axis", 1), x.rank());
    const Shape along = with_extent(Shape(std::vector<std::int64_t>(x.rank(), 1)), axis, grid.scale.size());
    if (grid.zero.size() != grid.scale.size()) call.refuse("has not as many zero points as scales");
    grid.scale.shape = grid.zero.shape = along;
  } else if (grid.scale.size() != 1 || grid.zero.size() != 1) {
    call.refuse("has scales for blocks, which Convoke does not read");
  }
  return grid;
}

/// Scale and zero point of values that depend on the sample.
struct Step {
  float scale, zero;
  friend bool operator==(const Step&, const Step&) = default;
};
Step step_of(Call& call) {
  const Constant& scale = call.constant(1, "scale");
  const std::optional<float> one = scale.scalar();
  const std::optional<float> zero = call.has(2) ? call.constant(2, "zero point").scalar() : 0.0F;
  if (!one || !zero || !(*one > 0) || !std::isfinite(*one)) {
    call.refuse("quantizes values that depend on the sample by several scales, or by none above 0");
  }
  return {*one, *zero};
}

/// The QuantizeLinear that gives a value, before nodes that only move or choose numbers; null if there is
/// none.
const NodeProto* quantizer_of(const Source& source, const std::string& value) {
  constexpr std::array<std::string_view, 10> kMoving{"Flatten",   "Gather", "Identity", "MaxPool",
                                                     "Reshape",   "Slice",  "Squeeze",  "Transpose",
                                                     "Unsqueeze", "Expand"};
  const NodeProto* node = source.producer(value);
  if (node == nullptr || node->op == "QuantizeLinear") return node;
  if (std::find(kMoving.begin(), kMoving.end(), node->op) == kMoving.end()) return nullptr;
  return quantizer_of(source, node->inputs.at(0));
}

// Without its rounding a quantization is a bound on both sides. Quantizers rely on it: they leave out a ReLU
// before one that saturates at 0.
void convert_quantize(Call& call) {
  const Step step = step_of(call);
  const Range range = range_of(call);
  const double low = (static_cast<double>(range.low) - step.zero) * step.scale,
               high = (static_cast<double>(range.high) - step.zero) * step.scale;
  View x = call.view(0);
  const nn::Node& before = call.graph().node(x.node);
  const bool positive = before.layer != nullptr && before.layer->type() == "relu";
  if (low == 0 && !positive) {
    x = call.elementwise(x, {{"layer", "relu"}});
  } else if (low != 0) {
    x = computed(call, "maximum", {x, low});
  }
  call.give(computed(call, "minimum", {x, high}));
  call.builder().note(
      "The model is quantized: the rounding of its activations is left out, and their ranges remain.");
}

// The value is still that before the quantization.
void convert_dequantize(Call& call) {
  const Step step = step_of(call);
  const NodeProto* quantizer = quantizer_of(call.import().source, call.node().inputs[0]);
  if (quantizer == nullptr) {  // the input of the model
    if (call.import().source.producer(call.node().inputs[0]) != nullptr) {
      call.refuse("takes whole numbers that no QuantizeLinear gives",
                  "quantize the model in the QDQ form, or export it before it is quantized");
    }
    return call.give(rescaled(call, call.view(0), step.scale, -static_cast<double>(step.zero) * step.scale));
  }
  Call before(call.import(), *quantizer);
  if (step_of(before) != step)
    call.refuse("has another scale or zero point than the QuantizeLinear before it");
  call.give(View(call.view(0)));
}

}  // namespace

bool fold_quantized(Call& call) {
  const bool back = call.node().op == "DequantizeLinear";
  if (!back && call.node().op != "QuantizeLinear") return false;
  const Array x = array_of(call).as_floats();
  const Grid grid = grid_of(call, x.shape);
  if (back) {
    call.builder().note("Quantized weights are converted to float32.");
    give_array(call, combined("Mul", combined("Sub", x, grid.zero), grid.scale));
    return true;
  }
  const Range range = range_of(call);
  Array q = combined("Div", x, grid.scale);
  for (float& number : q.floats) number = std::nearbyint(number);
  q = combined("Add", q, grid.zero);
  for (float& number : q.floats) number = std::clamp(number, range.low, range.high);
  Constant whole = q.as_whole().constant();
  whole.type = range.type;
  call.give(std::move(whole));
  return true;
}

const std::initializer_list<Operator> kQuantizedOperators{
    Operator{"DequantizeLinear", convert_dequantize},
    Operator{"QuantizeLinear", convert_quantize},
};

}  // namespace convoke::interop::onnx
