#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/nn/window.hpp"

namespace convoke::interop::keras {

using Json = nlohmann::json;

/// The largest description of a model that is read, in bytes; that of EfficientNet-B7 has 1 MB.
inline constexpr std::uint64_t kMostJson = std::uint64_t{8} << 20;

/// Parses the JSON text of a file. Throws Error naming `where` if it is no JSON, too long, or nested deeper
/// than any model.
Json parse_json(std::string_view text, const std::string& where);

/// The settings of one layer as Keras writes them: a JSON object, read key by key with types. `object` must
/// outlive it. Null counts as absent. Throws Error naming the key if a value has another type.
class Config {
 public:
  explicit Config(const Json& object) : object_(object) {}

  const Json& json() const { return object_; }
  bool has(std::string_view key) const { return !at(key).is_null(); }
  /// Returns the value, or a null if it is absent.
  const Json& at(std::string_view key) const;

  /// Without a fallback, the key is required. Whole numbers are below 2^31 in magnitude.
  std::int64_t whole(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  double number(std::string_view key, std::optional<double> fallback = {}) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, std::string_view fallback = {}) const;
  /// Reads a list; a single number counts as a list of one, an absent one as empty.
  std::vector<std::int64_t> wholes(std::string_view key) const;
  /// The same with numbers; nested lists are read one after the other.
  std::vector<double> numbers(std::string_view key) const;
  /// Reads a number or [height, width].
  nn::Extent extent(std::string_view key, nn::Extent fallback) const;
  /// Reads the first of a list of one, or a number: for layers along a sequence.
  std::int64_t first(std::string_view key, std::int64_t fallback) const;

  /// Throws Error that names the key, its value, and what is supported instead.
  [[noreturn]] void refuse(std::string_view key, const std::string& supported) const;
  /// Refuses the key unless it is absent, null, false or `neutral`.
  void require_neutral(std::string_view key, const Json& neutral = nullptr) const;

 private:
  const Json& object_;
};

/// Returns the key of an object, or a null if it is absent or `object` is none.
const Json& member(const Json& object, std::string_view key);
/// Returns a text, or "" if `value` is none.
std::string text_of(const Json& value);

/// A loss of ours under both of its names in Keras.
struct LossName {
  std::string_view name;                  ///< ours; its first entry is how it is written
  std::string_view class_name, function;  ///< Keras'
  bool read = true;                       ///< not only written
};
inline constexpr std::array kLossNames{
    LossName{"mean_absolute_error", "MeanAbsoluteError", "mean_absolute_error"},
    LossName{"mean_absolute_error", "MAE", "mae"},
    LossName{"mean_squared_error", "MeanSquaredError", "mean_squared_error"},
    LossName{"mean_squared_error", "MSE", "mse"},
    LossName{"sigmoid_cross_entropy", "BinaryCrossentropy", "binary_crossentropy"},
    LossName{"sigmoid_focal", "BinaryFocalCrossentropy", "binary_focal_crossentropy", false},
    LossName{"softmax_cross_entropy", "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"},
    LossName{"softmax_cross_entropy", "CategoricalCrossentropy", "categorical_crossentropy"},
    LossName{"softmax_focal", "CategoricalFocalCrossentropy", "categorical_focal_crossentropy", false},
};

/// Returns the name that Keras derives from a class (keras/src/utils/naming.py, to_snake_case): "PReLU" gives
/// "p_re_lu", "Conv2DTranspose" gives "conv2d_transpose".
std::string snake_case(std::string_view class_name);

/// Returns the class of a layer's JSON. Throws Error if the class is a user's own, even if it has the name of
/// one of Keras'. The entries "module" and "registered_name" decide. Older files have neither: there the name
/// decides, and for the layers of Keras Applications, whose names others use too, their settings.
std::string builtin_class(const Json& layer);

}  // namespace convoke::interop::keras
