#pragma once
#include <cmath>

namespace convoke {

/// Round a product as if it had no rounding error: in floating point, 0.29 * 100 is below 29, and 0.14 * 50
/// is above 7.
inline double floor_of_product(double product) { return std::floor(product * (1 + 1e-12)); }
inline double ceil_of_product(double product) { return std::ceil(product * (1 - 1e-12)); }

}  // namespace convoke
