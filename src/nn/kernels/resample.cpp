#include "nn/kernels/resample.hpp"

#include <cstddef>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"

namespace convoke::nn {
namespace {

template <int N, class T>
[[gnu::always_inline]] inline void resample_plane(const ChannelBlocks& in, const AxisTaps& rows,
                                                  const AxisTaps& columns, const T* x, T* y) {
  const std::int64_t step = in.block, row = in.width * step;
  const std::int64_t height = rows.outputs(), width = columns.outputs();
  const std::int32_t *row_first = rows.first.data(), *column_first = columns.first.data();
  for (std::int64_t i = 0; i < height; ++i) {
    for (std::int64_t j = 0; j < width; ++j, y += step) {
      float sum[N];
#pragma omp simd
      for (int c = 0; c < N; ++c) sum[c] = 0;
      for (std::int32_t a = row_first[i]; a < row_first[i + 1]; ++a) {
        const T* line = x + rows.index[static_cast<std::size_t>(a)] * row;
        const float by = rows.weight[static_cast<std::size_t>(a)];
        for (std::int32_t b = column_first[j]; b < column_first[j + 1]; ++b) {
          const T* pixel = line + columns.index[static_cast<std::size_t>(b)] * step;
          const float weight = by * columns.weight[static_cast<std::size_t>(b)];
#pragma omp simd
          for (int c = 0; c < N; ++c) sum[c] += weight * static_cast<float>(pixel[c]);
        }
      }
#pragma omp simd
      for (int c = 0; c < N; ++c) y[c] = sum[c];
    }
  }
}

template <class T>
void resample(const ChannelBlocks& in, const AxisTaps& rows, const AxisTaps& columns, const T* x, T* y) {
  const std::int64_t out_pixels = rows.outputs() * columns.outputs();
  for (std::int64_t sample = 0; sample < in.samples; ++sample) {
    for_each_piece(
        in, [&](auto width, std::int64_t channel) __attribute__((always_inline)) {
          resample_plane<decltype(width)::value>(in, rows, columns,
                                                 x + plane_offset(in, in.pixels(), sample, channel),
                                                 y + plane_offset(in, out_pixels, sample, channel));
        });
  }
}

}  // namespace

CONVOKE_KERNELS(ResampleKernels, resample)

}  // namespace convoke::nn
