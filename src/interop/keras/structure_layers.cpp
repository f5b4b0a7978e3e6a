#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "interop/keras/call.hpp"

// Layers that move values without changing them, and those that act in training only.

namespace convoke::interop::keras {
namespace {

using Setting = convoke::Value;

Setting list(std::initializer_list<std::int64_t> values) {
  return Setting::Array(values.begin(), values.end());
}

// ((top, bottom), (left, right)), (height, width) or a number.
Setting border(const Call& call, std::string_view key) {
  const Json& value = call.config().at(key);
  const auto whole = [&](const Json& one) -> std::int64_t {
    if (!one.is_number_integer() || one.get<std::int64_t>() < 0 || one.get<std::int64_t>() > (1 << 20)) {
      call.config().refuse(key, "numbers of at least 0 are expected");
    }
    return one.get<std::int64_t>();
  };
  if (value.is_array() && value.size() == 2 && value[0].is_array() && value[1].is_array() &&
      value[0].size() == 2 && value[1].size() == 2) {
    return list({whole(value[0][0]), whole(value[0][1]), whole(value[1][0]), whole(value[1][1])});
  }
  const nn::Extent both = call.config().extent(key, 1);
  return list({both.height, both.height, both.width, both.width});
}

// (before, after) along a sequence, or a number for both.
std::array<std::int64_t, 2> ends(const Call& call, std::string_view key) {
  const nn::Extent both = call.config().extent(key, 1);
  if (both.height < 0 || both.width < 0) call.config().refuse(key, "numbers of at least 0 are expected");
  return {both.height, both.width};
}

// Applies an image layer to a sequence (L, F) as the image (1, L, F).
Value as_image(const Call& call, const Settings& layer) {
  const Value x = unmasked(call.plain_input());
  require_rank(call, x, 2);
  const Shape in = call.shape(x);
  const Value image = call.add(reshape_to({1, in[0], in[1]}), x, "image");
  const Value out = call.add(layer, image, std::string(layer.find("layer")->to_string().substr(1, 6)));
  const Shape& shape = call.shape(out);
  return call.add(reshape_to({shape[1], shape[2]}), out);
}

std::string method(const Call& call, std::string_view fallback) {
  const std::string method = call.config().text("interpolation", fallback);
  if (method != "nearest" && method != "bilinear") {
    call.config().refuse("interpolation", "supported are \"nearest\" and \"bilinear\"");
  }
  return method;
}

// ShuffleNet: (H, W, C) -> (H, W, groups, C / groups) -> (H, W, C / groups, groups) -> (H, W, C), which is
// one layer of ours. Until the last Reshape, the value is the image with a note.
using Extents = std::vector<std::int64_t>;

Value grouped(const Call& call, Value x, const Extents& to) {
  const Shape image = call.keras_shape(x);
  const bool channels = !call.context().channels_first && image.rank() == 3 && to[0] == image[0] &&
                        to[1] == image[1] && to[2] * to[3] == image[2];
  if (!channels) {
    call.config().refuse("target_shape",
                         "four axes are supported where they divide the channels: (H, W, "
                         "groups, channels / groups)");
  }
  x.grouped = {.groups = to[2]};
  return unmasked(x);
}

Value swapped(const Call& call, Value x) {
  if (call.config().wholes("dims") != Extents{1, 2, 4, 3} || x.grouped->swapped) {
    call.config().refuse("dims", "[1, 2, 4, 3] is supported for four axes");
  }
  x.grouped->swapped = true;
  return x;
}

Value shuffled(const Call& call, Value x, const Extents& to) {
  const std::int64_t groups = x.grouped->groups;
  const bool shuffles = x.grouped->swapped;
  x.grouped.reset();
  if (Shape(to) != call.keras_shape(x)) {
    call.config().refuse("target_shape", "after four axes, the shape before them is supported");
  }
  return shuffles ? call.add({{"layer", "channel_shuffle"}, {"groups", groups}}, x) : x;
}

// With data_format = "channels_first", Keras moves its first axis to the end before it flattens: an image
// (C, H, W) becomes a vector in the order (H, W, C).
Value convert_flatten(const Call& call) {
  const Value x = unmasked(call.plain_input());
  const Shape own = call.shape(x), all{own.elements()};
  if (own.rank() == 1) return x;
  if (call.config().text("data_format", "channels_last") != "channels_first") return call.reshaped(x, all);
  if (own.rank() == 2) {
    return call.reshaped(call.add(permute_by({2, 1}), x, "moved"), all);
  }
  if (call.context().channels_first) {
    Value flat = call.add({{"layer", "flatten"}}, x);
    if (own[0] != 1 && own[1] * own[2] != 1) flat.flattened = own;
    return flat;
  }
  // Ours is (C, H, W) and Keras' (H, W, C), which becomes (W, C, H).
  const Value moved = call.add(permute_by({3, 1, 2}), x, "moved");
  return call.add({{"layer", "flatten"}}, moved);
}

Value convert_reshape(const Call& call) {
  const Value x = call.input();
  std::vector<std::int64_t> extents = call.config().wholes("target_shape");
  std::int64_t known = 1;
  const std::int64_t all = call.shape(x).elements();
  for (const std::int64_t extent : extents) {
    const bool good = extent == -1 || (extent >= 1 && known <= all / extent);
    if (!good) call.config().refuse("target_shape", fmt::format("the input has {} elements", all));
    if (extent > 0) known *= extent;
  }
  for (std::int64_t& extent : extents) {
    if (extent == -1) {
      extent = all / known;
      known = all;
    }
  }
  if (x.grouped) return shuffled(call, x, extents);
  if (extents.size() == 4) return grouped(call, x, extents);
  return call.reshaped(x, Shape(extents));
}

// Axis i of Keras' result is its axis dims[i], counted from 1.
Value convert_permute(const Call& call) {
  if (call.input().grouped) return swapped(call, call.input());
  const Value x = call.plain_input();
  const std::size_t rank = call.shape(x).rank();
  const std::vector<std::int64_t> dims = call.config().wholes("dims");
  const bool last = rank == 3 && !call.context().channels_first;
  // ours[i]: the number of Keras' axis i + 1 among our axes; keras[i]: the reverse
  const std::array<std::int64_t, 3> ours =
      last ? std::array<std::int64_t, 3>{2, 3, 1} : std::array<std::int64_t, 3>{1, 2, 3};
  const std::array<std::int64_t, 3> keras =
      last ? std::array<std::int64_t, 3>{3, 1, 2} : std::array<std::int64_t, 3>{1, 2, 3};
  if (dims.size() != rank) call.config().refuse("dims", fmt::format("the input has {} axes", rank));
  Extents order;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from = dims.at(static_cast<std::size_t>(keras.at(i) - 1));
    if (from < 1 || from > static_cast<std::int64_t>(rank)) call.config().refuse("dims", "axes count from 1");
    order.push_back(ours.at(static_cast<std::size_t>(from - 1)));
  }
  return call.add(permute_by(order), unmasked(x));
}

// (F) -> (n, F)
Value convert_repeat_vector(const Call& call) {
  const Value x = call.plain_input();
  if (call.shape(x).rank() != 1) throw Error("needs a vector");
  const std::int64_t features = call.shape(x)[0], n = call.config().whole("n");
  const Value row = call.add(reshape_to({1, 1, features}), x, "row");
  const Value rows = call.add({{"layer", "resize"}, {"size", list({n, features})}}, row, "rows");
  return call.add(reshape_to({n, features}), rows);
}

Value convert_zero_padding1d(const Call& call) {
  const auto [before, after] = ends(call, "padding");
  return as_image(call, {{"layer", "zero_pad"}, {"padding", list({before, after, 0, 0})}});
}

Value convert_zero_padding2d(const Call& call) {
  return call.add({{"layer", "zero_pad"}, {"padding", border(call, "padding")}}, call.plain_input());
}

Value convert_cropping1d(const Call& call) {
  const Value x = unmasked(call.plain_input());
  require_rank(call, x, 2);
  const auto [before, after] = ends(call, "cropping");
  const std::int64_t left = call.shape(x)[0] - before - after;
  if (left < 1)
    call.config().refuse("cropping", fmt::format("the sequence has {} time steps", call.shape(x)[0]));
  return call.add({{"layer", "slice"}, {"axis", "time"}, {"begin", before}, {"size", left}}, x);
}

Value convert_cropping2d(const Call& call) {
  return call.add({{"layer", "crop"}, {"cropping", border(call, "cropping")}}, call.plain_input());
}

Value convert_upsampling1d(const Call& call) {
  return as_image(call, {{"layer", "resize"}, {"scale", list({call.config().whole("size", 2), 1})}});
}

Value convert_upsampling2d(const Call& call) {
  const nn::Extent scale = call.config().extent("size", 2);
  const std::string interpolation = method(call, "nearest");
  Settings layer{
      {"layer", "resize"}, {"scale", list({scale.height, scale.width})}, {"method", interpolation}};
  if (call.context().made_in_tfjs && interpolation == "bilinear") layer.set("centers", "asymmetric");
  return call.add(layer, call.plain_input());
}

Value convert_resizing(const Call& call) {
  call.config().require_neutral("crop_to_aspect_ratio");
  call.config().require_neutral("pad_to_aspect_ratio");
  call.config().require_neutral("antialias");
  return call.add({{"layer", "resize"},
                   {"size", list({call.config().whole("height"), call.config().whole("width")})},
                   {"method", method(call, "bilinear")}},
                  call.plain_input());
}

Value convert_center_crop(const Call& call) {
  const Value x = call.plain_input();
  require_rank(call, x, 3);
  const std::int64_t height = call.config().whole("height"), width = call.config().whole("width");
  const std::int64_t rows = call.shape(x)[1] - height, columns = call.shape(x)[2] - width;
  if (rows < 0 || columns < 0) throw Error("enlarges its input, which is not supported");
  return call.add({{"layer", "crop"},
                   {"cropping", list({rows / 2, rows - rows / 2, columns / 2, columns - columns / 2})}},
                  x);
}

Value convert_dropout(const Call& call) {
  const double rate = call.config().number("rate");
  if (call.options().inference || rate == 0) return call.input();
  // (batch, 1, 1, 1) drops whole samples.
  const Json& noise = call.config().at("noise_shape");
  const bool whole =
      noise.is_array() && noise.size() > 1 &&
      std::all_of(noise.begin() + 1, noise.end(), [](const Json& one) { return one == Json(1); });
  if (whole) return call.add({{"layer", "stochastic_depth"}, {"rate", rate}}, call.input());
  call.config().require_neutral("noise_shape");
  return call.add({{"layer", "dropout"}, {"rate", rate}}, call.input());
}

Value convert_spatial_dropout(const Call& call) {
  if (call.options().inference) return call.input();
  return call.add({{"layer", "dropout"}, {"rate", call.config().number("rate")}, {"spatial", true}},
                  call.plain_input());
}

Value convert_stochastic_depth(const Call& call) {
  const double rate = call.config().number("drop_path_rate");
  if (call.options().inference || rate == 0) return call.input();
  return call.add({{"layer", "stochastic_depth"}, {"rate", rate}}, call.input());
}

Value convert_activity_regularization(const Call& call) {
  call.note(fmt::format("{} \"{}\" adds a penalty of outputs in training, which was left out",
                        call.options().class_name, call.name()));
  return call.input();
}

Value convert_identity(const Call& call) { return call.input(); }

}  // namespace

