#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interop/onnx/operators.hpp"

// Layers for sequences: attention, softmax(scale q k^T) v for each head, as one operator or spelled out, and
// recurrent layers.

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

/// An LSTM or a GRU of ONNX.
struct Cell {
  View input;  ///< (L, N, F), or (N, L, F) with batch_first
  std::int64_t directions = 1, units = 0, features = 0, length = 0;
  bool batch_first = false;
  const Constant* weight = nullptr;     ///< (directions, gates units, features)
  const Constant* recurrent = nullptr;  ///< (directions, gates units, units)
  const Constant* bias = nullptr;       ///< (directions, 2 gates units): of the input, then of the state
};

void refuse_extras(Call& call, std::size_t states, const Cell& cell) {
  if (call.has_attribute("clip")) call.refuse("clips its state, which Convoke does not");
  if (call.has(4) && !call.is_recognized()) {
    const std::optional<float> all =
        call.is_constant(4) ? call.constant(4, "lengths").uniform() : std::nullopt;
    if (all != static_cast<float>(cell.length)) {
      call.refuse("has sequences of different lengths",
                  "Convoke masks padding by tokens: export the model without sequence_lens");
    }
  }
  for (std::size_t input = 5; input < 5 + states; ++input) {
    if (!call.has(input)) continue;
    if (!call.is_constant(input) || call.constant(input, "state").uniform() != 0.0F) {
      call.refuse("starts from a state that is not zero");
    }
    const Shape& state = call.constant(input, "state").shape;
    if (state.rank() != 3 || state[2] != cell.units) {
      call.refuse(fmt::format("has an initial state {} for {} units", state.to_string(), cell.units),
                  "PyTorch's exporter writes an LSTM with proj_size so, without its projection: export it "
                  "without proj_size");
    }
  }
}

Cell read_cell(Call& call, std::int64_t gates, const std::vector<std::string>& functions,
               std::size_t states) {
  Cell cell;
  cell.input = call.is_recognized() ? call.view(0).transposed({1, 0, 2}) : call.view(0);
  const View& x = cell.input;
  cell.batch_first = call.integer("layout", 0) != 0;
  const std::size_t batch = cell.batch_first ? 0 : 1, time = 1 - batch;
  if (x.rank() != 3 || x.axes[batch] != View::Axis{View::kBatch} || x.has_batch(2)) {
    call.refuse(fmt::format("its input {} is not sequences {}", to_string(x.dims()),
                            cell.batch_first ? "(N, L, F)" : "(L, N, F)"));
  }
  const std::string direction = call.text("direction", "forward");
  if (direction == "reverse") {
    call.refuse("runs from the end only", "Convoke's recurrent layers run forward or in both directions");
  }
  cell.directions = direction == "bidirectional" ? 2 : 1;
  cell.length = x.dim(time).value;
  cell.features = x.dim(2).value;
  cell.weight = &call.constant(1, "weight");
  cell.recurrent = &call.constant(2, "recurrent weight");
  if (call.has(3)) cell.bias = &call.constant(3, "bias");
  const Shape& weight = cell.weight->shape;
  if (weight.rank() != 3 || weight[1] % gates != 0) {
    call.refuse(fmt::format("has the weight {}", weight.to_string()));
  }
  cell.units = weight[1] / gates;
  const bool fits =
      weight == Shape{cell.directions, gates * cell.units, cell.features} &&
      cell.recurrent->shape == Shape{cell.directions, gates * cell.units, cell.units} &&
      (cell.bias == nullptr || cell.bias->shape == Shape{cell.directions, 2 * gates * cell.units});
  if (!fits || cell.units < 1) call.refuse("has weights that do not fit each other and the input");
  if (const Attribute* given = find_attribute(call.node(), "activations")) {
    for (std::size_t i = 0; i < given->texts.size(); ++i) {
      if (given->texts[i] == functions[i % functions.size()]) continue;
      call.refuse(fmt::format("has the activation {}", given->texts[i]),
                  "Convoke's recurrent layers have sigmoid gates and tanh");
    }
  }
  refuse_extras(call, states, cell);
  return cell;
}

/// Gives a parameter the rows of one direction of `from`, (directions, blocks units, columns): block g of the
/// parameter is block order[g], plus block also[g].
void give_blocks(Call& call, std::size_t node, const std::string& parameter, const Constant& from,
                 std::int64_t direction, std::int64_t units, std::vector<std::size_t> order,
                 std::vector<std::size_t> also = {}) {
  const auto directions = static_cast<std::size_t>(from.shape[0]), at = static_cast<std::size_t>(direction);
  const auto whole = static_cast<std::size_t>(from.shape.elements()) / directions;
  const std::size_t columns = from.shape.rank() == 3 ? static_cast<std::size_t>(from.shape[2]) : 1;
  const std::size_t block = static_cast<std::size_t>(units) * columns;
  Constant blocks = from;
  blocks.shape = {static_cast<std::int64_t>(order.size() * block)};
  blocks.fill = [=](std::span<float> values) {
    const std::vector<float> all = from.floats();
    const std::span<const float> own = std::span(all).subspan(at * whole, whole);
    for (std::size_t g = 0; g < order.size(); ++g) {
      for (std::size_t i = 0; i < block; ++i) {
        values[g * block + i] = own[order[g] * block + i] + (also.empty() ? 0 : own[also[g] * block + i]);
      }
    }
  };
  call.import().give(node, parameter, blocks);
}

