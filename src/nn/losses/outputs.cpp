#include "convoke/nn/losses/outputs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/value_range.hpp"

namespace convoke::nn {

std::string_view activation_of_outputs(const Graph& graph) {
  const ValueRange range = value_ranges(graph).back();
  return range.is_distribution() ? "softmax" : range.within(-1e-6, 1 + 1e-6) ? "sigmoid" : "";
}

bool never_negative(const Graph& graph, std::size_t node) { return value_ranges(graph)[node].least >= 0; }

bool outputs_are_activated(const Graph& graph, const Loss& loss) {
  const std::string_view activation = loss.activation();
  if (activation.empty()) return true;
  const Settings settings = loss.settings();
  if (const Value* const declared = settings.find("outputs")) return *declared == Value("probabilities");
  const Node& last = graph.nodes().back();
  if (last.layer != nullptr && last.layer->type() == activation) return true;
  const std::string_view own = activation_of_outputs(graph);
  return own == activation || (activation == "sigmoid" && !own.empty());
}

bool predicts_number(const Loss& loss, std::int64_t outputs_per_sample) {
  return outputs_per_sample == 1 && loss.activation().empty();
}

bool look_activated(std::span<const float> outputs, std::int64_t k, std::string_view activation) {
  constexpr float kRounding = 0.01F;
  const auto each = static_cast<std::size_t>(k);
  for (std::size_t first = 0; first < outputs.size(); first += each) {
    const std::span<const float> sample = outputs.subspan(first, each);
    if (!std::ranges::all_of(sample, [](float p) { return p >= -kRounding && p <= 1 + kRounding; })) {
      return false;
    }
    const float sum = std::accumulate(sample.begin(), sample.end(), 0.0F);
    if (activation == "softmax" && std::abs(sum - 1) > kRounding) return false;
  }
  return true;
}

//   softmax: z = log p,               dz / dp = 1 / p
//   sigmoid: z = log p - log(1 - p),  dz / dp = 1 / (p (1 - p))     p is clipped to [1e-7, 1 - 1e-7], as in
//   Keras
LossSums loss_of_probabilities(const Loss& loss, LossInputs samples, std::span<float> logits,
                               float* gradient) {
  const bool sigmoid = loss.activation() == "sigmoid";
  const auto clipped = [&](std::size_t i) { return std::clamp(samples.outputs[i], 1e-7F, 1 - 1e-7F); };
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float p = clipped(i);
    logits[i] = sigmoid ? std::log(p) - std::log1p(-p) : std::log(p);
  }
  LossInputs converted = samples;
  converted.outputs = logits.data();
  const LossSums result = loss.compute(converted, gradient);
  if (gradient == nullptr) return result;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float p = clipped(i);
    gradient[i] /= sigmoid ? p * (1 - p) : p;
  }
  return result;
}

}  // namespace convoke::nn
