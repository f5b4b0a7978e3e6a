#pragma once
#include <span>

namespace convoke::optim {

/// Sum of squares and sum of magnitudes, in double and in an order that depends on nothing but the size: the
/// same bits on every instruction set.
double sum_of_squares(std::span<const float> values);
double sum_of_magnitudes(std::span<const float> values);

}  // namespace convoke::optim
