#include <fmt/format.h>

#include <cmath>

#include "interop/onnx/operators.hpp"

// Attention, softmax(scale q k^T) v for each head, as one operator or spelled out.

namespace convoke::interop::onnx {
namespace {

/// Query (..., L, d), key (..., S, d) and value (..., S, e) of attention; the axes before are the batch and
/// the heads, alone or joined.
struct AttentionInputs {
  View query, key, value;
};

View with_last_two_swapped(const View& view) {
  std::vector<std::size_t> order = all_axes(view.rank());
  std::swap(order[view.rank() - 2], order[view.rank() - 1]);
  return view.transposed(order);
}

/// The axes of the batch and the heads: extents before and after the batch within each axis.
std::vector<std::int64_t> leading_extents(const View& view) {
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis + 2 < view.rank(); ++axis) {
    extents.push_back(1);
    for (const int atom : view.axes[axis]) {
      if (atom == View::kBatch) {
        extents.insert(extents.end(), {0, 1});
      } else {
        extents.back() *= view.atoms[static_cast<std::size_t>(atom)];
      }
    }
  }
  return extents;
}

/// Returns the first three inputs, which have one rank of at least 3.
AttentionInputs inputs_of(Call& call) {
  AttentionInputs given{call.view(0), call.view(1), call.view(2)};
  const std::size_t rank = given.query.rank();
  if (rank < 3 || given.key.rank() != rank || given.value.rank() != rank) {
    call.refuse(
        fmt::format("is attention of values with {}, {} and {} axes", rank, given.key.rank(),
                    given.value.rank()),
        "Convoke converts attention of values with the batch, time steps and features, and perhaps heads");
  }
  return given;
}

void check_attention(Call& call, const AttentionInputs& given) {
  const auto& [q, k, v] = given;
  const std::size_t rank = q.rank();
  const auto refuse = [&](const std::string& why) {
    call.refuse(fmt::format("{} (query {}, key {}, value {})", why, to_string(q.dims()), to_string(k.dims()),
                            to_string(v.dims())),
                "Convoke converts attention of values (N, heads, L, features), (N, L, features) or "
                "(N x heads, L, features)");
  };
  for (const View* view : {&q, &k, &v}) {
    if (view->has_batch(rank - 1) || view->has_batch(rank - 2)) refuse("is attention between samples");
  }
  if (leading_extents(q) != leading_extents(k) || leading_extents(k) != leading_extents(v)) {
    refuse("is attention with different heads for query, key and value");
  }
  if (q.dim(rank - 1) != k.dim(rank - 1) || k.dim(rank - 2) != v.dim(rank - 2)) {
    refuse("is attention of values that do not fit");
  }
}

/// Returns the value as a sequence (L, heads x features).
View as_sequence(Call& call, const View& view) {
  std::vector<std::size_t> features;
  for (std::size_t axis = 0; axis + 2 < view.rank(); ++axis) features.push_back(axis);
  features.push_back(view.rank() - 1);
  return arranged(call.builder(), view,
                  std::vector<View::Axis>{view.axes[view.rank() - 2], atoms_of(view, features)});
}

/// Adds the layer. Returns the value (..., L, e).
View attend(Call& call, const AttentionInputs& given, double scale) {
  check_attention(call, given);
  if (!std::isfinite(scale) || scale <= 0) call.refuse(fmt::format("multiplies the scores by {}", scale));
  const std::size_t last = given.query.rank() - 1;
  const View q = as_sequence(call, given.query), k = as_sequence(call, given.key),
             v = as_sequence(call, given.value);
  std::int64_t heads = 1;
  for (const std::int64_t extent : leading_extents(q)) heads *= extent == 0 ? 1 : extent;
  const double usual = 1 / std::sqrt(static_cast<double>(q.extent(q.axes[last])));
  if (std::abs(scale - usual) <= 1e-6 * usual) scale = 0;
  const std::size_t node =
      call.add({{"layer", "attention"}, {"heads", heads}, {"scale", scale}}, {q.node, k.node, v.node});
  // The atoms are those of the query, but the last axis has those of the value.
  View result = q.with_node(node);
  const View::Axis &own = q.axes[last], &others = v.axes[last];
  result.atoms.resize(q.atoms.size() - own.size());
  result.axes[last].clear();
  for (const int atom : others) {
    result.axes[last].push_back(static_cast<int>(result.atoms.size()));
    result.atoms.push_back(v.atoms[static_cast<std::size_t>(atom)]);
  }
  return result;
}

/// Divides the last axis of (N, L, heads x d) and gives (N, heads, L, d).
View split_heads(Call& call, const View& view, std::int64_t heads) {
  const Dim length = view.dim(1), features = view.dim(2);
  if (heads < 1 || features.batch || features.value % heads != 0) {
    call.refuse(fmt::format("its {} heads do not divide its input {}", heads, to_string(view.dims())));
  }
  return reshaped(call, view, {view.dim(0), length, {heads}, {features.value / heads}})
      .transposed({0, 2, 1, 3});
}

void convert_attention(Call& call) {
  if (call.has(3) || call.inputs() > 4) {
    call.refuse("is attention with a mask or with keys of earlier steps", "Convoke's attention has no mask");
  }
  if (call.integer("is_causal", 0) != 0 || call.number("softcap", 0) != 0) {
    call.refuse("is causal attention, or limits its scores", "Convoke's attention has no mask");
  }
  AttentionInputs given = inputs_of(call);
  const bool joined = given.query.rank() == 3;  // (N, L, heads x d)
  if (joined) {
    const std::int64_t heads = call.integer("q_num_heads", 0), of_keys = call.integer("kv_num_heads", heads);
    given = {split_heads(call, given.query, heads), split_heads(call, given.key, of_keys),
             split_heads(call, given.value, of_keys)};
  }
  const double features = static_cast<double>(given.query.dim(given.query.rank() - 1).value);
  const View result = attend(call, given, call.number("scale", 1 / std::sqrt(features)));
  if (!joined) return call.give(result);
  call.give(reshaped(call, result.transposed({0, 2, 1, 3}),
                     {result.dim(0), result.dim(2), {result.dim(1).value * result.dim(3).value}}));
}

}  // namespace

// The recognized form of patterns.cpp: the key is transposed, and the constants @a, @b, @c multiply the
// query, the key and the scores; @d, @e and @f divide them.
void convert_spelled_attention(Call& call) {
  AttentionInputs given = inputs_of(call);
  given.key = with_last_two_swapped(given.key);
  const std::size_t rank = given.query.rank();
  if (call.axis(call.integer("axis", -1), rank) + 1 != rank)
    call.refuse("is attention whose softmax is not over the last axis");
  double scale = 1;
  for (std::size_t input = 3; input < call.inputs(); ++input) {
    if (!call.has(input)) continue;
    const std::optional<double> factor = call.constant(input, "scale").scalar();
    if (!factor) call.refuse("scales the scores of attention by more than one number");
    scale *= input < 6 ? *factor : 1 / *factor;
  }
  call.give(attend(call, given, scale));
}

const std::initializer_list<Operator> kAttentionOperators{
    Operator{"Attention", convert_attention},
};

}  // namespace convoke::interop::onnx
