#include <fmt/format.h>

#include "convoke/core/error.hpp"
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

Value global_pool(const Call& call, const char* layer, bool masked_differs) {
  Value x = call.plain_input();
  if (call.shape(x).rank() == 2) require_channels_last(call);
  if (x.mask && masked_differs) {
    throw Error("takes the mean of the places that are not masked, which is not supported",
                "use Embedding(mask_zero=False), GlobalMaxPooling1D, or a recurrent layer");
  }
  x.mask.reset();
  const bool keeps = call.config().flag("keepdims", false);
  const Shape in = call.shape(x);
  const Value y = call.add({{"layer", layer}}, x, keeps ? "vector" : "");
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
Value convert_global_max_pool1d(const Call& call) { return global_pool(call, "global_max_pool1d", false); }
Value convert_global_max_pool2d(const Call& call) { return global_pool(call, "global_max_pool", false); }
Value convert_global_average_pool1d(const Call& call) {
  return global_pool(call, "global_average_pool1d", true);
}
Value convert_global_average_pool2d(const Call& call) {
  return global_pool(call, "global_average_pool", false);
}

}  // namespace convoke::interop::keras
