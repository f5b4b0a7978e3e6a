#pragma once
#include "nn/losses/weights.hpp"

namespace convoke::nn {

// Means over the outputs of a function of the error y - t. With one output, t is the label as a number
// (ordered classes: grades, ages), and the predicted class is the nearest label. Otherwise t is the one-hot
// label.

/// Makes (y - t)^2.
LossPtr make_mean_squared_error(SettingsReader& read);
/// Makes |y - t|.
LossPtr make_mean_absolute_error(SettingsReader& read);

}  // namespace convoke::nn
