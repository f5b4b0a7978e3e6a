#include <string>

#include "convoke/nn/layers/resize.hpp"
#include "interop/keras/composition.hpp"

namespace convoke::interop::keras_export {
namespace {

// A frozen Dense layer multiplies the last axis. `dims` moves the axis there, and is its own inverse.
KerasTensor mix_along(Composition& c, const std::string& part, const KerasTensor& x, const AxisMatrix& matrix,
                      const std::vector<std::int64_t>& dims) {
  const KerasTensor last = c.permute(part + "_last", x, dims);
  std::vector<std::int64_t> extents = last.shape.extents();
  extents.back() = matrix.outputs;
  const KerasTensor mixed =
      c.constant_dense(part, last, {matrix.inputs, matrix.outputs}, matrix.make, Shape(extents));
  return c.permute(part + "_back", mixed, dims);
}

AxisMatrix resizing(std::int64_t inputs, std::int64_t outputs, const nn::ResizeOptions& options) {
  return {inputs, outputs, [=] {
            std::vector<float> matrix(static_cast<std::size_t>(inputs * outputs));
            std::size_t o = 0;
            for (const nn::ResizedPixel& pixel : nn::resized_pixels(inputs, outputs, options)) {
              const auto at = static_cast<std::size_t>(pixel.pixel * outputs) + o++;
              matrix[at] = static_cast<float>(1 - pixel.next);
              if (pixel.next > 0)
                matrix[at + static_cast<std::size_t>(outputs)] = static_cast<float>(pixel.next);
            }
            return matrix;
          }};
}

}  // namespace

KerasTensor mix(Composition& c, const KerasTensor& image, const AxisMatrix& rows, const AxisMatrix& columns) {
  const KerasTensor narrow = mix_along(c, "columns", image, columns, {1, 3, 2});
  return mix_along(c, "rows", narrow, rows, {3, 2, 1});
}

// Keras resizes with half-pixel centers, and rounds half up where fp32 is exact: for whole factors.
KerasTensor compose_resize(Composition& c) {
  const nn::ResizeOptions& options = dynamic_cast<const nn::Resize&>(*c.node.layer).options();
  const Shape &in = c.input().shape, out = c.output();
  const bool nearest = options.method == nn::ResizeOptions::Method::kNearest;
  const bool half_pixel = options.centers == nn::ResizeOptions::Centers::kHalfPixel &&
                          options.rounding == nn::ResizeOptions::Rounding::kRoundPreferCeil;
  const bool whole = out[0] % in[0] == 0 && out[1] % in[1] == 0;
  if (half_pixel && whole) {
    return c.layer("", "UpSampling2D",
                   {{"size", Json::array({out[0] / in[0], out[1] / in[1]})},
                    {"data_format", "channels_last"},
                    {"interpolation", nearest ? "nearest" : "bilinear"}},
                   c.input(), out);
  }
  if (half_pixel && !nearest) {
    return c.layer("", "Resizing", {{"height", out[0]}, {"width", out[1]}, {"interpolation", "bilinear"}},
                   c.input(), out);
  }
  return mix(c, c.input(), resizing(in[0], out[0], options), resizing(in[1], out[1], options));
}

}  // namespace convoke::interop::keras_export
