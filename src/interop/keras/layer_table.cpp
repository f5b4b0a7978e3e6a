#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/keras/call.hpp"
#include "interop/layer_tables.hpp"

// The classes of Keras' layers, and how their settings become those of our layers.

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
using Replacement = Named<std::string_view>;
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

enum class Kind { kExtent, kFlag, kNumber, kPadding, kWhole };

/// A key of our layers, and Keras' for it. Our defaults are Keras'.
struct Key {
  std::string_view ours, keras;
  Kind kind;
};
constexpr std::array kKeys{
    Key{"bias", "use_bias", Kind::kFlag},
    Key{"center", "center", Kind::kFlag},
    Key{"dilation", "dilation_rate", Kind::kExtent},
    Key{"dropout", "dropout", Kind::kNumber},
    Key{"epsilon", "epsilon", Kind::kNumber},
    Key{"filters", "filters", Kind::kWhole},
    Key{"groups", "groups", Kind::kWhole},
    Key{"kernel", "kernel_size", Kind::kExtent},
    Key{"momentum", "momentum", Kind::kNumber},
    Key{"multiplier", "depth_multiplier", Kind::kWhole},
    Key{"output_padding", "output_padding", Kind::kExtent},
    Key{"padding", "padding", Kind::kPadding},
    Key{"recurrent_dropout", "recurrent_dropout", Kind::kNumber},
    Key{"scale", "scale", Kind::kFlag},
    Key{"sequences", "return_sequences", Kind::kFlag},
    Key{"size", "pool_size", Kind::kExtent},
    Key{"stride", "strides", Kind::kExtent},
    Key{"synchronized", "synchronized", Kind::kFlag},
    Key{"units", "output_dim", Kind::kWhole},
    Key{"units", "units", Kind::kWhole},
    Key{"vocabulary", "input_dim", Kind::kWhole},
};

bool has_key(std::string_view layer, std::string_view key) {
  static const std::vector<nn::LayerHelp> guide = nn::layer_guide();
  const auto help = std::ranges::find(guide, layer, &nn::LayerHelp::name);
  return std::ranges::find(help->keys, key, &KeyDescription::name) != help->keys.end();
}

convoke::Value value_of(const Config& config, const Key& key, std::string_view layer) {
  switch (key.kind) {
    case Kind::kExtent: {
      if (!config.has(key.keras)) config.refuse(key.keras, "a number or [height, width] is expected");
      if (layer.ends_with("1d")) return config.first(key.keras, 0);
      const nn::Extent extent = config.extent(key.keras, 0);
      return convoke::Value::Array{extent.height, extent.width};
    }
    case Kind::kFlag:
      return config.flag(key.keras, false);
    case Kind::kNumber:
      return config.number(key.keras);
    case Kind::kPadding: {
      const std::string padding = config.text(key.keras);
      if (padding == "valid" || padding == "same" || (padding == "causal" && layer == "conv1d"))
        return padding;
      config.refuse(key.keras, "supported are \"valid\" and \"same\"");
    }
    case Kind::kWhole:
      break;
  }
  return config.whole(key.keras);
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
              std::string(other != nullptr ? other->value : "docs/interop.md lists the layers that can be"));
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

Settings settings_from(const Config& config, std::string_view layer) {
  Settings settings{{"layer", layer}};
  for (const Key& key : kKeys) {
    const bool given = config.has(key.keras) || key.ours == "kernel";  // which has no default in Keras
    if (given && has_key(layer, key.ours)) settings.set(key.ours, value_of(config, key, layer));
  }
  return settings;
}

Settings settings_from(const Call& call) {
  return settings_from(call.config(), layer_of(call.options().class_name));
}

}  // namespace convoke::interop::keras
