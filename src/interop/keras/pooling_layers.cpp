#include <fmt/format.h>

#include "interop/keras/layers.hpp"

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

Value pool2d(const Call& call, const char* layer) {
  const nn::Extent size = call.config().extent("pool_size", 2);
  const nn::Extent stride = call.config().extent("strides", size);
  return call.add({{"layer", layer},
                   {"size", Setting::Array{size.height, size.width}},
                   {"stride", Setting::Array{stride.height, stride.width}},
                   {"padding", call.config().text("padding", "valid")}},
                  call.plain_input());
}

void require_channels_last(const Call& call) {
  if (call.config().text("data_format", "channels_last") != "channels_last") {
    call.config().refuse("data_format", "sequences are supported with \"channels_last\"");
  }
}

Value pool1d(const Call& call, const char* layer) {
  require_channels_last(call);
  const std::int64_t size = call.config().first("pool_size", 2);
  Value x = call.plain_input();
  x.mask.reset();
  return call.add({{"layer", layer},
                   {"size", size},
                   {"stride", call.config().first("strides", size)},
                   {"padding", call.config().text("padding", "valid")}},
                  x);
}

// A sequence (L, F) is pooled as an image (F, L, 1).
Value adaptive_pool(const Call& call, const char* layer) {
  Value x = call.plain_input();
  x.mask.reset();
  const nn::Extent size = call.config().extent("output_size", 1);
  const auto pool = [&](const Value& image, std::int64_t height, std::int64_t width,
                        std::string_view suffix) {
    return call.add({{"layer", layer}, {"size", Setting::Array{height, width}}}, image, suffix);
  };
  const Shape in = call.shape(x);
  if (in.rank() == 3) return pool(x, size.height, size.width, "");
  require_channels_last(call);
  const Value turned = call.add({{"layer", "permute"}, {"dims", Setting::Array{2, 1}}}, x, "features_first");
  const Value image =
      call.add({{"layer", "reshape"}, {"shape", Setting::Array{in[1], in[0], 1}}}, turned, "image");
  const Value pooled = pool(image, size.height, 1, "pooled");
  const Value flat =
      call.add({{"layer", "reshape"}, {"shape", Setting::Array{in[1], size.height}}}, pooled, "sequence");
  return call.add({{"layer", "permute"}, {"dims", Setting::Array{2, 1}}}, flat);
}

// The mean of the time steps whose token is not 0: mean(m x) / mean(m), where m is 1 there and 0 elsewhere.
// An image (L, F, 1) has a channel for each time step, which a vector (L) scales.
Value masked_average(const Call& call, const Value& x) {
  const Shape in = call.shape(x);
  const auto reshaped = [&](const Value& value, Setting::Array shape, std::string_view suffix) {
    return call.add({{"layer", "reshape"}, {"shape", std::move(shape)}}, value, suffix);
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

Value global_pool(const Call& call, const char* layer, bool masked_differs) {
  Value x = call.plain_input();
  if (call.shape(x).rank() == 2) require_channels_last(call);
  const bool masked = x.mask && masked_differs;
  const bool keeps = call.config().flag("keepdims", false);
  const Shape in = call.shape(x);
  Value y = masked ? masked_average(call, x) : call.add({{"layer", layer}}, x, keeps ? "vector" : "");
  y.mask.reset();
  if (!keeps) return y;
  return call.reshaped(y, in.rank() == 2                  ? Shape{1, in[1]}
                          : call.context().channels_first ? Shape{in[0], 1, 1}
                                                          : Shape{1, 1, in[0]});
}

}  // namespace

Value convert_max_pool1d(const Call& call) { return pool1d(call, "max_pool1d"); }
Value convert_max_pool2d(const Call& call) { return pool2d(call, "max_pool"); }
Value convert_average_pool1d(const Call& call) { return pool1d(call, "average_pool1d"); }
Value convert_average_pool2d(const Call& call) { return pool2d(call, "average_pool"); }
Value convert_adaptive_average_pool(const Call& call) { return adaptive_pool(call, "adaptive_average_pool"); }
Value convert_adaptive_max_pool(const Call& call) { return adaptive_pool(call, "adaptive_max_pool"); }
Value convert_global_max_pool1d(const Call& call) { return global_pool(call, "global_max_pool1d", false); }
Value convert_global_max_pool2d(const Call& call) { return global_pool(call, "global_max_pool", false); }
Value convert_global_average_pool1d(const Call& call) {
  return global_pool(call, "global_average_pool1d", true);
}
Value convert_global_average_pool2d(const Call& call) {
  return global_pool(call, "global_average_pool", false);
}

}  // namespace convoke::interop::keras
