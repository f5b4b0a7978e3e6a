#include "convoke/nn/losses/loss.hpp"

#include <array>
#include <cmath>

#include "convoke/core/table.hpp"
#include "nn/kernels/softmax.hpp"
#include "nn/losses/cross_entropy.hpp"
#include "nn/losses/regression.hpp"
#include "nn/losses/weights.hpp"

namespace convoke::nn {
namespace {

struct Entry {
  std::string_view name;
  LossPtr (*make)(SettingsReader& read);
  std::vector<KeyDescription> (*keys)();  ///< keys in addition to those of all losses
};

std::vector<KeyDescription> no_keys() { return {}; }

constexpr std::array kLosses{
    Entry{"mean_absolute_error", make_mean_absolute_error, no_keys},
    Entry{"mean_squared_error", make_mean_squared_error, no_keys},
    Entry{"sigmoid_cross_entropy", make_cross_entropy<SigmoidCrossEntropy>, CrossEntropyOptions::keys},
    Entry{"sigmoid_focal", make_focal<SigmoidFocal>, focal_keys},
    Entry{"softmax_cross_entropy", make_cross_entropy<SoftmaxCrossEntropy>, CrossEntropyOptions::keys},
    Entry{"softmax_focal", make_focal<SoftmaxFocal>, focal_keys},
};

}  // namespace

LossPtr make_loss(const Settings& settings) {
  SettingsReader read(settings, "loss");
  const std::string name = read.get("name", "softmax_cross_entropy");
  LossPtr loss = find_in(kLosses, name, "loss", settings.where()).make(read);
  read.finish();
  return loss;
}

LossPtr default_loss() {
  static const LossPtr loss = std::make_shared<SoftmaxCrossEntropy>();
  return loss;
}

std::vector<OptionTable> loss_tables() {
  std::vector<OptionTable> tables{{"", ClassWeights::keys()}};
  for (const Entry& entry : kLosses) tables.push_back({std::string(entry.name), entry.keys()});
  return tables;
}

void apply_activation(const Loss& loss, std::span<float> outputs, std::int64_t outputs_per_sample) {
  const std::string_view activation = loss.activation();
  if (activation == "softmax") {
    const auto rows = static_cast<std::int64_t>(outputs.size()) / outputs_per_sample;
    softmax_forward(outputs.data(), outputs.data(), rows, outputs_per_sample);
  } else if (activation == "sigmoid") {
    for (float& value : outputs) value = 1 / (1 + std::exp(-value));
  }
}

}  // namespace convoke::nn
