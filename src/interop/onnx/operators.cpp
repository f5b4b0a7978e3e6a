#include "interop/onnx/operators.hpp"

#include <algorithm>
#include <array>

#include "interop/plain_layers.hpp"

namespace convoke::interop::onnx {
namespace {

constexpr std::array kOperators{
    Operator{"Add", convert_add},
    Operator{"Attention", convert_attention},
    Operator{"AveragePool", convert_average_pool},
    Operator{"BatchNormalization", convert_batch_norm},
    Operator{"Cast", convert_cast, true},
    Operator{"CastLike", convert_identity},
    Operator{"Celu", convert_celu},
    Operator{"Clip", convert_clip},
    Operator{"Concat", convert_concat, true},
    Operator{"Conv", convert_convolution},
    Operator{"ConvTranspose", convert_transposed_convolution},
    Operator{"DepthToSpace", convert_depth_to_space},
    Operator{"DequantizeLinear", convert_dequantize},
    Operator{"Div", convert_divide},
    Operator{"Dropout", convert_dropout, true},
    Operator{"Expand", convert_expand},
    Operator{"Flatten", convert_flatten, true},
    Operator{"GRU", convert_gru},
    Operator{"Gather", convert_gather, true},
    Operator{"GatherND", convert_gather_nd, true},
    Operator{"Gelu", convert_gelu},
    Operator{"Gemm", convert_gemm},
    Operator{"GlobalAveragePool", convert_global_average},
    Operator{"GlobalMaxPool", convert_global_max},
    Operator{"GroupNormalization", convert_group_norm},
    Operator{"HardSigmoid", convert_hard_sigmoid},
    Operator{"Identity", convert_identity, true},
    Operator{"InstanceNormalization", convert_instance_norm},
    Operator{"LRN", convert_local_response_norm},
    Operator{"LSTM", convert_lstm},
    Operator{"LayerNormalization", convert_layer_norm},
    Operator{"LeakyRelu", convert_leaky_relu},
    Operator{"LogSoftmax", convert_log_softmax},
    Operator{"MatMul", convert_matmul},
    Operator{"Max", convert_maximum},
    Operator{"MaxPool", convert_max_pool},
    Operator{"Mean", convert_mean},
    Operator{"Mish", convert_mish},
    Operator{"Mul", convert_multiply},
    Operator{"Neg", convert_negate},
    Operator{"PRelu", convert_prelu},
    Operator{"Pad", convert_pad},
    Operator{"Pow", convert_power},
    Operator{"QuantizeLinear", convert_quantize},
    Operator{"ReduceMax", convert_reduce_max},
    Operator{"ReduceMean", convert_reduce_mean},
    Operator{"ReduceSum", convert_reduce_sum},
    Operator{"Reshape", convert_reshape, true},
    Operator{"Resize", convert_resize},
    Operator{"Selu", convert_selu},
    Operator{"Shape", convert_shape, true},
    Operator{"Size", convert_size, true},
    Operator{"Slice", convert_slice, true},
    Operator{"Softmax", convert_softmax},
    Operator{"SpaceToDepth", convert_space_to_depth},
    Operator{"Split", convert_split, true},
    Operator{"Squeeze", convert_squeeze, true},
    Operator{"Sub", convert_subtract},
    Operator{"Sum", convert_sum},
    Operator{"Swish", convert_swish},
    Operator{"Tile", convert_tile},
    Operator{"Transpose", convert_transpose, true},
    Operator{"Unsqueeze", convert_unsqueeze, true},
    Operator{"Upsample", convert_upsample},
};

// Operators that the pattern pass puts in the place of several nodes: see patterns.cpp.
constexpr std::array kRecognized{
    Operator{"AttentionOfHeads", convert_spelled_attention},
    Operator{"HardSigmoid6", convert_recognized_activation},
    Operator{"Normalize", convert_normalize},
    Operator{"Relu6", convert_recognized_activation},
    Operator{"Silu", convert_recognized_activation},
};

}  // namespace

std::optional<Operator> find_operator(const NodeProto& node) {
  const auto in = [&](std::span<const Operator> table) -> std::optional<Operator> {
    const auto it = std::ranges::find(table, node.op, &Operator::name);
    return it == table.end() ? std::nullopt : std::optional(*it);
  };
  if (node.domain == kRecognizedDomain) {
    if (const auto recognized = in(kRecognized)) return recognized;
  } else if (!node.domain.empty()) {
    return std::nullopt;
  }
  if (const auto own = in(kOperators)) return own;
  if (const PlainLayer* plain = find_plain_layer(&PlainLayer::onnx, node.op))
    return Operator{plain->onnx, convert_plain};
  if (find_element_function(&ElementFunction::onnx, node.op) == nullptr) return std::nullopt;
  return Operator{node.op, convert_function};
}

std::set<std::string_view> operator_names() {
  std::set<std::string_view> names;
  for (const Operator& entry : kOperators) names.insert(entry.name);
  for (const PlainLayer& entry : plain_layers()) names.insert(entry.onnx);
  for (const ElementFunction& entry : element_functions()) names.insert(entry.onnx);
  names.erase("");
  return names;
}

}  // namespace convoke::interop::onnx
