#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/layers.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop::keras {
namespace {

constexpr std::array kClasses{
    LayerClass{"Activation", convert_activation},
    LayerClass{"ActivityRegularization", convert_identity},
    LayerClass{"AdaptiveAveragePooling1D", convert_adaptive_pool, "adaptive_average_pool"},
    LayerClass{"AdaptiveAveragePooling2D", convert_adaptive_pool, "adaptive_average_pool"},
    LayerClass{"AdaptiveMaxPooling1D", convert_adaptive_pool, "adaptive_max_pool"},
    LayerClass{"AdaptiveMaxPooling2D", convert_adaptive_pool, "adaptive_max_pool"},
    LayerClass{"Add", convert_merged},
    LayerClass{"Attention", convert_dot_attention},
    LayerClass{"Average", convert_merged},
    LayerClass{"AveragePooling1D", convert_pool, "average_pool1d"},
    LayerClass{"AveragePooling2D", convert_pool, "average_pool"},
    LayerClass{"BatchNormalization", convert_batch_norm, "batch_norm"},
    LayerClass{"BatchNormalizationV1", convert_batch_norm, "batch_norm"},
    LayerClass{"BatchNormalizationV2", convert_batch_norm, "batch_norm"},
    LayerClass{"Bidirectional", convert_bidirectional},
    LayerClass{"CenterCrop", convert_center_crop},
    LayerClass{"Concatenate", convert_concatenate},
    LayerClass{"Conv1D", convert_conv1d, "conv1d"},
    LayerClass{"Conv2D", convert_conv2d, "conv2d"},
    LayerClass{"Conv2DTranspose", convert_conv2d, "conv2d_transpose"},
    LayerClass{"Convolution1D", convert_conv1d, "conv1d"},
    LayerClass{"Convolution2D", convert_conv2d, "conv2d"},
    LayerClass{"Cropping1D", convert_cropping1d},
    LayerClass{"Cropping2D", convert_cropping2d},
    LayerClass{"CustomScaleLayer", convert_scaled_add},
    LayerClass{"Dense", convert_dense, "dense"},
    LayerClass{"DepthwiseConv1D", convert_depthwise_conv1d},
    LayerClass{"DepthwiseConv2D", convert_conv2d, "depthwise_conv2d"},
    LayerClass{"Dropout", convert_dropout},
    LayerClass{"Embedding", convert_embedding, "embedding"},
    LayerClass{"Flatten", convert_flatten},
    LayerClass{"GRU", convert_recurrent, "gru"},
    LayerClass{"GlobalAveragePooling1D", convert_global_pool, "global_average_pool1d"},
    LayerClass{"GlobalAveragePooling2D", convert_global_pool, "global_average_pool"},
    LayerClass{"GlobalMaxPooling1D", convert_global_pool, "global_max_pool1d"},
    LayerClass{"GlobalMaxPooling2D", convert_global_pool, "global_max_pool"},
    LayerClass{"GroupNormalization", convert_group_norm, "group_norm"},
    LayerClass{"Identity", convert_identity},
    LayerClass{"LSTM", convert_recurrent, "lstm"},
    LayerClass{"LayerNormalization", convert_layer_norm, "layer_norm"},
    LayerClass{"LayerScale", convert_layer_scale},
    LayerClass{"MaxPooling1D", convert_pool, "max_pool1d"},
    LayerClass{"MaxPooling2D", convert_pool, "max_pool"},
    LayerClass{"Maximum", convert_merged},
    LayerClass{"Minimum", convert_minimum},
    LayerClass{"MultiHeadAttention", convert_multi_head_attention},
    LayerClass{"Multiply", convert_merged, "multiply"},
    LayerClass{"Normalization", convert_normalization},
    LayerClass{"PReLU", convert_prelu, "prelu"},
    LayerClass{"Permute", convert_permute},
    LayerClass{"ReLU", convert_relu},
    LayerClass{"RepeatVector", convert_repeat_vector},
    LayerClass{"Rescaling", convert_rescaling},
    LayerClass{"Reshape", convert_reshape},
    LayerClass{"Resizing", convert_resizing},
    LayerClass{"SeparableConv1D", convert_separable_conv1d},
    LayerClass{"SeparableConv2D", convert_conv2d, "separable_conv2d"},
    LayerClass{"Softmax", convert_softmax},
    LayerClass{"SpatialDropout1D", convert_spatial_dropout},
    LayerClass{"SpatialDropout2D", convert_spatial_dropout},
    LayerClass{"StochasticDepth", convert_stochastic_depth},
    LayerClass{"Subtract", convert_merged},
    LayerClass{"TimeDistributed", convert_time_distributed},
    LayerClass{"UpSampling1D", convert_upsampling1d},
    LayerClass{"UpSampling2D", convert_upsampling2d},
    LayerClass{"ZeroPadding1D", convert_zero_padding1d},
    LayerClass{"ZeroPadding2D", convert_zero_padding2d},
};

/// Random changes of training pictures, which are left out.
constexpr std::array<std::string_view, 18> kAugmentations{
    "RandomBrightness",   "RandomColorDegeneration", "RandomColorJitter",
    "RandomContrast",     "RandomErasing",           "RandomFlip",
    "RandomGaussianBlur", "RandomGrayscale",         "RandomHue",
    "RandomInvert",       "RandomPerspective",       "RandomPosterization",
    "RandomRotation",     "RandomSaturation",        "RandomSharpness",
    "RandomShear",        "RandomTranslation",       "RandomZoom",
};

/// Classes that cannot be converted, and what to do.
struct Replacement {
  std::string_view name, advice;
};
constexpr std::array kReplacements{
    Replacement{"Lambda", "it holds Python code, which is never run: write it with layers, e.g. Rescaling"},
    Replacement{"TFOpLambda", "save the model again with Keras layers in place of TensorFlow functions"},
    Replacement{"Masking",
                "tokens are masked by Embedding(mask_zero=True); leave it out for other sequences"},
    Replacement{"AdditiveAttention", "use MultiHeadAttention, or Attention with score_mode=\"dot\""},
    Replacement{"GroupQueryAttention", "use MultiHeadAttention"},
    Replacement{"SimpleRNN", "use LSTM or GRU"},
    Replacement{"RNN", "use LSTM or GRU"},
    Replacement{"CuDNNLSTM", "load and save it with Keras as LSTM with recurrent_activation=\"sigmoid\""},
    Replacement{"CuDNNGRU", "load and save it with Keras as GRU with reset_after=True"},
    Replacement{"ConvLSTM2D", "use Conv2D on single pictures"},
    Replacement{"Conv3D", "use Conv2D on single pictures"},
    Replacement{"GaussianDropout", "use Dropout"},
    Replacement{"AlphaDropout", "use Dropout"},
    Replacement{"UnitNormalization", "use LayerNormalization"},
    Replacement{"Conv1DTranspose", "use UpSampling1D and Conv1D"},
    Replacement{"TextVectorization", "give tokens to the model: convoke prepare makes them from texts"},
};

/// Returns the function of a class, or null.
Convert function_of(std::string_view name) {
  const auto found = std::ranges::find(kClasses, name, &LayerClass::name);
  if (found != kClasses.end()) return found->convert;
  if (std::ranges::find(kAugmentations, name) != kAugmentations.end()) return convert_augmentation;
  return find_plain_layer(&PlainLayer::keras, name) == nullptr ? nullptr : convert_plain;
}

}  // namespace

