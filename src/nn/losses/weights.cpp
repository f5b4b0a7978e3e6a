#include "nn/losses/weights.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace convoke::nn {
namespace {

struct CommonOptions {
  std::vector<double> class_weights;
};
constexpr std::array kClassWeightKeys{key<&CommonOptions::class_weights>(
    {.name = "class_weights",
     .range = {.least = 0},
     .expected = "numbers of at least 0, one for each class",
     .help = "weight of a sample of each class; empty: all equal. The sum is divided by the number of "
             "samples, as in Keras"})};

constexpr const char* kByNetwork = "auto";
constexpr std::array kCrossEntropyKeys{
    key<&CrossEntropyOptions::label_smoothing>(
        {.name = "label_smoothing",
         .range = {.least = 0, .below = 1},
         .help = "share of the label that is spread over all classes"}),
    key<&CrossEntropyOptions::outputs>(
        {.name = "outputs",
         .names =
             [] {
               return std::vector<std::string>{kByNetwork, "logits", "probabilities"};
             },
         .help =
             "what the network's outputs are; `\"auto\"`: probabilities if the network ends in softmax or "
             "sigmoid, also if layers follow that keep probabilities, otherwise logits, to which the loss "
             "applies it"})};

}  // namespace

ClassWeights::ClassWeights(SettingsReader& read) {
  CommonOptions options;
  read_keys(kClassWeightKeys, read, options);
  weights_ = std::move(options.class_weights);
  if (!weights_.empty() && std::ranges::all_of(weights_, [](double weight) { return weight == 0; }))
    read.fail_at("class_weights", "all class weights are 0, so the loss has no gradient",
                 "give a class a weight above 0, or leave class_weights out");
}

std::vector<KeyDescription> ClassWeights::keys() { return describe_keys(kClassWeightKeys); }

std::array<Target, 2> ClassWeights::of(const LossInputs& samples, std::size_t i) const {
  const auto weight_of = [&](std::int32_t label) {
    return weights_.empty() ? 1.0F : static_cast<float>(weights_[static_cast<std::size_t>(label)]);
  };
  const std::int32_t label = samples.labels[i];
  const float own = samples.sample_weights.empty() ? 1.0F : samples.sample_weights[i];
  if (samples.shares.empty()) return {Target{label, own * weight_of(label)}, Target{label, 0}};
  const float share = samples.shares[i];
  const std::int32_t second = samples.second_labels[i];
  const float second_own = samples.second_weights.empty() ? 1.0F : samples.second_weights[i];
  return {Target{label, own * share * weight_of(label)},
          Target{second, second_own * (1 - share) * weight_of(second)}};
}

bool ClassWeights::fit(std::int64_t classes) const {
  return weights_.empty() || static_cast<std::int64_t>(weights_.size()) == classes;
}

void ClassWeights::write(Settings& settings) const {
  if (!weights_.empty()) settings.set("class_weights", Value::Array(weights_.begin(), weights_.end()));
}

CrossEntropyOptions::CrossEntropyOptions(SettingsReader& read) {
  read_keys(kCrossEntropyKeys, read, *this);
  weights = ClassWeights(read);
}

std::vector<KeyDescription> CrossEntropyOptions::keys() { return describe_keys(kCrossEntropyKeys); }

void CrossEntropyOptions::write(Settings& settings) const {
  if (label_smoothing != 0) settings.set("label_smoothing", label_smoothing);
  if (outputs != kByNetwork) settings.set("outputs", outputs);
  weights.write(settings);
}

}  // namespace convoke::nn
