#include "convoke/optim/adamw.hpp"

#include <cmath>

#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   w <- w - lr lambda w                        every array has shape (n)
CONVOKE_MULTIVERSION
void decay(float* weight, std::size_t n, float rate) {
  for (std::size_t i = 0; i < n; ++i) weight[i] -= rate * weight[i];
}

}  // namespace

AdamWOptions AdamW::read(SettingsReader& settings) {
  AdamWOptions options;
  options.adam = Adam::read(settings);
  options.weight_decay = settings.get("weight_decay", options.weight_decay);
  settings.check("weight_decay", options.weight_decay >= 0 && std::isfinite(options.weight_decay),
                 "at least 0");
  options.exclude_vectors = settings.get("exclude_vectors", options.exclude_vectors);
  return options;
}

void AdamW::step(const Slice& slice, double learning_rate) const {
  if (!(options_.exclude_vectors && slice.is_vector())) {
    decay(slice.parameters(), slice.size(), static_cast<float>(learning_rate * options_.weight_decay));
  }
  Adam(options_.adam).step(slice, learning_rate);
}

Settings AdamW::settings() const {
  Settings settings = Adam(options_.adam).settings();
  settings.set("name", name());
  settings.set("weight_decay", options_.weight_decay);
  settings.set("exclude_vectors", options_.exclude_vectors);
  return settings;
}

}  // namespace convoke::optim
