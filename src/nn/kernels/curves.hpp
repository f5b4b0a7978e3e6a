#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "nn/kernels/activation.hpp"

/// Element-wise functions and their slopes, which are inlined into the loops of each instruction set.
namespace convoke::nn {

/// The range of exponential(). They are variables, because GCC computes what follows from a constant limit
/// for every element and chooses afterwards: x / (1 + e^88), for example, is a denormal number, which takes
/// Zen 3 longer than all the rest of SiLU.
extern const float kLeastExponent, kMostExponent;

//   e^x = 2^k e^r,  k = round(x / ln 2),  |r| <= ln 2 / 2
// Without branches or calls, so that loops vectorize. Exact to 2 units in the last place. Below -87 and above
// 88 the result is that at the limit, which does not change the functions here. NaN remains NaN.
[[gnu::always_inline]] inline float exponential(float x) {
  x = x < kLeastExponent ? kLeastExponent : x;
  x = x > kMostExponent ? kMostExponent : x;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504F + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * 0.693359375F) + k * 2.12194440e-4F;  // ln 2 in two parts
  float p = 1.9875691500e-4F;                                   // Cephes' expf
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1;
  return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3F800000U);
}

[[gnu::always_inline]] inline float logistic(float x) { return 1 / (1 + exponential(-x)); }

//   Phi(x) = erfc(-x / sqrt 2) / 2;  erfc(z) = t (a1 + t (a2 + ...)) e^-z^2 for z >= 0,  t = 1 / (1 + p z)
// M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 7.1.26: exact to 1.5e-7. `density`: e^(-x^2
// / 2).
[[gnu::always_inline]] inline float normal_distribution(float x, float density) {
  const float z = std::abs(x) * 0.707106781F;
  const float t = 1 / (1 + 0.3275911F * z);
  const float tail =
      0.5F * density *
      (t *
       (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F)))));
  return x < 0 ? tail : 1 - tail;
}

inline constexpr float kSeluScale = 1.05070099F, kSeluAlpha = 1.67326324F;
inline constexpr float kTanhInner = 0.797884561F, kTanhCube = 0.044715F;  // sqrt(2 / pi)

/// A function and its slope, from x or y as slope_needs_x() says. NaN remains NaN.
template <Curve kCurve>
[[gnu::always_inline]] inline float curve(float x, float alpha) {
  if constexpr (kCurve == Curve::kRelu6) {
    const float above = x < 0 ? 0 : x;
    return above > 6 ? 6 : above;
  } else if constexpr (kCurve == Curve::kLeakyRelu) {
    return x < 0 ? alpha * x : x;
  } else if constexpr (kCurve == Curve::kElu) {
    const float low = alpha * (exponential(x < 0 ? x : 0) - 1);
    return x < 0 ? low : x;
  } else if constexpr (kCurve == Curve::kSelu) {
    const float low = kSeluAlpha * (exponential(x < 0 ? x : 0) - 1);
    return kSeluScale * (x < 0 ? low : x);
  } else if constexpr (kCurve == Curve::kGelu) {
    return x * normal_distribution(x, exponential(-0.5F * x * x));
  } else if constexpr (kCurve == Curve::kGeluTanh) {
    return x * logistic(2 * kTanhInner * (x + kTanhCube * x * x * x));
  } else if constexpr (kCurve == Curve::kSilu) {
    return x * logistic(x);
  } else if constexpr (kCurve == Curve::kHardSwish) {
    return x * curve<Curve::kRelu6>(x + 3, 0) * (1.0F / 6);
  } else if constexpr (kCurve == Curve::kHardSigmoid) {
    return curve<Curve::kRelu6>(x + 3, 0) * (1.0F / 6);
  } else {
    return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x)));
  }
}

template <Curve kCurve>
[[gnu::always_inline]] inline float slope(float v, float alpha) {
  if constexpr (kCurve == Curve::kRelu6) {
    return (v > 0) & (v < 6) ? 1 : 0;
  } else if constexpr (kCurve == Curve::kLeakyRelu) {
    return v > 0 ? 1 : alpha;
  } else if constexpr (kCurve == Curve::kElu) {
    return v > 0 ? 1 : v + alpha;
  } else if constexpr (kCurve == Curve::kSelu) {
    return v > 0 ? kSeluScale : v + kSeluScale * kSeluAlpha;
  } else if constexpr (kCurve == Curve::kGelu) {
    const float density = exponential(-0.5F * v * v);
    return normal_distribution(v, density) + v * density * 0.398942280F;  // 1 / sqrt(2 pi)
  } else if constexpr (kCurve == Curve::kGeluTanh) {
    const float s = logistic(2 * kTanhInner * (v + kTanhCube * v * v * v));
    return s + v * s * (1 - s) * 2 * kTanhInner * (1 + 3 * kTanhCube * v * v);
  } else if constexpr (kCurve == Curve::kSilu) {
    const float s = logistic(v);
    return s + v * s * (1 - s);
  } else if constexpr (kCurve == Curve::kHardSwish) {
    const float inside = (2 * v + 3) * (1.0F / 6);
    return v <= -3 ? 0 : v >= 3 ? 1 : inside;
  } else if constexpr (kCurve == Curve::kHardSigmoid) {
    return (v > 0) & (v < 1) ? 1.0F / 6 : 0;
  } else {
    return -std::expm1(-v);
  }
}

}  // namespace convoke::nn
