#include "convoke/optim/lars.hpp"

#include <cmath>

#include "convoke/core/multiversion.hpp"
#include "convoke/optim/passes.hpp"

namespace convoke::optim {
namespace {

//   v <- mu v - lr (g + lambda w)
//   w <- w + v                                  every array has shape (n)
CONVOKE_MULTIVERSION
void lars(float* weight, const float* gradient, float* velocity, std::size_t n, float rate, float momentum,
          float weight_decay) {
  for (std::size_t i = 0; i < n; ++i) {
    velocity[i] = momentum * velocity[i] - rate * (gradient[i] + weight_decay * weight[i]);
    weight[i] += velocity[i];
  }
}

//   eta ||w|| / (||g|| + lambda ||w|| + eps); 1 where a norm is 0, as at the start of a bias
double trust_ratio(const Slice& slice, const LarsOptions& options) {
  const double weight = std::sqrt(sum_of_squares({slice.parameters(), slice.size()}));
  const double gradient = std::sqrt(sum_of_squares({slice.gradients(), slice.size()}));
  if (weight == 0 || gradient == 0) return 1;
  return options.trust_coefficient * weight / (gradient + options.weight_decay * weight + options.epsilon);
}

}  // namespace

LarsOptions Lars::read(SettingsReader& settings) {
  LarsOptions options;
  options.momentum = settings.get("momentum", options.momentum);
  settings.check("momentum", options.momentum >= 0 && options.momentum < 1, "at least 0 and below 1");
  options.weight_decay = settings.get("weight_decay", options.weight_decay);
  settings.check("weight_decay", options.weight_decay >= 0 && std::isfinite(options.weight_decay),
                 "at least 0");
  options.trust_coefficient = settings.get("trust_coefficient", options.trust_coefficient);
  settings.check("trust_coefficient",
                 options.trust_coefficient > 0 && std::isfinite(options.trust_coefficient), "above 0");
  options.epsilon = settings.get("epsilon", options.epsilon);
  settings.check("epsilon", options.epsilon >= 0 && std::isfinite(options.epsilon), "at least 0");
  options.exclude_vectors = settings.get("exclude_vectors", options.exclude_vectors);
  return options;
}

void Lars::step(const Slice& slice, double learning_rate) const {
  const bool plain = options_.exclude_vectors && slice.is_vector();
  const double rate = plain ? learning_rate : learning_rate * trust_ratio(slice, options_);
  lars(slice.parameters(), slice.gradients(), slice.state(0), slice.size(), static_cast<float>(rate),
       static_cast<float>(options_.momentum), plain ? 0.0F : static_cast<float>(options_.weight_decay));
}

Settings Lars::settings() const {
  return {{"name", name()},
          {"momentum", options_.momentum},
          {"weight_decay", options_.weight_decay},
          {"trust_coefficient", options_.trust_coefficient},
          {"epsilon", options_.epsilon},
          {"exclude_vectors", options_.exclude_vectors}};
}

}  // namespace convoke::optim
