#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "interop/keras/layers.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop::keras {
namespace {

constexpr std::array kFamilies{&kActivationClasses, &kMergingClasses,   &kNormalizationClasses,
                               &kRecurrentClasses,  &kStructureClasses, &kWindowClasses};

/// Returns the entry of a class, or null.
const LayerClass* find_class(std::string_view name) {
  for (const auto* family : kFamilies) {
    if (const LayerClass* found = find_named(*family, name)) return found;
  }
  return nullptr;
}

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
  if (const LayerClass* found = find_class(name)) return found->convert;
  if (std::ranges::find(kAugmentations, name) != kAugmentations.end()) return convert_augmentation;
  return find_named(plain_layers(), name, &PlainLayer::keras) == nullptr ? nullptr : convert_plain;
}

}  // namespace

std::string_view layer_of(std::string_view class_name) {
  const LayerClass* found = find_class(class_name);
  if (found != nullptr && !found->layer.empty()) return found->layer;
  const PlainLayer* plain = find_named(plain_layers(), class_name, &PlainLayer::keras);
  return plain == nullptr ? std::string_view() : plain->name;
}

std::string_view layer_of_kind(std::string_view kind) {
  for (const auto* family : kFamilies) {
    for (const LayerClass& entry : *family) {
      if (!entry.layer.empty() && snake_case(entry.name) == kind) return entry.layer;
    }
  }
  return {};
}

bool is_layer_class(const std::string& name) { return function_of(name) != nullptr; }

Convert find_layer(const std::string& class_name) {
  if (const Convert convert = function_of(class_name)) return convert;
  const Replacement* other = find_named(kReplacements, class_name);
  throw Error("layers of this class cannot be converted",
              std::string(other != nullptr ? other->advice : "docs/interop.md lists the layers that can be"));
}

std::vector<std::string> layer_classes() {
  std::vector<std::string> names(kAugmentations.begin(), kAugmentations.end());
  for (const auto* family : kFamilies) {
    for (const LayerClass& entry : *family) names.emplace_back(entry.name);
  }
  for (const PlainLayer& layer : plain_layers()) {
    if (!layer.keras.empty() && std::ranges::find(names, layer.keras) == names.end())
      names.emplace_back(layer.keras);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace convoke::interop::keras
