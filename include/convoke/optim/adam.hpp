#pragma once
#include <array>

#include "convoke/optim/optimizer.hpp"

namespace convoke::optim {

/// The defaults are Keras' (epsilon 1e-7 instead of the paper's 1e-8).
struct AdamOptions {
  double beta_1 = 0.9;    ///< decay of the running mean of gradients, [0, 1)
  double beta_2 = 0.999;  ///< decay of the running mean of squared gradients, [0, 1)
  double epsilon = 1e-7;  ///< the paper's "epsilon hat", added to the root before bias correction, > 0
};

/// Returns the keys of Adam's options, to which `kMembers` lead in the options of another optimizer, and then
/// the `own` keys of that.
template <auto... kMembers, class... Own>
constexpr auto with_adam_keys(Own... own) {
  return std::array{
      key<kMembers..., &AdamOptions::beta_1>({.name = "beta_1",
                                              .range = {.least = 0, .below = 1},
                                              .help = "decay of the running mean of gradients"}),
      key<kMembers..., &AdamOptions::beta_2>({.name = "beta_2",
                                              .range = {.least = 0, .below = 1},
                                              .help = "decay of the running mean of squared gradients"}),
      key<kMembers..., &AdamOptions::epsilon>(
          {.name = "epsilon", .range = {.above = 0}, .help = "added to the root of that mean"}),
      own...};
}

/// Adam (Kingma and Ba, ICLR 2015), in the form at the end of their section 2, equal to Keras'.
class Adam final : public KeyedOptimizer<Adam, AdamOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "adam"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  void step(const Slice& slice, double learning_rate) const override;
};

/// The defaults are Keras' (PyTorch's weight decay is 0.01, and its epsilon is added after bias correction).
struct AdamWOptions {
  AdamOptions adam = {};
  double weight_decay = 0.004;   ///< >= 0; a step subtracts learning rate * weight_decay of each weight
  bool exclude_vectors = false;  ///< no decay of biases, gamma and beta
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, ICLR 2019), equal to Keras'.
class AdamW final : public KeyedOptimizer<AdamW, AdamWOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys();

  std::string_view name() const override { return "adamw"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  Scope scope() const override { return options_.exclude_vectors ? Scope::kParameter : Scope::kElements; }
  void step(const Slice& slice, double learning_rate) const override;
};

/// Adam with Nesterov's momentum (Dozat, ICLR workshop 2016) and Keras' schedule of the momentum: mu_t =
/// beta_1 (1 - 0.96^t / 2). Options and defaults are Adam's, but epsilon is added after bias correction.
class Nadam final : public KeyedOptimizer<Nadam, AdamOptions> {
 public:
  using KeyedOptimizer::KeyedOptimizer;
  static Keys keys() { return Adam::keys(); }

  std::string_view name() const override { return "nadam"; }
  std::size_t state_slots() const override { return 2; }  // mean, mean square
  void step(const Slice& slice, double learning_rate) const override;
};

}  // namespace convoke::optim
