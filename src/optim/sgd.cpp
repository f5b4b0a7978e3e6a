#include "convoke/optim/sgd.hpp"

#include "convoke/core/keys.hpp"
#include "convoke/core/multiversion.hpp"

namespace convoke::optim {
namespace {

//   w <- w - lr g                               every array has shape (n)
CONVOKE_MULTIVERSION
void sgd_plain(float* weight, const float* gradient, std::size_t n, float rate) {
  for (std::size_t i = 0; i < n; ++i) weight[i] -= rate * gradient[i];
}

//   v <- mu v - lr g
//   w <- w + v
CONVOKE_MULTIVERSION
void sgd_with_momentum(float* weight, const float* gradient, float* velocity, std::size_t n, float rate,
                       float momentum) {
  for (std::size_t i = 0; i < n; ++i) {
    velocity[i] = momentum * velocity[i] - rate * gradient[i];
    weight[i] += velocity[i];
  }
}

//   v <- mu v - lr g
//   w <- w + mu v - lr g
CONVOKE_MULTIVERSION
void with_nesterov(float* weight, const float* gradient, float* velocity, std::size_t n, float rate,
                   float momentum) {
  for (std::size_t i = 0; i < n; ++i) {
    const float descent = rate * gradient[i];
    velocity[i] = momentum * velocity[i] - descent;
    weight[i] += momentum * velocity[i] - descent;
  }
}

constexpr std::array kSgdKeys{
    key<&SgdOptions::momentum>(
        {.name = "momentum", .range = {.least = 0, .below = 1}, .help = "decay of the velocity"}),
    key<&SgdOptions::nesterov>({.name = "nesterov", .help = "Nesterov's momentum; needs a momentum above 0"}),
};

}  // namespace

Sgd::Keys Sgd::keys() { return kSgdKeys; }

void Sgd::check(const SettingsReader& read, const SgdOptions& options) {
  read.check("nesterov", !options.nesterov || options.momentum > 0, "false if momentum is 0");
}

void Sgd::step(const Slice& slice, double learning_rate) const {
  const auto rate = static_cast<float>(learning_rate);
  const auto momentum = static_cast<float>(options_.momentum);
  if (options_.momentum == 0) {
    sgd_plain(slice.parameters(), slice.gradients(), slice.size(), rate);
  } else {
    const auto update = options_.nesterov ? with_nesterov : sgd_with_momentum;
    update(slice.parameters(), slice.gradients(), slice.state(0), slice.size(), rate, momentum);
  }
}

}  // namespace convoke::optim
