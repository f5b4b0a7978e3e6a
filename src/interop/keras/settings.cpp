#include <algorithm>
#include <array>
#include <map>

#include "convoke/nn/layer_table.hpp"
#include "interop/keras/layers.hpp"

namespace convoke::interop::keras {
namespace {

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
