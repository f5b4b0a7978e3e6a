#include "convoke/optim/adamw.hpp"

#include <cmath>

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   w <- w - lr lambda w                        every array has shape (n)
CONVOKE_MULTIVERSION
void decay(float* weight, std::size_t n, float rate) {
  for (std::size_t i = 0; i < n; ++i) weight[i] -= rate * weight[i];
}

constexpr std::array kAdamWKeys{
    key<&AdamWOptions::weight_decay>({.name = "weight_decay",
                                      .range = {.least = 0},
                                      .help = "a step subtracts learning rate x this of each weight"}),
    key<&AdamWOptions::exclude_vectors>(
        {.name = "exclude_vectors", .help = "no decay of biases, gamma and beta"}),
};

}  // namespace

AdamWOptions AdamW::read(SettingsReader& settings) {
  AdamWOptions options;
  options.adam = Adam::read(settings);
  read_keys(kAdamWKeys, settings, options);
  return options;
}

std::vector<KeyDescription> AdamW::keys() {
  std::vector<KeyDescription> all = Adam::keys();
  for (KeyDescription& own : describe_keys(kAdamWKeys)) all.push_back(std::move(own));
  return all;
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
  write_keys(kAdamWKeys, options_, settings);
  return settings;
}

}  // namespace convoke::optim