std::string_view layer_of(std::string_view class_name) {
  const auto found = std::ranges::find(kClasses, class_name, &LayerClass::name);
  if (found != kClasses.end() && !found->layer.empty()) return found->layer;
  const PlainLayer* plain = find_plain_layer(&PlainLayer::keras, class_name);
  return plain == nullptr ? std::string_view() : plain->name;
}

std::string_view layer_of_kind(std::string_view kind) {
  const auto found = std::ranges::find_if(kClasses, [&](const LayerClass& entry) {
    return !entry.layer.empty() && snake_case(entry.name) == kind;
  });
  return found == kClasses.end() ? std::string_view() : found->layer;
}

bool is_layer_class(const std::string& name) { return function_of(name) != nullptr; }

Convert find_layer(const std::string& class_name) {
  if (const Convert convert = function_of(class_name)) return convert;
  const auto other = std::find_if(kReplacements.begin(), kReplacements.end(),
                                  [&](const Replacement& entry) { return entry.name == class_name; });
  const std::string advice = other != kReplacements.end()
                                 ? std::string(other->advice)
                                 : std::string("docs/interop.md lists the layers that can be");
  throw Error("layers of this class cannot be converted", advice);
}

std::vector<std::string> layer_classes() {
  std::vector<std::string> names = names_in(kClasses);
  names.insert(names.end(), kAugmentations.begin(), kAugmentations.end());
  for (const PlainLayer& layer : plain_layers()) {
    if (!layer.keras.empty() && std::ranges::find(names, layer.keras) == names.end())
      names.emplace_back(layer.keras);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace convoke::interop::keras
