#include <cmath>

#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {

// softmax(scale q k^T) v over (N, heads, L, features)
void emit_attention(Emission& e) {
  using Integers = std::vector<std::int64_t>;
  const std::int64_t heads = e.settings.integer("heads");
  const auto split = [&](std::size_t input, const Integers& perm) {
    const Shape& sequence = e.input_shape(input);
    const std::string parts = e.reshape(e.input(input), {sequence[0], heads, sequence[1] / heads});
    return e.op("Transpose", {parts}, {{"perm", perm}});
  };
  const double given = e.settings.number("scale");
  const double scale = given > 0 ? given : 1 / std::sqrt(static_cast<double>(e.input_shape()[1] / heads));
  const std::string query = e.op("Mul", {split(0, {0, 2, 1, 3}), e.scalar(scale)});
  const std::string scores = e.op("MatMul", {query, split(1, {0, 2, 3, 1})});
  const std::string weights = e.op("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const std::string sums = e.op("MatMul", {weights, split(2, {0, 2, 1, 3})});
  e.result_reshaped(e.op("Transpose", {sums}, {{"perm", Integers{0, 2, 1, 3}}}), e.node.shape.extents());
}

}  // namespace convoke::interop::onnx_export
