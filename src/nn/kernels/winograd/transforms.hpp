#pragma once
// The one-dimensional transforms of F(m, 3) for m = 2, 3 and 4. They use the first m + 2 of the points 0, 1,
// -1, infinity, 2, -2. All three use the filter transform G of F(4, 3), and B contains the correction for
// smaller tiles, so one set of transformed weights serves tiles of every size. Source: Lavin and Gray, Fast
// Algorithms for Convolutional Neural Networks, arXiv:1509.09308.
#include "nn/kernels/winograd/simd.hpp"

namespace convoke::nn {
namespace {

/// m: outputs of a tile along one axis.
///   input:    B^T d, m + 2 -> m + 2
///   output:   A^T s, m + 2 -> m
///   gradient: A d,   m -> m + 2, the transpose of output
///   spread:   B s, m + 2 -> m + 2, the transpose of input
template <int m>
struct Transform;

template <>
struct Transform<4> {
  static void input(const Vec* d, Vec* s) {
    const Vec even = fnma(all(4), d[2], d[4]), odd = fnma(all(4), d[1], d[3]);
    const Vec far_even = d[4] - d[2], far_odd = (d[3] - d[1]) + (d[3] - d[1]);
    s[0] = fma(all(4), d[0], fnma(all(5), d[2], d[4]));
    s[1] = even + odd;
    s[2] = even - odd;
    s[3] = fma(all(4), d[1], fnma(all(5), d[3], d[5]));
    s[4] = far_even + far_odd;
    s[5] = far_even - far_odd;
  }
  static void output(const Vec* s, Vec* y) {
    const Vec even = s[1] + s[2], odd = s[1] - s[2], far_even = s[4] + s[5], far_odd = s[4] - s[5];
    y[0] = (s[0] + even) + far_even;
    y[1] = fma(all(2), far_odd, odd);
    y[2] = fma(all(4), far_even, even);
    y[3] = fma(all(8), far_odd, odd) + s[3];
  }
  static void gradient(const Vec* d, Vec* s) {
    const Vec even = d[0] + d[2], odd = d[1] + d[3];
    const Vec far_even = fma(all(4), d[2], d[0]), half_odd = fma(all(4), d[3], d[1]);
    const Vec far_odd = half_odd + half_odd;
    s[0] = d[0];
    s[1] = even + odd;
    s[2] = even - odd;
    s[3] = d[3];
    s[4] = far_even + far_odd;
    s[5] = far_even - far_odd;
  }
  static void spread(const Vec* s, Vec* d) {
    const Vec even = s[1] + s[2], odd = s[1] - s[2], far_even = s[4] + s[5], far_odd = s[4] - s[5];
    d[0] = all(4) * s[0];
    d[1] = fma(all(4), s[3] - odd, all(-2) * far_odd);
    d[2] = fnma(all(5), s[0], fnma(all(4), even, -far_even));
    d[3] = fma(all(2), far_odd, fnma(all(5), s[3], odd));
    d[4] = (s[0] + even) + far_even;
    d[5] = s[3];
  }
};

template <>
struct Transform<3> {
  static void input(const Vec* d, Vec* s) {
    const Vec difference = d[3] - d[1];
    s[0] = fma(all(4), d[0] - d[2], (d[3] - d[1]) + (d[3] - d[1]));
    s[1] = fma(all(3), d[3] - d[2], all(-6) * d[1]);
    s[2] = fma(all(2), d[1], fnma(all(3), d[2], d[3]));
    s[3] = fma(all(2), d[1] - d[3], d[4] - d[2]);
    s[4] = all(4) * difference;
  }
  static void output(const Vec* s, Vec* y) {
    const Vec even = s[1] + s[2], odd = s[1] - s[2];
    y[0] = (s[0] + even) + s[4];
    y[1] = fma(all(2), s[4], odd);
    y[2] = fma(all(4), s[4], even) + s[3];
  }
  static void gradient(const Vec* d, Vec* s) {
    const Vec even = d[0] + d[2];
    s[0] = d[0];
    s[1] = even + d[1];
    s[2] = even - d[1];
    s[3] = d[2];
    s[4] = fma(all(4), d[2], fma(all(2), d[1], d[0]));
  }
  static void spread(const Vec* s, Vec* d) {
    const Vec near = all(3) * s[1], half = fma(all(2), s[4], s[0] - s[3]);
    d[0] = all(4) * s[0];
    d[1] = fma(all(-2), near + half, all(2) * s[2]);
    d[2] = fnma(all(4), s[0], fnma(all(3), s[2], -(near + s[3])));
    d[3] = fma(all(2), half, near + s[2]);
    d[4] = s[3];
  }
};

template <>
struct Transform<2> {
  static void input(const Vec* d, Vec* s) {
    s[0] = all(4) * (d[0] - d[2]);
    s[1] = all(-3) * (d[1] + d[2]);
    s[2] = all(3) * (d[1] - d[2]);
    s[3] = d[3] - d[1];
  }
  static void output(const Vec* s, Vec* y) {
    y[0] = s[0] + (s[1] + s[2]);
    y[1] = (s[1] - s[2]) + s[3];
  }
  static void gradient(const Vec* d, Vec* s) {
    s[0] = d[0];
    s[1] = d[0] + d[1];
    s[2] = d[0] - d[1];
    s[3] = d[1];
  }
  static void spread(const Vec* s, Vec* d) {
    d[0] = all(4) * s[0];
    d[1] = fma(all(3), s[2] - s[1], -s[3]);
    d[2] = fma(all(-3), s[1] + s[2], -d[0]);
    d[3] = s[3];
  }
};

/// G g, 3 -> 6.
inline void transform_filter(const Vec* g, Vec* s) {
  const Vec ends = g[0] + g[2], far_ends = fma(all(4), g[2], g[0]), twice = g[1] + g[1];
  s[0] = all(1.0F / 4) * g[0];
  s[1] = all(-1.0F / 6) * (ends + g[1]);
  s[2] = all(-1.0F / 6) * (ends - g[1]);
  s[3] = g[2];
  s[4] = all(1.0F / 24) * (far_ends + twice);
  s[5] = all(1.0F / 24) * (far_ends - twice);
}

/// G^T s, 6 -> 3: the gradient of a filter from the gradient of its transform.
inline void transform_filter_gradient(const Vec* s, Vec* g) {
  const Vec near = all(-1.0F / 6), far = all(1.0F / 24);
  const Vec sum = near * (s[1] + s[2]), far_sum = far * (s[4] + s[5]);
  g[0] = fma(all(1.0F / 4), s[0], sum + far_sum);
  g[1] = fma(near, s[1] - s[2], all(1.0F / 12) * (s[4] - s[5]));
  g[2] = fma(all(4), far_sum, sum) + s[3];
}

/// A transform along both axes: `first` for each column of the (in_rows x in_columns) values read(a, b), then
/// `second` for each row of that result. Calls write(a, b, value) for the (out_rows x out_columns) results.
template <int in_rows, int in_columns, int out_rows, int out_columns, auto first, auto second, class Read,
          class Write>
[[gnu::always_inline]] inline void transform_axes(const Read& read, const Write& write) {
  Vec half[out_rows][in_columns];
#pragma GCC unroll 6
  for (int b = 0; b < in_columns; ++b) {
    Vec from[in_rows], to[out_rows];
#pragma GCC unroll 6
    for (int a = 0; a < in_rows; ++a) from[a] = read(a, b);
    first(from, to);
#pragma GCC unroll 6
    for (int a = 0; a < out_rows; ++a) half[a][b] = to[a];
  }
#pragma GCC unroll 6
  for (int a = 0; a < out_rows; ++a) {
    Vec to[out_columns];
    second(half[a], to);
#pragma GCC unroll 6
    for (int b = 0; b < out_columns; ++b) write(a, b, to[b]);
  }
}

}  // namespace
}  // namespace convoke::nn
