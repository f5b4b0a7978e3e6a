#include "nn/kernels/curves.hpp"

namespace convoke::nn {

const float kLeastExponent = -87, kMostExponent = 88;

}  // namespace convoke::nn
