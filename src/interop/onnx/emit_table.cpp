#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
namespace {

struct EmitEntry {
  std::string_view name;
  EmitLayer emit;  ///< null: the layer does nothing in inference
};

constexpr char kHardSwish[] = "HardSwish", kMax[] = "Max", kMean[] = "Mean", kRelu[] = "Relu",
               kSelu[] = "Selu", kSigmoid[] = "Sigmoid", kSoftplus[] = "Softplus", kSub[] = "Sub",
               kSum[] = "Sum", kTanh[] = "Tanh";

constexpr std::array kEmitters{
    EmitEntry{"adaptive_average_pool", emit_adaptive_pool},
    EmitEntry{"adaptive_max_pool", emit_adaptive_pool},
    EmitEntry{"add", emit_same<kSum>},
    EmitEntry{"attention", emit_attention},
    EmitEntry{"average", emit_same<kMean>},
    EmitEntry{"average_pool", emit_average_pool},
    EmitEntry{"average_pool1d", emit_average_pool},
    EmitEntry{"batch_norm", emit_batch_norm},
    EmitEntry{"channel_scale", emit_channel_scale},
    EmitEntry{"channel_shuffle", emit_channel_shuffle},
    EmitEntry{"concat", emit_concat},
    EmitEntry{"conv1d", emit_convolution},
    EmitEntry{"conv2d", emit_convolution},
    EmitEntry{"conv2d_transpose", emit_transposed_convolution},
    EmitEntry{"crop", emit_crop},
    EmitEntry{"dense", emit_dense},
    EmitEntry{"depthwise_conv2d", emit_depthwise_convolution},
    EmitEntry{"dropout", nullptr},
    EmitEntry{"elementwise", emit_elementwise},
    EmitEntry{"elu", emit_elu},
    EmitEntry{"embedding", emit_embedding},
    EmitEntry{"flatten", emit_flatten},
    EmitEntry{"gaussian_noise", nullptr},
    EmitEntry{"gelu", emit_gelu},
    EmitEntry{"global_average_pool", emit_global_pool},
    EmitEntry{"global_average_pool1d", emit_global_pool},
    EmitEntry{"global_max_pool", emit_global_pool},
    EmitEntry{"global_max_pool1d", emit_global_pool},
    EmitEntry{"group_norm", emit_group_norm},
    EmitEntry{"gru", emit_recurrent},
    EmitEntry{"hard_sigmoid", emit_hard_sigmoid},
    EmitEntry{"hard_swish", emit_same<kHardSwish>},
    EmitEntry{"identity", nullptr},
    EmitEntry{"layer_norm", emit_layer_norm},
    EmitEntry{"leaky_relu", emit_leaky_relu},
    EmitEntry{"local_response_norm", emit_local_response_norm},
    EmitEntry{"lstm", emit_recurrent},
    EmitEntry{"max_pool", emit_max_pool},
    EmitEntry{"max_pool1d", emit_max_pool},
    EmitEntry{"maximum", emit_same<kMax>},
    EmitEntry{"multiply", emit_multiply},
    EmitEntry{"permute", emit_permute},
    EmitEntry{"prelu", emit_prelu},
    EmitEntry{"relu", emit_same<kRelu>},
    EmitEntry{"relu6", emit_relu6},
    EmitEntry{"rescale", emit_rescale},
    EmitEntry{"reshape", emit_reshape},
    EmitEntry{"resize", emit_resize},
    EmitEntry{"selu", emit_same<kSelu>},
    EmitEntry{"separable_conv2d", emit_separable_convolution},
    EmitEntry{"sigmoid", emit_same<kSigmoid>},
    EmitEntry{"silu", emit_silu},
    EmitEntry{"slice", emit_slice},
    EmitEntry{"softmax", emit_softmax},
    EmitEntry{"softplus", emit_same<kSoftplus>},
    EmitEntry{"standardize", emit_standardize},
    EmitEntry{"stochastic_depth", nullptr},
    EmitEntry{"subtract", emit_same<kSub>},
    EmitEntry{"tanh", emit_same<kTanh>},
    EmitEntry{"zero_pad", emit_zero_pad},
};

}  // namespace

EmitLayer emitter_of(const nn::Node& node) {
  const auto entry = std::find_if(kEmitters.begin(), kEmitters.end(),
                                  [&](const EmitEntry& e) { return e.name == node.layer->type(); });
  if (entry != kEmitters.end()) return entry->emit;
  throw Error(fmt::format("{}: ONNX export does not know the layer \"{}\"", node.name, node.layer->type()));
}

std::vector<std::string> emitted_layers() { return names_in(kEmitters); }

}  // namespace convoke::interop::onnx_export
