#pragma once
#include "convoke/optim/schedule.hpp"

// The schedules in the table of schedule.cpp, each made from its own keys. They throw Error for a value that
// is out of range or missing.

namespace convoke::optim {

/// The base rate, always.
std::unique_ptr<Schedule> constant_schedule(SettingsReader& settings);

/// The base rate times drop^k after k * every_epochs epochs.
std::unique_ptr<Schedule> step_schedule(SettingsReader& settings);

/// Smooth exponential decay: Keras' ExponentialDecay with staircase=False.
std::unique_ptr<Schedule> exponential_schedule(SettingsReader& settings);

/// Half a cosine from the base rate to its floor over all steps (Loshchilov and Hutter, "SGDR", ICLR 2017,
/// without restarts): Keras' CosineDecay with alpha = floor.
std::unique_ptr<Schedule> cosine_schedule(SettingsReader& settings);

/// The base rate, and from each boundary on the base rate times a factor. PyTorch's MultiStepLR with any
/// factors; Keras' PiecewiseConstantDecay holds a value for one step longer.
std::unique_ptr<Schedule> piecewise_schedule(SettingsReader& settings);

/// A power of what is left of the training, from the base rate to its floor: Keras' PolynomialDecay without
/// cycles.
std::unique_ptr<Schedule> polynomial_schedule(SettingsReader& settings);

/// Up to the base rate and down to almost nothing, each half a cosine (Smith and Topin, "Super-convergence",
/// 2018): PyTorch's OneCycleLR with anneal_strategy="cos", max_lr the base rate, and cycle_momentum=False.
std::unique_ptr<Schedule> one_cycle_schedule(SettingsReader& settings);

/// The base rate, reduced whenever the validation loss has not fallen for some epochs: Keras'
/// ReduceLROnPlateau.
std::unique_ptr<Schedule> plateau_schedule(SettingsReader& settings);

/// A linear rise to the base rate over the first `epochs` > 0, not necessarily whole (Goyal et al.,
/// "Accurate, large minibatch SGD", 2017), and then another schedule, which counts its steps from there.
std::unique_ptr<Schedule> warmed_up(double epochs, std::unique_ptr<Schedule> then);

}  // namespace convoke::optim
