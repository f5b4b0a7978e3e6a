#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "interop/keras/layers.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop::keras {
namespace {

using Parts = Value::MaskParts;

constexpr const char* kHint =
    "tokens other than 0 are masked by Embedding(mask_zero=True); leave Masking and other masks out";

// NotEqual(tokens, 0)
Parts tokens_present(const Call& call) {
  const Argument* constant = nullptr;
  for (const Argument& argument : call.arguments()) {
    if (!argument.call && argument.constant.is_number()) constant = &argument;
  }
  if (call.inputs().size() != 1 || constant == nullptr) {
    throw Error("compares tensors, which is not supported", kHint);
  }
  const Value& x = call.inputs().front();
  if (call.shape(x).rank() != 1 || call.builder().graph().node(x.node).shape.type != nn::ValueType::kToken) {
    throw Error("masks time steps by their values, as the layer Masking does, which is not supported", kHint);
  }
  if (constant->constant.get<double>() != 0) {
    throw Error(fmt::format("masks the token {}; supported is 0", constant->constant.dump()), kHint);
  }
  return {.tokens = x.node};
}

Parts all_parts(const Call& call) {
  Parts all;
  for (const Value& input : call.inputs()) {
    if (!input.mask_parts) throw Error("combines a mask with other numbers, which is not supported", kHint);
    const Parts& parts = *input.mask_parts;
    if (all.tokens && parts.tokens && all.tokens != parts.tokens) {
      throw Error("combines the masks of different tokens, which is not supported", kHint);
    }
    if (!all.tokens) all.tokens = parts.tokens;
    all.ones = all.ones || parts.ones;
    all.zeroes = all.zeroes || parts.zeroes;
  }
  return all;
}

// Masks are joined along the features only: other axes would mask other time steps.
void require_last_axis(const Call& call) {
  for (const std::int64_t axis : call.config().wholes("axis")) {
    if (axis != -1 && axis != 2) call.config().refuse("axis", "supported for masks is the last axis");
  }
}

Parts any_of(const Parts& parts) {
  if (parts.ones) return {.ones = true};
  return parts.tokens ? Parts{.tokens = parts.tokens} : parts;
}
Parts all_of(const Parts& parts) {
  if (parts.zeroes) return {.zeroes = true};
  return parts.tokens ? Parts{.tokens = parts.tokens} : parts;
}

struct MaskOperation {
  std::string_view name;
  Parts (*mask)(const Call& call);
};
constexpr std::array kMaskOperations{
    MaskOperation{"NotEqual", tokens_present},
    MaskOperation{"OnesLike", [](const Call&) { return Parts{.ones = true}; }},
    MaskOperation{"ZerosLike", [](const Call&) { return Parts{.zeroes = true}; }},
    MaskOperation{"ConvertToTensor", all_parts},
    MaskOperation{"ExpandDims", all_parts},
    MaskOperation{"Concatenate", all_parts},
    MaskOperation{"LogicalOr", [](const Call& call) { return any_of(all_parts(call)); }},
    MaskOperation{"LogicalAnd", [](const Call& call) { return all_of(all_parts(call)); }},
    MaskOperation{"Any", [](const Call& call) { return any_of(all_parts(call)); }},
    MaskOperation{"All", [](const Call& call) { return all_of(all_parts(call)); }},
};

const MaskOperation* find_mask_operation(const Call& call) {
  return find_named(kMaskOperations, call.options().class_name);
}

}  // namespace

bool computes_mask(const Call& call) {
  if (find_mask_operation(call) == nullptr) return false;
  const std::string& name = call.options().class_name;
  const bool joins = name == "Concatenate" || name == "LogicalOr" || name == "LogicalAnd";
  return !joins || std::any_of(call.inputs().begin(), call.inputs().end(),
                               [](const Value& input) { return input.mask_parts.has_value(); });
}

Value fold_mask(const Call& call) {
  const MaskOperation& operation = *find_mask_operation(call);
  require_last_axis(call);
  if (call.inputs().empty()) throw Error("reads no tensors");
  Value mask = call.inputs().front();
  mask.mask_parts = operation.mask(call);
  return mask;
}

Value mask_numbers(const Call& call, const Value& x) {
  return elementwise(call, "where", {"x", "1", "0"}, {{.node = *x.mask}}, "mask");
}

// An image (L, F, 1) has a channel for each time step, which a vector (L) scales.
Value kept_steps(const Call& call, const Value& x, const Value& mask, std::string_view suffix) {
  const Shape in = call.shape(x);
  const Value places = call.add(reshape_to({in[0], in[1], 1}), x, "places");
  return call.add(reshape_to(in), call.add({{"layer", "multiply"}}, {places, mask}, "times_mask"), suffix);
}

Value with_mask(Value x, const Value& mask) {
  if (!mask.mask_parts || mask.mask_parts->zeroes) {
    throw Error("gets a mask that is not computed from tokens, which is not supported", kHint);
  }
  x.mask = mask.mask_parts->tokens;
  if (mask.mask_parts->ones) x.mask.reset();
  return x;
}

}  // namespace convoke::interop::keras
