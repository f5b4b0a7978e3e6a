#include "interop/keras/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop::keras {
namespace {

std::string joined(const std::vector<Place>& path) { return join(names_in(path), "."); }

std::size_t node_of(const Value& value) {
  if (value.mask_parts) throw Error("reads a mask as numbers, which is not supported");
  if (value.grouped) {
    throw Error("reads a value with four axes; supported are three",
                "Convoke reads a Reshape, Permute and Reshape that shuffle channels");
  }
  return value.node;
}

// True if (C, H, W) and (H, W, C) have their elements in the same order.
bool same_order(const Shape& image) { return image[0] == 1 || image[1] * image[2] == 1; }

// The penalties l1 sum |w| + l2 sum w^2 of a layer's weights: "kernel_regularizer" and others.
constexpr std::array<std::string_view, 5> kOfWeights{"kernel_regularizer", "recurrent_regularizer",
                                                     "depthwise_regularizer", "pointwise_regularizer",
                                                     "embeddings_regularizer"};
constexpr std::array<std::string_view, 4> kOfOthers{"bias_regularizer", "activity_regularizer",
                                                    "beta_regularizer", "gamma_regularizer"};

struct Penalty {
  double l1 = 0, l2 = 0;
  friend bool operator==(const Penalty&, const Penalty&) = default;
};

// {"class_name": "L2", "config": {"l2": 0.01}}; older versions write the numbers as arrays without axes.
std::optional<Penalty> penalty_of(const Json& regularizer) {
  const std::string kind = text_of(member(regularizer, "class_name"));
  const Json& config = member(regularizer, "config");
  if ((kind != "L1" && kind != "L2" && kind != "L1L2") || !config.is_object()) return std::nullopt;
  const auto factor = [&](const char* key) {
    const Json& value = member(config, key);
    return value.is_number() ? std::max(0.0, value.get<double>()) : 0.0;
  };
  return Penalty{factor("l1"), factor("l2")};
}

// Gives `node` the penalties of a layer's settings. Leaves out, with a note, penalties of biases and
// outputs, and penalties that are not equal for all weights of the layer.
void penalize(const Call& call, std::size_t node) {
  const Config& config = call.config();
  std::optional<Penalty> common;
  bool left_out =
      std::any_of(kOfOthers.begin(), kOfOthers.end(), [&](std::string_view key) { return config.has(key); });
  for (const std::string_view key : kOfWeights) {
    if (!config.json().contains(key)) continue;
    const std::optional<Penalty> own = config.has(key) ? penalty_of(config.at(key)) : Penalty{};
    left_out = left_out || !own || (common && common != own);
    if (!common) common = own;
  }
  bool constrained = false;
  for (const auto& [key, value] : config.json().items())
    constrained = constrained || (key.ends_with("_constraint") && !value.is_null());
  if (constrained) {
    call.note(fmt::format("{} \"{}\" constrains its weights after each step, which was left out",
                          call.options().class_name, call.name()));
  }
  if (common && *common != Penalty{} && !left_out) call.builder().penalize(node, common->l1, common->l2);
  if (!left_out) return;
  call.note(
      fmt::format("{} \"{}\" has penalties that a layer of Convoke has not (other than l1 and l2, or not "
                  "on all weights alike); they were left out",
                  call.options().class_name, call.name()));
}

}  // namespace

Call::Call(Context& context, const Json& config, Options options, std::vector<Value> inputs,
           std::vector<Argument> arguments)
    : context_(context),
      config_(config),
      options_(std::move(options)),
      inputs_(std::move(inputs)),
      arguments_(std::move(arguments)),
      name_(joined(options_.path)) {}

Value Call::input() const {
  if (inputs_.size() != 1) {
    throw Error(fmt::format("reads {} tensors; it is supported with one", inputs_.size()));
  }
  return inputs_.front();
}

Shape Call::keras_shape(const Value& value) const {
  const Shape& own = shape(value);
  if (own.rank() != 3 || context_.channels_first) return own;
  return {own[1], own[2], own[0]};
}

Value Call::plain(const Value& value) const {
  if (value.flattened.rank() == 0) return value;
  Value image = add(reshape_to(value.flattened), value, "image");
  image.flattened = {};
  const Value ordered = add(permute_by({2, 3, 1}), image, "channels_last");
  return add(reshape_to({shape(value).elements()}), ordered, "flat");
}

Value Call::add(const Settings& layer, const std::vector<Value>& inputs, std::string_view suffix) const {
  std::vector<std::size_t> nodes;
  for (const Value& input : inputs) nodes.push_back(node_of(input));
  const std::string full = suffix.empty() ? name_ : fmt::format("{}.{}", name_, suffix);
  Value out = inputs.front();
  out.node = builder().add(layer, std::move(nodes), full);
  return out;
}