Value unmasked(Value x) {
  x.mask.reset();
  return x;
}

void require_rank(const Call& call, const Value& x, std::size_t rank) {
  if (call.shape(x).rank() != rank) {
    throw Error(fmt::format("needs {}, but its input is {}", rank == 3 ? "an image" : "a sequence",
                            call.keras_shape(x).with_batch()));
  }
}

Value convert_augmentation(const Call& call) {
  call.note(fmt::format("{} \"{}\" changes pictures in training and was left out: use the recipe's [augment]",
                        call.options().class_name, call.name()));
  return call.input();
}

const std::initializer_list<LayerClass> kStructureClasses{
    LayerClass{"ActivityRegularization", convert_activity_regularization},
    LayerClass{"CenterCrop", convert_center_crop},
    LayerClass{"Cropping1D", convert_cropping1d},
    LayerClass{"Cropping2D", convert_cropping2d},
    LayerClass{"Dropout", convert_dropout},
    LayerClass{"Flatten", convert_flatten},
    LayerClass{"Identity", convert_identity},
    LayerClass{"Permute", convert_permute},
    LayerClass{"RepeatVector", convert_repeat_vector},
    LayerClass{"Reshape", convert_reshape},
    LayerClass{"Resizing", convert_resizing},
    LayerClass{"SpatialDropout1D", convert_spatial_dropout},
    LayerClass{"SpatialDropout2D", convert_spatial_dropout},
    LayerClass{"StochasticDepth", convert_stochastic_depth},
    LayerClass{"UpSampling1D", convert_upsampling1d},
    LayerClass{"UpSampling2D", convert_upsampling2d},
    LayerClass{"ZeroPadding1D", convert_zero_padding1d},
    LayerClass{"ZeroPadding2D", convert_zero_padding2d},
};

}  // namespace convoke::interop::keras
