#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"

namespace convoke::optim {

/// The part of the parameters that an optimizer gets in one call.
enum class Scope {
  kElements,       ///< any part of the arena, across parameters: most optimizers
  kParameter,      ///< any part of one parameter: the update depends on the kind of parameter
  kWholeParameter  ///< one whole parameter: the update needs its norm
};

/// A part of the parameter arena with its gradients and the optimizer's state, all of equal size. A view.
class Slice {
 public:
  /// `states`: one array per state slot, each of parameters.size() floats. `step`: number of this update,
  /// from 1. `is_vector`: the parameter is a bias, a gamma or a beta; valid from Scope::kParameter on.
  Slice(std::span<float> parameters, std::span<const float> gradients, std::span<float* const> states,
        std::int64_t step, bool is_vector = false)
      : parameters_(parameters), gradients_(gradients), states_(states), step_(step), is_vector_(is_vector) {}

  float* parameters() const { return parameters_.data(); }
  const float* gradients() const { return gradients_.data(); }
  float* state(std::size_t slot) const { return states_[slot]; }
  std::size_t size() const { return parameters_.size(); }
  std::int64_t step() const { return step_; }
  bool is_vector() const { return is_vector_; }

 private:
  std::span<float> parameters_;
  std::span<const float> gradients_;
  std::span<float* const> states_;
  std::int64_t step_;
  bool is_vector_;
};

/// Updates parameters from gradients. Within the optimizer's scope, updating a slice in one call equals
/// updating it in two parts, bit for bit, and different threads may update the parts. Parameters may be
/// padded with zeros, which have zero gradients and must remain zero. Holds only options, so it is const and
/// can be shared.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::string_view name() const = 0;
  /// Returns the number of state arrays per parameter (Adam: 2), which start at zero.
  virtual std::size_t state_slots() const = 0;
  virtual Scope scope() const { return Scope::kElements; }
  virtual void step(const Slice& slice, double learning_rate) const = 0;
  /// Returns the options, "name" included, from which the table makes an equal optimizer.
  virtual Settings settings() const = 0;
};

/// An optimizer, T, whose options are the members of a struct. T has `static Keys keys()`, from which the
/// table reads them, settings() writes them and the guide is made. Keys that depend on each other are checked
/// by its `static void check(const SettingsReader& read, const Options& options)`.
template <class T, class O>
class KeyedOptimizer : public Optimizer {
 public:
  using Options = O;
  using Keys = std::span<const Key<O>>;

  explicit KeyedOptimizer(O options = {}) : options_(options) {}
  Settings settings() const override {
    Settings settings{{"name", name()}};
    write_keys(T::keys(), options_, settings);
    return settings;
  }

 protected:
  O options_;
};

/// Makes the optimizer that `settings` describe: { name = "adam", beta_1 = 0.9 }; without a name, Adam.
/// Ignores "learning_rate", which the schedule uses. Throws Error for an unknown name, key or a value out of
/// range.
std::unique_ptr<Optimizer> make_optimizer(const Settings& settings);

/// Returns the learning rate of such a table. Throws Error unless it is above 0.
double learning_rate_of(const Settings& settings);

std::vector<std::string> optimizer_names();

/// Returns the options of each optimizer. The first table has no name and holds the options of all
/// optimizers.
std::vector<OptionTable> optimizer_tables();

}  // namespace convoke::optim