Value Call::add_weighted(const Settings& layer, const std::vector<Value>& inputs, std::string_view suffix,
                         std::optional<std::vector<Tensor>> tensors) const {
  const std::string full = suffix.empty() ? name_ : fmt::format("{}.{}", name_, suffix);
  std::vector<std::string> key = names_in(options_.path);
  key.emplace_back(suffix);
  const auto owner = context_.owners.find(key);
  Value out = inputs.front();
  if (owner != context_.owners.end() && out.flattened != owner->second.flattened) {
    // The weights are in the order of the first use.
    out = plain(out);
    if (const Shape image = owner->second.flattened; image.rank() == 3) {
      const Value last = add(reshape_to({image[1], image[2], image[0]}), out, "channels_last");
      const Value first = add(permute_by({3, 1, 2}), last, "image");
      out = add(reshape_to({image.elements()}), first, "flat");
      out.flattened = image;
    }
  }
  std::vector<std::size_t> nodes{node_of(out)};
  for (std::size_t i = 1; i < inputs.size(); ++i) nodes.push_back(node_of(inputs[i]));
  if (owner != context_.owners.end()) {
    if (*layer.find("layer") == convoke::Value("batch_norm") && options_.trainable && !options_.inference) {
      note(fmt::format(
          "{} \"{}\" is called several times: each training step moves its statistics once, by the "
          "mean of the calls, while Keras does so in each call",
          options_.class_name, name_));
    }
    out.node = builder().share(owner->second.node, std::move(nodes), full);
    return out;
  }
  out.node = builder().add(layer, std::move(nodes), full);
  context_.owners[std::move(key)] = out;
  const std::vector<Tensor> stored = tensors ? std::move(*tensors) : this->tensors();
  for (Piece& piece : match_tensors(builder().graph().node(out.node), stored, inputs.front().flattened)) {
    builder().give(out.node, piece.parameter, std::move(piece.fill));
  }
  penalize(*this, out.node);
  if (!options_.trainable && !builder().graph().node(out.node).parameters.empty()) {
    builder().freeze(out.node);
    context_.frozen.insert(name_);
  }
  return out;
}

// The same elements in the same order of Keras. Ours are reordered only where it matters.
Value Call::reshaped(const Value& value, const Shape& to, std::string_view suffix) const {
  const bool last = !context_.channels_first;
  const auto shape_node = [&](const Value& from, const Shape& own, std::string_view part) {
    return shape(from) == own ? from : add(reshape_to(own), from, part);
  };
  const Shape target = to.rank() == 3 && last ? Shape{to[2], to[0], to[1]} : to;
  if (to.rank() == 0 || to.rank() > 3) {
    throw Error(fmt::format("gives the shape {}; values have one to three axes", to.with_batch()));
  }
  if (to.elements() != shape(value).elements()) {
    throw Error(fmt::format("its input {} does not fit the shape {}", keras_shape(value).with_batch(),
                            to.with_batch()));
  }
  Value from = value;
  from.mask.reset();
  if (to.rank() == 3 && value.flattened == target) {  // back to the image that it was
    from.flattened = {};
    return shape_node(from, target, suffix);
  }
  from = plain(from);
  const Shape own = shape(from);
  if (last && own.rank() == 3 && !same_order(own)) {
    if (to.rank() == 3 && target[0] == own[0]) return shape_node(from, target, suffix);
    if (to.rank() == 1) {
      Value flat = add({{"layer", "flatten"}}, from, suffix);
      flat.flattened = own;
      return flat;
    }
    from = add(permute_by({2, 3, 1}), from, "channels_last");
  }
  if (!last || to.rank() != 3 || same_order(target)) {
    if (to.rank() == 1 && shape(from).rank() == 3 && own == shape(from)) {
      return add({{"layer", "flatten"}}, from, suffix);
    }
    return shape_node(from, target, suffix);
  }
  from = shape_node(from, to, "channels_last");
  return add(permute_by({3, 1, 2}), from, suffix);
}

std::string Call::axis(const Value& value, std::int64_t keras_axis) const {
  const auto rank = static_cast<std::int64_t>(shape(value).rank());
  const std::int64_t from_one = keras_axis < 0 ? keras_axis + rank + 1 : keras_axis;
  if (from_one < 1 || from_one > rank) {
    throw Error(fmt::format("its axis {} is the batch, or no axis of {}", keras_axis,
                            keras_shape(value).with_batch()));
  }
  if (rank == 1) return "features";
  if (rank == 2) return from_one == 1 ? "time" : "features";
  const std::array<const char*, 3> names = context_.channels_first
                                               ? std::array{"channels", "height", "width"}
                                               : std::array{"height", "width", "channels"};
  return names.at(static_cast<std::size_t>(from_one - 1));
}

Value Call::activated(const Value& value, std::string_view key) const {
  return activate(*this, value, config_.at(key));
}

}  // namespace convoke::interop::keras