Settings layer_of(std::string_view type, const Cell& cell, bool sequences) {
  return {{"layer", type},
          {"units", cell.units},
          {"sequences", sequences},
          {"bidirectional", cell.directions == 2},
          {"bias", cell.bias != nullptr}};
}

/// Returns the sequences, and the tokens that mask them if the layer is recognized as a masked one.
std::vector<std::size_t> inputs_of(Call& call, const Cell& cell) {
  const View& x = cell.input;
  std::vector<std::size_t> inputs{arrange(call.builder(), x, {x.axes[cell.batch_first ? 1 : 0], x.axes[2]})};
  if (!call.is_recognized()) return inputs;
  inputs.push_back(call.view(4).node);
  if (call.graph().node(inputs[1]).shape.type != nn::ValueType::kToken) {
    call.refuse("is masked by other values than the tokens of the input");
  }
  return inputs;
}

/// Says what the outputs are: Y (L, D, N, U) of all time steps and Y_h (D, N, U) after the last one.
void give_states(Call& call, const Cell& cell, std::size_t node, bool sequences) {
  const Dim n{1, true}, length{cell.length}, directions{cell.directions}, units{cell.units};
  constexpr int kBatch = View::kBatch;
  View last;
  if (sequences) {
    const View all = View::of(call.graph(), node, {kBatch, 0, 1});
    const View divided = *all.reshaped({n, length, directions, units});
    call.give(divided.transposed(cell.batch_first ? std::vector<std::size_t>{0, 1, 2, 3}
                                                  : std::vector<std::size_t>{1, 2, 0, 3}),
              0);
    if (!call.wants(1)) return;
    // The last state of the direction from the end is the one at the first time step.
    std::vector<View> states;
    for (std::int64_t d = 0; d < cell.directions; ++d) {
      const View state = sliced(call, all, 1, d == 0 ? cell.length - 1 : 0, 1);
      states.push_back(sliced(call, state, 2, d * cell.units, cell.units));
    }
    last = joined(call, states, 2);
    last.axes.erase(last.axes.begin() + 1);
  } else {
    last = View::of(call.graph(), node, {kBatch, 0});
  }
  last = reshaped(call, last, {n, directions, units});
  call.give(cell.batch_first ? last : last.transposed({1, 0, 2}), 1);
}

/// Adds the layer with its weights and says what its outputs are. `order`: our gates among ONNX's.
void convert_cell(Call& call, std::string_view type, const Cell& cell,
                  const std::vector<std::size_t>& order) {
  const bool sequences = call.wants(0);
  const std::size_t node = call.add(layer_of(type, cell, sequences), inputs_of(call, cell));
  std::vector<std::size_t> of_state = order;  // the biases of the state lie behind those of the input
  for (std::size_t& gate : of_state) gate += order.size();
  for (std::int64_t d = 0; d < cell.directions; ++d) {
    const auto give = [&](const char* name, const Constant& from, const std::vector<std::size_t>& blocks,
                          const std::vector<std::size_t>& also = {}) {
      const std::string parameter = (d == 0 ? "" : "backward_") + std::string(name);
      give_blocks(call, node, parameter, from, d, cell.units, blocks, also);
    };
    give("weight", *cell.weight, order);
    give("recurrent_weight", *cell.recurrent, order);
    if (cell.bias == nullptr) continue;
    const bool one = type == "lstm";  // has one bias, the sum of both
    give("bias", *cell.bias, order, one ? of_state : std::vector<std::size_t>{});
    if (!one) give("recurrent_bias", *cell.bias, of_state);
  }
  give_states(call, cell, node, sequences);
}

// ONNX stores the gates i, o, f, c; ours are i, f, g = c, o.
void convert_lstm(Call& call) {
  const Cell cell = read_cell(call, 4, {"Sigmoid", "Tanh", "Tanh"}, 2);
  if (call.has(7) && (!call.is_constant(7) || call.constant(7, "peepholes").uniform() != 0.0F)) {
    call.refuse("has peepholes", "Convoke's lstm has none");
  }
  if (call.integer("input_forget", 0) != 0) call.refuse("couples input and forget gates");
  if (call.wants(2)) call.refuse("gives the cell's state, which Convoke's lstm does not");
  convert_cell(call, "lstm", cell, {0, 2, 3, 1});
}

// The gates are z, r, h in both.
void convert_gru(Call& call) {
  const Cell cell = read_cell(call, 3, {"Sigmoid", "Tanh"}, 1);
  if (call.integer("linear_before_reset", 0) == 0) {
    call.refuse("applies its reset gate before the product (linear_before_reset = 0)",
                "Convoke's gru is that of PyTorch, and of Keras with reset_after = True");
  }
  convert_cell(call, "gru", cell, {0, 1, 2});
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

const std::initializer_list<Operator> kSequenceOperators{
    Operator{"Attention", convert_attention},
    Operator{"GRU", convert_gru},
    Operator{"LSTM", convert_lstm},
};

}  // namespace convoke::interop::onnx
