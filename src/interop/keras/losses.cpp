#include <array>
#include <string_view>

#include "convoke/nn/losses/outputs.hpp"
#include "interop/keras/model_reader.hpp"

namespace convoke::interop::keras {
namespace {

/// A loss of Keras by both of its names, and ours.
struct LossName {
  std::string_view function, class_name, ours;
};
constexpr std::array kLosses{
    LossName{"categorical_crossentropy", "CategoricalCrossentropy", "softmax_cross_entropy"},
    LossName{"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy", "softmax_cross_entropy"},
    LossName{"binary_crossentropy", "BinaryCrossentropy", "sigmoid_cross_entropy"},
    LossName{"mean_squared_error", "MeanSquaredError", "mean_squared_error"},
    LossName{"mse", "MSE", "mean_squared_error"},
    LossName{"mean_absolute_error", "MeanAbsoluteError", "mean_absolute_error"},
    LossName{"mae", "MAE", "mean_absolute_error"},
};

}  // namespace

nn::LossPtr loss_of(const Json& compile, const nn::Graph& graph) {
  const Json& given = member(compile, "loss");
  const Json& loss = given.is_array() && given.size() == 1 ? given[0] : given;
  const Json& config = member(loss, "config");
  std::string name = text_of(loss);
  if (name.empty()) name = text_of(config);  // a function as an object
  if (name.empty()) name = text_of(member(loss, "class_name"));
  for (const LossName& known : kLosses) {
    if (name != known.function && name != known.class_name) continue;
    Settings settings{{"name", std::string(known.ours)}};
    const Json& smoothing = member(config, "label_smoothing");
    if (smoothing.is_number() && smoothing.get<double>() > 0 && smoothing.get<double>() < 1) {
      settings.set("label_smoothing", smoothing.get<double>());
    }
    nn::LossPtr ours = nn::make_loss(settings);
    const bool logits = member(config, "from_logits") == Json(true);
    return logits || nn::outputs_are_activated(graph, *ours) ? ours : nullptr;
  }
  return nullptr;
}

}  // namespace convoke::interop::keras
