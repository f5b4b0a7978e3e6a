#include "nn/kernels/recurrent.hpp"

#include <algorithm>

#include "nn/kernels/curves.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {
namespace {

[[gnu::always_inline]] inline float tanh_of(float x) { return 1.0F - 2.0F / (1.0F + exponential(2.0F * x)); }

template <class T>
[[gnu::always_inline]] inline std::int64_t sample_of(const RecurrentStep<T>& p, std::int64_t n) {
  return p.order == nullptr ? n : p.order[n];
}

template <class T>
[[gnu::always_inline]] inline bool masked(const RecurrentStep<T>& p, std::int64_t n) {
  return p.tokens != nullptr && p.tokens[sample_of(p, n) * p.token_stride] == 0;
}

/// Returns W x + b of a row.
template <class T>
[[gnu::always_inline]] inline const T* input_of(const RecurrentStep<T>& p, std::int64_t n,
                                                std::int64_t width) {
  return p.input + (p.rows == nullptr ? n : p.rows[n]) * width;
}

/// Writes the copies of the state: the input of the next time step's gates, and the output.
template <class T>
[[gnu::always_inline]] inline void publish(const RecurrentStep<T>& p, std::int64_t n, bool skip) {
  const std::int64_t units = p.units, at = n * units;
  if (p.factors != nullptr) {
#pragma omp simd
    for (std::int64_t u = 0; u < units; ++u)
      store(p.dropped + at + u, load(p.h + at + u) * p.factors[at + u]);
  }
  if (p.y == nullptr || n >= p.outputs) return;
  const bool zero = skip && p.zero_masked;
  T* y = p.y + sample_of(p, n) * p.y_stride;
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) store(y + u, zero ? 0.0F : load(p.h + at + u));
}

/// dh <- dh + dy + back, the whole gradient of h.
template <class T>
[[gnu::always_inline]] inline void gather(const RecurrentStep<T>& p, std::int64_t n, bool skip) {
  const std::int64_t units = p.units, at = n * units;
  float* dh = p.dh + at;
  if (p.back != nullptr && p.factors != nullptr) {
#pragma omp simd
    for (std::int64_t u = 0; u < units; ++u) dh[u] += p.back[at + u] * p.factors[at + u];
  } else if (p.back != nullptr) {
#pragma omp simd
    for (std::int64_t u = 0; u < units; ++u) dh[u] += p.back[at + u];
  }
  if (p.dy == nullptr || n >= p.outputs || (skip && p.zero_masked)) return;
  const T* dy = p.dy + sample_of(p, n) * p.y_stride;
#pragma omp simd
  for (std::int64_t u = 0; u < units; ++u) dh[u] += load(dy + u);
}

template <class T>
void lstm_forward(const RecurrentStep<T>& p) {
  const std::int64_t units = p.units;
  for (std::int64_t n = 0; n < p.samples; ++n) {
    const std::int64_t at = n * units;
    const bool skip = masked(p, n);
    if (skip) {
      for (std::int64_t u = at; u < at + units; ++u) {
        p.h[u] = p.h_before[u];
        p.c[u] = p.c_before[u];
      }
    } else {
      const T *xi = input_of(p, n, 4 * units), *xf = xi + units, *xg = xf + units, *xo = xg + units;
      T *i = p.gates + 4 * at, *f = i + units, *g = f + units, *o = g + units;
      const float *ri = p.product + 4 * at, *rf = ri + units, *rg = rf + units, *ro = rg + units;
      const float* before = p.c_before + at;
      float* c = p.c + at;
      T* h = p.h + at;
#pragma omp simd
      for (std::int64_t u = 0; u < units; ++u) {
        const float vi = logistic(load(xi + u) + ri[u]);
        const float vf = logistic(load(xf + u) + rf[u]);
        const float vg = tanh_of(load(xg + u) + rg[u]);
        const float vo = logistic(load(xo + u) + ro[u]);
        const float vc = vf * before[u] + vi * vg;
        store(i + u, vi);
        store(f + u, vf);
        store(g + u, vg);
        store(o + u, vo);
        c[u] = vc;
        store(h + u, vo * tanh_of(vc));
      }
    }
    publish(p, n, skip);
  }
}

template <class T>
void lstm_backward(const RecurrentStep<T>& p) {
  const std::int64_t units = p.units;
  for (std::int64_t n = 0; n < p.samples; ++n) {
    const std::int64_t at = n * units;
    const bool skip = masked(p, n);
    gather(p, n, skip);
    T *i = p.gates + 4 * at, *f = i + units, *g = f + units, *o = g + units;
    if (skip) {  // dh and dc pass through
      for (std::int64_t u = 0; u < 4 * units; ++u) i[u] = T(0.0F);
      continue;
    }
    const float *before = p.c_before + at, *c = p.c + at;
    float *dh = p.dh + at, *dc = p.dc + at;
#pragma omp simd
    for (std::int64_t u = 0; u < units; ++u) {
      const float vi = load(i + u), vf = load(f + u), vg = load(g + u), vo = load(o + u);
      const float t = tanh_of(c[u]);
      const float d = dc[u] + dh[u] * vo * (1 - t * t);
      store(o + u, dh[u] * t * vo * (1 - vo));
      store(i + u, d * vg * vi * (1 - vi));
      store(f + u, d * before[u] * vf * (1 - vf));
      store(g + u, d * vi * (1 - vg * vg));
      dc[u] = d * vf;
      dh[u] = 0;
    }
  }
}

