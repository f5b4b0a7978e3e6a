#include <fmt/format.h>

#include <algorithm>

#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// Returns factor * constant.
Constant times(const Constant& constant, float factor) {
  if (factor == 1) return constant;
  Constant scaled = constant;
  scaled.name.clear();
  scaled.fill = [constant, factor](std::span<float> values) {
    constant.fill(values);
    for (float& value : values) value *= factor;
  };
  return scaled;
}

/// Returns the product of the last axis and a weight (M, K): a dense layer for vectors, a convolution with
/// kernel 1 for sequences and images.
View multiply_last_axis(Call& call, const View& x, const Constant& weight,
                        const std::optional<Constant>& bias) {
  const std::size_t last = x.rank() - 1;
  const std::int64_t units = weight.shape[0], features = weight.shape[1];
  if (x.has_batch(last) || x.dim(last).value != features) {
    call.refuse(
        fmt::format("its weight of {} inputs does not fit its input {}", features, to_string(x.dims())));
  }
  const View::Axis channels = x.axes[last];
  View view = with_channels(call.builder(), x, channels);
  const std::size_t rank = call.graph().node(view.node).shape.rank();
  Settings layer{{"layer", "dense"}, {"units", units}, {"bias", bias.has_value()}};
  if (rank > 1) {
    layer = {{"layer", rank == 2 ? "conv1d" : "conv2d"},
             {"filters", units},
             {"kernel", 1},
             {"bias", bias.has_value()}};
  }
  std::vector<std::int64_t> extents{units, features};
  extents.resize(rank + 1, 1);
  const std::size_t node = call.add_weighted(layer, {view.node}, weight.reshaped(Shape(extents)), bias);
  // The channels lie at the end of vectors and sequences, and at the start of images.
  Along place{.view = view, .order = {{last}}, .axis = last, .at = 0};
  if (rank != 3) {
    std::vector<std::size_t> others;
    for (std::size_t axis = 0; axis < last; ++axis) others.push_back(axis);
    place.order = {others, {last}};
    place.at = 1;
  }
  return place.with(node, units);
}

/// Returns the reshape that a Gather from a flat value is if its indices are 0, 1, 2, ..., as PyTorch writes
/// as_strided.
std::optional<View> read_in_order(Call& call, const View& x) {
  const Constant& wanted = call.constant(1, "indices");
  const Dim all = x.dim(0);
  if (x.rank() != 1 || !all.batch || !wanted.is_numbers() ||
      wanted.shape.elements() != all.value * call.import().input.batch || !counts_up(wanted.numbers)) {
    return std::nullopt;
  }
  std::vector<Dim> to;
  for (const std::int64_t extent : wanted.shape.extents()) to.push_back({extent});
  return reshaped(call, x, std::move(to));
}

void convert_gemm(Call& call) {
  const View& x = call.view(0);
  Constant weight = call.constant(1, "weight");
  if (x.rank() != 2 || weight.shape.rank() != 2 || call.integer("transA", 0) != 0) {
    call.refuse("multiplies a transposed input",
                "Convoke converts Gemm with an input (N, F), transA = 0 and a constant weight");
  }
  if (call.integer("transB", 0) == 0) weight = weight.transposed({1, 0});
  weight = times(weight, static_cast<float>(call.number("alpha", 1)));
  const std::int64_t units = weight.shape[0];
  std::optional<Constant> bias;
  if (call.has(2)) {
    const Constant& given = call.constant(2, "bias");
    if (std::ranges::any_of(given.numbers, &Dim::batch))
      call.refuse("its bias depends on the size of the batch");
    if (const std::optional<float> one = given.scalar(); one && units > 1) {
      bias = Constant::of_floats({units}, std::vector<float>(static_cast<std::size_t>(units), *one));
    } else if (given.shape.elements() == units &&
               (units == 1 || given.shape[given.shape.rank() - 1] == units)) {
      bias = given.reshaped({units});
    } else {
      call.refuse(fmt::format("its bias {} has not one number for each of its {} outputs",
                              given.shape.to_string(), units));
    }
    bias = times(*bias, static_cast<float>(call.number("beta", 1)));
  } else {
    bias = call.following_bias(1, units);
  }
  call.give(multiply_last_axis(call, x, weight, bias));
}

