#include "interop/keras/layers.hpp"

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

// The mean of the time steps whose token is not 0: mean(m x) / mean(m), where m is 1 there and 0 elsewhere.
// An image (L, F, 1) has a channel for each time step, which a vector (L) scales.
Value masked_average(const Call& call, const Value& x) {
  const Shape in = call.shape(x);
  const auto reshaped = [&](const Value& value, const Shape& shape, std::string_view suffix) {
    return call.add(reshape_to(shape), value, suffix);
  };
  const auto mean = [&](const Value& value, std::string_view suffix) {
    return call.add({{"layer", "global_average_pool1d"}}, value, suffix);
  };
  const Value mask =
      call.add({{"layer", "elementwise"}, {"function", "where"}, {"operands", Setting::Array{"x", "1", "0"}}},
               Value{.node = *x.mask}, "mask");
  const Value kept =
      call.add({{"layer", "multiply"}}, {reshaped(x, {in[0], in[1], 1}, "places"), mask}, "kept");
  const Value sum = mean(reshaped(kept, {in[0], in[1]}, "sequence"), "sum");
  const Value share = mean(reshaped(mask, {in[0], 1}, "column"), "share");
  const Value factor =
      call.add({{"layer", "elementwise"}, {"function", "divide"}, {"operands", Setting::Array{"1", "x"}}},
               share, "factor");
  const Value scaled =
      call.add({{"layer", "multiply"}}, {reshaped(sum, {1, in[1], 1}, "row"), factor}, "scaled");
  return reshaped(scaled, {in[1]}, "");
}

}  // namespace

Value convert_pool(const Call& call) {
  Value x = call.plain_input();
  x.mask.reset();
  return call.add(settings_from(call), x);
}

// A sequence (L, F) is pooled as an image (F, L, 1).
Value convert_adaptive_pool(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  Value x = call.plain_input();
  x.mask.reset();
  const nn::Extent size = call.config().extent("output_size", 1);
  const auto pool = [&](const Value& image, std::int64_t height, std::int64_t width,
                        std::string_view suffix) {
    return call.add({{"layer", layer}, {"size", Setting::Array{height, width}}}, image, suffix);
  };
  const Shape in = call.shape(x);
  if (in.rank() == 3) return pool(x, size.height, size.width, "");
  const Value turned = call.add(permute_by({2, 1}), x, "features_first");
  const Value image = call.add(reshape_to({in[1], in[0], 1}), turned, "image");
  const Value pooled = pool(image, size.height, 1, "pooled");
  const Value flat = call.add(reshape_to({in[1], size.height}), pooled, "sequence");
  return call.add(permute_by({2, 1}), flat);
}

Value convert_global_pool(const Call& call) {
  const std::string_view layer = layer_of(call.options().class_name);
  const Value x = call.plain_input();
  const bool masked = x.mask && layer == "global_average_pool1d";
  const bool keeps = call.config().flag("keepdims", false);
  const Shape in = call.shape(x);
  Value y = masked ? masked_average(call, x) : call.add({{"layer", layer}}, x, keeps ? "vector" : "");
  y.mask.reset();
  if (!keeps) return y;
  return call.reshaped(y, in.rank() == 2                  ? Shape{1, in[1]}
                          : call.context().channels_first ? Shape{in[0], 1, 1}
                                                          : Shape{1, 1, in[0]});
}

}  // namespace convoke::interop::keras
