#include "reference/layer.hpp"

#include <array>
#include <stdexcept>

#include "convoke/core/settings.hpp"

namespace reference {

double Call::number(std::string_view setting, double fallback) const {
  return convoke::SettingsReader(settings, "reference").get(setting, fallback);
}

std::string Call::text(std::string_view setting) const {
  return convoke::SettingsReader(settings, "reference").get(setting, std::string());
}

bool Call::flag(std::string_view setting) const {
  return convoke::SettingsReader(settings, "reference").get(setting, false);
}

std::pair<std::int64_t, std::int64_t> Call::pair(std::string_view setting) const {
  const auto list = convoke::SettingsReader(settings, "reference").get(setting, std::vector<std::int64_t>{1});
  return {list.front(), list.back()};
}

namespace {

constexpr std::array kFamilies{convolutions, normalizations,  pointwise_layers,
                               poolings,     sequence_layers, structure_layers};

const double* values_of(const Call& call, const char* parameter) {
  return call.has_parameter(parameter) ? call.parameter(parameter).data() : nullptr;
}

constexpr double kStep = 1e-5;

// dx_i = sum_j dy_j (f_j(x + h e_i) - f_j(x - h e_i)) / 2h, for every element of every input and parameter. A
// sample's output depends on this sample alone (batch_norm has a backward pass), so one difference serves an
// element of all samples, and all elements of an element-wise layer.
void differentiate(const LayerEntry& layer, Call& call, Gradients& gradients) {
  const std::vector<double>& dy = gradients.output.data;
  const auto vary = [&](std::vector<double>& values, std::vector<double>& gradient, std::size_t parts) {
    const std::vector<double> before = values;
    const std::size_t size = values.size() / parts, outputs = dy.size() / parts;
    const auto move = [&](std::size_t i, double step) {
      for (; i < values.size(); i += size) values[i] = before[i] + step;
    };
    for (std::size_t i = 0; i < size; ++i) {
      move(i, kStep);
      const std::vector<double> above = layer.forward(call).data;
      move(i, -kStep);
      const std::vector<double> below = layer.forward(call).data;
      move(i, 0);
      for (std::size_t j = 0; j < dy.size(); ++j)
        gradient[j / outputs * size + i] += dy[j] * (above[j] - below[j]) / (2 * kStep);
    }
  };
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.graph.node(call.node.inputs[i]).shape.type != convoke::nn::ValueType::kReal) continue;
    const auto samples = static_cast<std::size_t>(call.x().samples);
    vary(call.inputs[i].data, gradients.inputs[i]->data, layer.element_wise ? dy.size() : samples);
  }
  for (const auto& spec : call.graph.owner(call.node).parameters) {
    if (spec.trainable) vary(call.parameters[spec.name], *gradients.parameters.at(spec.name), 1);
  }
}

}  // namespace

AddProduct::AddProduct(const Call& call, Values& y)
    : call_(call), y_(&y), weight_(values_of(call, "weight")), bias_(values_of(call, "bias")) {}

AddProduct::AddProduct(const Call& call, Gradients& gradients)
    : call_(call), gradients_(&gradients), weight_(values_of(call, "weight")), bias_(nullptr) {
  if (weight_ != nullptr) dweight_ = gradients.parameters.at("weight")->data();
  if (call.has_parameter("bias")) dbias_ = gradients.parameters.at("bias")->data();
}

Values forward(const LayerEntry& layer, const Call& call) {
  if (layer.products == nullptr) return layer.forward(call);
  Values y(call.x().samples, call.node.shape);
  layer.products(call, AddProduct(call, y));
  return y;
}

void backward(const LayerEntry& layer, Call& call, Gradients& gradients) {
  if (layer.backward != nullptr) return layer.backward(call, gradients);
  if (layer.products != nullptr) return layer.products(call, AddProduct(call, gradients));
  differentiate(layer, call, gradients);
}

const LayerEntry& layer_of(std::string_view type) {
  for (const auto family : kFamilies) {
    for (const LayerEntry& entry : family()) {
      if (entry.type == type) return entry;
    }
  }
  throw std::logic_error("the reference has no layer " + std::string(type));
}

}  // namespace reference
