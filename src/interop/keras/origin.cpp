#include "interop/keras/origin.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "convoke/core/error.hpp"

namespace convoke::interop::keras {
namespace {

/// Packages that hold Keras' own classes.
constexpr std::array<std::string_view, 5> kPackages{"keras", "tf_keras", "keras_core", "tensorflow.keras",
                                                    "tensorflow.python.keras"};

/// A layer that Keras Applications define beside their networks, and its settings.
struct OfApplications {
  std::string_view name;
  std::array<std::string_view, 2> settings;
};
constexpr std::array kOfApplications{OfApplications{"CustomScaleLayer", {"scale"}},
                                     OfApplications{"LayerScale", {"init_values", "projection_dim"}},
                                     OfApplications{"StochasticDepth", {"drop_path_rate"}}};

bool is_of_keras(const std::string& module) {
  return std::any_of(kPackages.begin(), kPackages.end(), [&](std::string_view package) {
    return module.starts_with(package) && (module.size() == package.size() || module[package.size()] == '.');
  });
}

// True if it has these settings and no others but those of all layers.
bool has_settings(const Json& config, const OfApplications& layer) {
  static constexpr std::array<std::string_view, 4> kOfAll{"name", "trainable", "dtype", "batch_input_shape"};
  const auto is_in = [](const auto& list, const std::string& key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const auto& [key, value] : config.items()) {
    if (!is_in(kOfAll, key) && !is_in(layer.settings, key)) return false;
  }
  return std::all_of(layer.settings.begin(), layer.settings.end(),
                     [&](std::string_view key) { return key.empty() || !member(config, key).is_null(); });
}

}  // namespace

std::string builtin_class(const Json& layer) {
  std::string name = text_of(member(layer, "class_name"));
  bool own = true;
  if (layer.is_object() && layer.contains("module")) {
    own = is_of_keras(text_of(member(layer, "module")));
    if (own && name.starts_with("Custom>")) name.erase(0, 7);
  } else {
    // Keras 2 registers one of its own layers as a user would.
    if (name == "Custom>CustomScaleLayer") name.erase(0, 7);
    const auto known = std::find_if(kOfApplications.begin(), kOfApplications.end(),
                                    [&](const OfApplications& entry) { return entry.name == name; });
    if (known != kOfApplications.end()) own = has_settings(member(layer, "config"), *known);
    own = own && name.find('>') == std::string::npos;
  }
  if (own) return name;
  throw Error("is a custom layer, whose Python code is not in the file",
              "write it with Keras' own layers and save the model again");
}

}  // namespace convoke::interop::keras