template <class T>
void gru_forward(const RecurrentStep<T>& p) {
  const std::int64_t units = p.units;
  for (std::int64_t n = 0; n < p.samples; ++n) {
    const std::int64_t at = n * units;
    const bool skip = masked(p, n);
    if (skip) {
      for (std::int64_t u = at; u < at + units; ++u) p.h[u] = p.h_before[u];
    } else {
      const T *xz = input_of(p, n, 3 * units), *xr = xz + units, *xg = xr + units;
      T *z = p.gates + 3 * at, *r = z + units, *g = r + units;
      const float *rz = p.product + 3 * at, *rr = rz + units, *rg = rr + units;
      const T* before = p.h_before + at;
      T *q = p.candidate + at, *h = p.h + at;
#pragma omp simd
      for (std::int64_t u = 0; u < units; ++u) {
        const float vz = logistic(load(xz + u) + rz[u]);
        const float vr = logistic(load(xr + u) + rr[u]);
        const float vg = tanh_of(load(xg + u) + vr * rg[u]);
        store(z + u, vz);
        store(r + u, vr);
        store(g + u, vg);
        store(q + u, rg[u]);
        store(h + u, vz * load(before + u) + (1 - vz) * vg);
      }
    }
    publish(p, n, skip);
  }
}

template <class T>
void gru_backward(const RecurrentStep<T>& p) {
  const std::int64_t units = p.units;
  for (std::int64_t n = 0; n < p.samples; ++n) {
    const std::int64_t at = n * units;
    const bool skip = masked(p, n);
    gather(p, n, skip);
    T *z = p.gates + 3 * at, *r = z + units, *g = r + units;
    T *dz = p.recurrent_gates + 3 * at, *dr = dz + units, *dq = dr + units;
    if (skip) {
      for (std::int64_t u = 0; u < 3 * units; ++u) z[u] = dz[u] = T(0.0F);
      continue;
    }
    const T *before = p.h_before + at, *q = p.candidate + at;
    float* dh = p.dh + at;
#pragma omp simd
    for (std::int64_t u = 0; u < units; ++u) {
      const float vz = load(z + u), vr = load(r + u), vg = load(g + u), d = dh[u];
      const float da = d * (1 - vz) * (1 - vg * vg);
      const float sz = d * (load(before + u) - vg) * vz * (1 - vz);
      const float sr = da * load(q + u) * vr * (1 - vr);
      store(z + u, sz);
      store(dz + u, sz);
      store(r + u, sr);
      store(dr + u, sr);
      store(g + u, da);
      store(dq + u, da * vr);
      dh[u] = d * vz;
    }
  }
}

template <class T>
void scale_time_steps(const T* x, const float* factors, std::int64_t length, std::int64_t row, T* y) {
  for (std::int64_t l = 0; l < length; ++l) {
#pragma omp simd
    for (std::int64_t i = 0; i < row; ++i) store(y + l * row + i, load(x + l * row + i) * factors[i]);
  }
}

template <class T>
[[gnu::always_inline]] inline void scaled(const T* x, const float* factors, std::int64_t width, T* y) {
  if (factors == nullptr) {
    std::copy(x, x + width, y);
    return;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < width; ++i) store(y + i, load(x + i) * factors[i]);
}

[[gnu::always_inline]] inline const float* factors_at(const float* factors, std::int64_t position,
                                                      std::int64_t samples, std::int64_t width) {
  return factors == nullptr ? nullptr : factors + position % samples * width;
}

template <class T>
void gather_rows(const EqualRows& rows, const T* x, const float* factors, std::int64_t samples,
                 std::int64_t width, T* y) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t at = rows.positions[rows.start[i]];
    scaled(x + at * width, factors_at(factors, at, samples, width), width, y + i * width);
  }
}

template <class T>
void sum_rows(const EqualRows& rows, const T* x, std::int64_t width, float* sum, T* y) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::fill(sum, sum + width, 0.0F);
    for (std::int64_t p = rows.start[i]; p < rows.start[i + 1]; ++p) {
      const T* from = x + rows.positions[p] * width;
#pragma omp simd
      for (std::int64_t k = 0; k < width; ++k) sum[k] += load(from + k);
    }
    T* to = y + i * width;
#pragma omp simd
    for (std::int64_t k = 0; k < width; ++k) store(to + k, sum[k]);
  }
}

template <class T>
void scatter_rows(const EqualRows& rows, const T* x, const float* factors, std::int64_t samples,
                  std::int64_t width, T* y) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t at = rows.positions[rows.start[i]];
    scaled(x + i * width, factors_at(factors, at, samples, width), width, y + at * width);
    for (std::int64_t p = rows.start[i] + 1; p < rows.start[i + 1]; ++p) {
      T* const repeated = y + rows.positions[p] * width;
      std::fill(repeated, repeated + width, T(0.0F));
    }
  }
}

}  // namespace

CONVOKE_KERNELS(RecurrentKernels, lstm_forward, lstm_backward, gru_forward, gru_backward, scale_time_steps,
                gather_rows, sum_rows, scatter_rows)

}  // namespace convoke::nn