void convert_matmul(Call& call) {
  if (!call.is_constant(0) && !call.is_constant(1)) {
    call.refuse(
        "multiplies two values that both depend on the sample, and is no attention that Convoke knows",
        "Convoke converts MatMul(Softmax(MatMul(query, key)), value) with constant scales and without "
        "a mask");
  }
  const bool left = call.is_constant(0);  // W x = (x^T W^T)^T
  View x = call.view(left ? 1 : 0);
  Constant weight = call.constant(left ? 0 : 1, "weight");
  if (weight.shape.rank() > 2) {  // (1, ..., K, M)
    const std::vector<std::int64_t>& all = weight.shape.extents();
    const std::vector<std::int64_t> matrix(all.end() - 2, all.end());
    if (Shape(matrix).elements() == weight.shape.elements()) weight = weight.reshaped(Shape(matrix));
  }
  if (weight.shape.rank() != 2 || x.rank() < 2) {
    call.refuse(fmt::format("its weight {} is not a matrix", weight.shape.to_string()));
  }
  const auto swap_last = [](View& view) { std::swap(view.axes.back(), view.axes[view.rank() - 2]); };
  if (left) {
    swap_last(x);
    View y = multiply_last_axis(call, x, weight, {});
    swap_last(y);
    return call.give(y);
  }
  const std::optional<Constant> bias = call.following_bias(x.rank() - 1, weight.shape[1]);
  call.give(multiply_last_axis(call, x, weight.transposed({1, 0}), bias));
}

void convert_gather(Call& call) {
  if (call.is_constant(0) && !call.is_constant(1)) {
    const Constant& table = call.constant(0, "table");
    const View& tokens = call.view(1);
    const nn::ValueSpec& spec = call.graph().node(tokens.node).shape;
    if (spec.type == nn::ValueType::kToken && table.whole) {
      call.refuse("looks up vectors in a table of whole numbers, as those of a quantized model",
                  std::string(kBeforeQuantized));
    }
    if (spec.type != nn::ValueType::kToken || table.shape.rank() != 2 || table.whole ||
        call.integer("axis", 0) != 0) {
      call.refuse("looks up numbers that depend on the sample",
                  "Convoke converts a Gather with constant indices, or of the vectors of tokens from a table "
                  "(vocabulary, units)");
    }
    if (call.is_recognized()) {  // one-hot numbers times the table
      std::vector<Dim> wide = tokens.dims();
      wide.push_back({1});
      call.expect_shape(2, wide);
      call.expect_shape(3, wide);
    }
    const std::int64_t units = table.shape[1];
    const std::size_t node = call.add_weighted(
        {{"layer", "embedding"}, {"vocabulary", table.shape[0]}, {"units", units}}, {tokens.node}, table);
    View result = tokens.with_node(node);
    result.axes.emplace_back();
    if (units > 1) {
      result.axes.back().push_back(static_cast<int>(result.atoms.size()));
      result.atoms.push_back(units);
    }
    return call.give(result);
  }
  const Known& x = call.value(0);
  std::vector<Dim> dims = dims_of(x);
  const std::size_t axis = call.axis(call.integer("axis", 0), dims.size());
  if (const View* view = std::get_if<View>(&x)) {
    if (const auto same = read_in_order(call, *view)) return call.give(*same);
  }
  const std::vector<Dim> wanted = call.constant(1, "indices").dims();
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, wanted.begin(), wanted.end());
  give_reshaped(call, picked(call, x, axis, call.numbers(1, "indices")), std::move(dims));
}

// With a list (K, 1) of indices, it picks along one axis.
void convert_gather_nd(Call& call) {
  const Constant& wanted = call.constant(1, "indices");
  const std::size_t axis = call.axis(call.integer("batch_dims", 0), dims_of(call.value(0)).size());
  if (axis != 0 || wanted.shape.rank() != 2 || wanted.shape[1] != 1) {
    call.refuse("picks elements in several axes at once");
  }
  call.give(picked(call, call.value(0), axis, call.numbers(1, "indices")));
}

}  // namespace

// Rows of a flat value, as PyTorch writes as_strided if the batch is open: the reshape that it is if each row
// is a sample whose elements are read in order.
void convert_strided(Call& call) {
  Array offsets = array_of(call, 4);
  for (const std::size_t input : {5, 6}) offsets = combined("Add", offsets, array_of(call, input));
  const Constant &flat = call.constant(1, "shape"), &rows = call.constant(2, "rows");
  const bool in_order =
      flat.shape.elements() == 1 && rows.is_numbers() && rows.numbers == std::vector{Dim{1, true}} &&
      offsets.whole && offsets.shape.rank() > 0 && offsets.shape[0] == 1 &&
      call.constant(3, "stride").scalar() == static_cast<float>(offsets.size()) && counts_up(offsets.numbers);
  if (!in_order) {
    call.refuse("reads other elements of its input than all of them in order",
                "export the model with a fixed batch, or with torch.onnx.export(..., dynamo=False)");
  }
  std::vector<Dim> to{{1, true}};
  for (std::size_t axis = 1; axis < offsets.shape.rank(); ++axis) to.push_back({offsets.shape[axis]});
  give_reshaped(call, call.value(0), std::move(to));
}

const std::initializer_list<Operator> kDenseOperators{
    Operator{"Gather", convert_gather, true},
    Operator{"GatherND", convert_gather_nd, true},
    Operator{"Gemm", convert_gemm},
    Operator{"MatMul", convert_matmul},
};

}  // namespace convoke::interop::onnx
