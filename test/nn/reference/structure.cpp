#include <algorithm>
#include <array>

#include "reference/layer.hpp"

namespace reference {
namespace {

using Index = std::vector<std::int64_t>;

Values output(const Call& call) { return {call.x().samples, call.node.shape}; }

/// Returns the position of element `index` of sample n in row-major order.
std::int64_t at(const Values& values, std::int64_t n, const Index& index) {
  std::int64_t position = n;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    position = position * values.shape[axis] + index[axis];
  return position;
}

/// Calls f(sample, index) for every element.
template <class F>
void for_each(const Values& values, const F& f) {
  Index index(values.shape.rank());
  for (std::int64_t i = 0; i < values.size(); ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      index[axis] = rest % values.shape[axis];
      rest /= values.shape[axis];
    }
    f(rest, index);
  }
}

/// y[i] = f(x_0[i], x_1[i], ...).
template <class F>
Values element_wise(const Call& call, const F& f) {
  Values y = output(call);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    std::vector<double> values;
    for (const Values& x : call.inputs) values.push_back(x[i]);
    y[i] = f(values);
  }
  return y;
}

std::size_t axis_of(const Call& call) {
  const std::string name = call.text("axis");
  const std::size_t rank = call.node.shape.rank();
  if (name == "height") return 1;
  if (name == "width") return 2;
  return rank == 2 && name != "time" ? 1 : 0;
}

Values average(const Call& call) {
  return element_wise(call, [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  });
}

void add(const Call& call, const AddProduct& add) {
  for (std::size_t from = 0; from < call.inputs.size(); ++from) {
    for (std::int64_t i = 0; i < call.x().size(); ++i) add({i, i, -1, 1, from});
  }
}

void flatten(const Call& call, const AddProduct& add) {
  for (std::int64_t i = 0; i < call.x().size(); ++i) add({i, i});
}

Values maximum(const Call& call) {
  return element_wise(call, [](const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
  });
}

Values subtract(const Call& call) {
  return element_wise(call, [](const std::vector<double>& values) { return values[0] - values[1]; });
}

Values identity(const Call& call) {
  Values y = output(call);
  y.data = call.x().data;
  return y;
}

// An input with one value per channel is read at that channel: axis 0 of an image, axis 1 of a sequence.
Values multiply(const Call& call) {
  Values y = output(call);
  for_each(y, [&](std::int64_t n, const Index& index) {
    double product = 1;
    for (const Values& x : call.inputs) {
      const bool whole = x.shape == y.shape;
      const std::int64_t channel = index[index.size() == 2 ? 1 : 0];
      product *= whole ? x[at(y, n, index)] : x[n * x.shape.elements() + channel];
    }
    y[at(y, n, index)] = product;
  });
  return y;
}

Values concat(const Call& call) {
  Values y = output(call);
  const std::size_t axis = axis_of(call);
  std::int64_t begin = 0;
  for (const Values& x : call.inputs) {
    for_each(x, [&](std::int64_t n, Index index) {
      const double value = x[at(x, n, index)];
      index[axis] += begin;
      y[at(y, n, index)] = value;
    });
    begin += x.shape[axis];
  }
  return y;
}

Values slice(const Call& call) {
  Values y = output(call);
  const std::size_t axis = axis_of(call);
  const auto begin = static_cast<std::int64_t>(call.number("begin"));
  for_each(y, [&](std::int64_t n, Index index) {
    const std::int64_t to = at(y, n, index);
    index[axis] += begin;
    y[to] = call.x()[at(call.x(), n, index)];
  });
  return y;
}

// tf.reshape(x, (groups, C / groups)), transposed.
Values channel_shuffle(const Call& call) {
  Values y = output(call);
  const std::size_t axis = y.shape.rank() == 2 ? 1 : 0;
  const auto groups = static_cast<std::int64_t>(call.number("groups"));
  const std::int64_t each = y.shape[axis] / groups;
  for_each(call.x(), [&](std::int64_t n, Index index) {
    const double value = call.x()[at(call.x(), n, index)];
    const std::int64_t group = index[axis] / each, i = index[axis] % each;
    index[axis] = i * groups + group;
    y[at(y, n, index)] = value;
  });
  return y;
}

Values permute(const Call& call) {
  Values y = output(call);
  const auto dims = convoke::SettingsReader(call.settings, "reference").get("dims", Index{});
  for_each(y, [&](std::int64_t n, const Index& index) {
    Index from(index.size());
    for (std::size_t i = 0; i < dims.size(); ++i) from[static_cast<std::size_t>(dims[i] - 1)] = index[i];
    y[at(y, n, index)] = call.x()[at(call.x(), n, from)];
  });
  return y;
}

}  // namespace

std::span<const LayerEntry> structure_layers() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "add", .products = add},
      LayerEntry{.type = "average", .forward = average, .element_wise = true},
      LayerEntry{.type = "channel_shuffle", .forward = channel_shuffle},
      LayerEntry{.type = "concat", .forward = concat},
      LayerEntry{.type = "flatten", .products = flatten},
      LayerEntry{.type = "identity", .forward = identity, .element_wise = true},
      LayerEntry{.type = "maximum", .forward = maximum, .element_wise = true},
      LayerEntry{.type = "multiply", .forward = multiply},
      LayerEntry{.type = "permute", .forward = permute},
      LayerEntry{.type = "reshape", .forward = identity, .element_wise = true},
      LayerEntry{.type = "slice", .forward = slice},
      LayerEntry{.type = "subtract", .forward = subtract, .element_wise = true},
  };
  return kLayers;
}

}  // namespace reference
