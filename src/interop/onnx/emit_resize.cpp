#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "convoke/nn/layers/resize.hpp"
#include "interop/onnx/emission.hpp"

namespace convoke::interop::onnx_export {
namespace {

// Where "nearest" lies between two pixels, only an exact quotient decides. Runtimes divide by the scale in
// fp32, which is exact if out / in is a float.
bool has_exact_scale(std::int64_t in, std::int64_t out) {
  return std::has_single_bit(static_cast<std::uint64_t>(in / std::gcd(in, out)));
}

std::string places(Emission& e, std::int64_t in, std::int64_t out, const nn::ResizeOptions& options) {
  std::vector<std::int64_t> list;
  for (const nn::ResizedPixel& pixel : nn::resized_pixels(in, out, options)) list.push_back(pixel.pixel);
  return e.integers("places", list);
}

// The factor by which runtimes, which round the product down, find `out`.
float scale_to(std::int64_t in, std::int64_t out) {
  float scale = static_cast<float>(out) / static_cast<float>(in);
  while (static_cast<double>(in) * static_cast<double>(scale) < static_cast<double>(out)) {
    scale = std::nextafter(scale, std::numeric_limits<float>::max());
  }
  return scale;
}

}  // namespace

// Our centers and roundings have ONNX's names. The batch is not known, so that only scales can give the size.
void emit_resize(Emission& e) {
  const nn::ResizeOptions& options = dynamic_cast<const nn::Resize&>(*e.node.layer).options();
  const bool nearest = options.method == nn::ResizeOptions::Method::kNearest;
  const Shape in = e.input_shape(), out = e.node.shape;
  const bool exact = options.centers == nn::ResizeOptions::Centers::kAlignCorners ||
                     (has_exact_scale(in[1], out[1]) && has_exact_scale(in[2], out[2]));
  if (nearest && !exact) {
    const std::string rows =
        e.op("Gather", {e.input(), places(e, in[1], out[1], options)}, {{"axis", std::int64_t{2}}});
    return e.result("Gather", {rows, places(e, in[2], out[2], options)}, {{"axis", std::int64_t{3}}});
  }
  const auto named = [&](const char* key, const char* otherwise) {
    return e.settings.has(key) ? e.settings.text(key) : std::string(otherwise);
  };
  OnnxAttributes attributes{{"coordinate_transformation_mode", named("centers", "half_pixel")},
                            {"mode", std::string(nearest ? "nearest" : "linear")}};
  if (nearest) attributes.push_back({"nearest_mode", named("rounding", "round_prefer_ceil")});
  const std::string scales = e.constant("scales", {4}, [in, out] {
    return std::vector<float>{1, 1, scale_to(in[1], out[1]), scale_to(in[2], out[2])};
  });
  e.result("Resize", {e.input(), "", scales}, attributes);
}

}  // namespace convoke::interop::onnx_export
