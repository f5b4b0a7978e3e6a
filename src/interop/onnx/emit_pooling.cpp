#include <algorithm>
#include <array>

#include "interop/onnx/emission.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::onnx_export {
namespace {

using Integers = std::vector<std::int64_t>;

// y = rows x columns for each channel, with (height, H) (H, W) (W, width).
void mean_by_matrices(Emission& e) {
  const Shape in = e.input_shape(), out = e.node.shape;
  const auto columns = e.constant("columns", {in[2], out[2]},
                                  [=] { return mean_matrix(in[2], adaptive_windows(in[2], out[2])); });
  const auto rows = e.constant("rows", {out[1], in[1]}, [=] {
    const std::vector<float> matrix = mean_matrix(in[1], adaptive_windows(in[1], out[1]));
    std::vector<float> transposed(matrix.size());
    permute(matrix, {in[1], out[1]}, std::array<std::size_t, 2>{1, 0}, transposed);
    return transposed;
  });
  e.result("MatMul", {rows, e.op("MatMul", {e.input(), columns})});
}

// The maximum of each window along one axis, joined again.
std::vector<std::string> maxima(Emission& e, const std::string& value, std::int64_t axis, std::int64_t inputs,
                                std::int64_t outputs) {
  std::vector<std::string> parts;
  const std::string along = e.integers("axis", {axis});
  for (const PoolWindow& window : adaptive_windows(inputs, outputs)) {
    const std::string part =
        e.op("Slice", {value, e.integers("begin", {window.begin}), e.integers("end", {window.end}), along});
    parts.push_back(e.op("ReduceMax", {part}, {{"axes", Integers{axis}}, {"keepdims", std::int64_t{1}}}));
  }
  return parts;
}

void maximum_by_windows(Emission& e) {
  const Shape in = e.input_shape(), out = e.node.shape;
  const std::string rows =
      e.op("Concat", maxima(e, e.input(), 2, in[1], out[1]), {{"axis", std::int64_t{2}}});
  e.result("Concat", maxima(e, rows, 3, in[2], out[2]), {{"axis", std::int64_t{3}}});
}

}  // namespace

void emit_max_pool(Emission& e) {
  const auto axes = windows_of(e.settings, e.input_shape());
  e.result_channels_first("MaxPool", {e.channels_first()}, window_attributes(axes));
}

void emit_average_pool(Emission& e) {
  auto axes = windows_of(e.settings, e.input_shape());
  std::string value = e.channels_first();
  const bool counts = e.settings.flag("count_padding");
  const bool beyond = std::any_of(axes.begin(), axes.end(), [](const WindowAxis& a) { return a.beyond > 0; });
  OnnxAttributes attributes = window_attributes(axes);
  if (counts && beyond) {
    // Padding counts, but positions that `ceil` adds do not: only the former become zeroes.
    Integers before{0, 0}, after{0, 0};
    for (WindowAxis& axis : axes) {
      before.push_back(axis.before);
      after.push_back(axis.after - axis.beyond);
      axis.before = 0;
      axis.after = axis.beyond;
    }
    before.insert(before.end(), after.begin(), after.end());
    value = e.op("Pad", {value, e.integers("pads", before)});
    attributes = window_attributes(axes);
  }
  attributes.push_back({"count_include_pad", std::int64_t{counts && !beyond}});
  e.result_channels_first("AveragePool", {value}, attributes);
}

void emit_global_pool(Emission& e) {
  const bool maximum = e.settings.type().starts_with("global_max");
  const Integers axes = e.input_shape().rank() == 3 ? Integers{2, 3} : Integers{1};
  e.result(maximum ? "ReduceMax" : "ReduceMean", {e.input()},
           {{"axes", axes}, {"keepdims", std::int64_t{0}}});
}

void emit_adaptive_pool(Emission& e) {
  const Shape& in = e.input_shape();
  const Shape& out = e.node.shape;
  const bool maximum = e.settings.type() == "adaptive_max_pool";
  if (in[1] % out[1] != 0 || in[2] % out[2] != 0) {
    return maximum ? maximum_by_windows(e) : mean_by_matrices(e);
  }
  const Integers size{in[1] / out[1], in[2] / out[2]};
  e.result(maximum ? "MaxPool" : "AveragePool", {e.input()}, {{"kernel_shape", size}, {"strides", size}});
}

}  // namespace convoke::interop::onnx_export
