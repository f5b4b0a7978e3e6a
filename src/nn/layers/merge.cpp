#include "convoke/nn/layers/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/plan_builder.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
namespace {

[[noreturn]] void refuse(const Shape& a, const Shape& b, std::string hint) {
  throw Error(fmt::format("its inputs have different shapes, {} and {}", a.with_batch(), b.with_batch()),
              std::move(hint));
}

/// Returns the shape of all inputs. Throws Error with `hint` if they have different ones.
Shape common_shape(std::span<const ValueSpec> inputs, const char* hint) {
  for (const ValueSpec& shape : inputs) {
    if (shape != inputs[0]) refuse(inputs[0], shape, hint);
  }
  return inputs[0];
}

/// True if `shape` can scale the channels of `image`: (C), (C, 1, 1), or (F) on (L, F).
bool scales(const Shape& shape, const Shape& image) {
  if (image.rank() == 2) return shape == Shape{image[1]};
  return image.rank() == 3 && (shape == Shape{image[0]} || shape == Shape{image[0], 1, 1});
}

/// Returns the index of the input with the most axes and elements, which the others are multiplied with.
std::size_t widest(std::span<const ValueSpec> shapes) {
  const auto size = [](const Shape& shape) { return std::pair(shape.elements(), shape.rank()); };
  const auto it = std::max_element(shapes.begin(), shapes.end(),
                                   [&](const Shape& a, const Shape& b) { return size(a) < size(b); });
  return static_cast<std::size_t>(it - shapes.begin());
}

/// Collects the addresses for kernels over any number of inputs, in memory allocated beforehand.
template <class T>
struct Addresses {
  std::vector<Tensor> tensors;
  std::vector<const T*> pointers;

  explicit Addresses(const std::vector<Tensor>& t) : tensors(t), pointers(t.size()) {}
  const T* const* at(const Frame& frame) {
    for (std::size_t i = 0; i < tensors.size(); ++i) pointers[i] = frame.at<T>(tensors[i]);
    return pointers.data();
  }
};

std::vector<Ref> refs_of(const std::vector<Tensor>& tensors) {
  std::vector<Ref> refs;
  for (const Tensor& tensor : tensors) refs.push_back(tensor.ref);
  return refs;
}

/// The steps of y = a * b, where both have one layout, or b has one value for each channel of a.
struct Product {
  PlanBuilder& plan;
  const Node& node;

  /// `y`: memory for the result, which may be that of b.
  Tensor whole(const char* what, const Tensor& a, const Tensor& b, const Tensor& y) const {
    const std::size_t count = elements_of(y.desc);
    plan.add_typed_kernel(
        y.desc, node, what,
        [=]<class T>(const Frame& frame) {
          share_elements(count, [&](std::int64_t i, std::size_t n) {
            kernels<MergeKernels<T>>().multiply(frame.at<T>(a) + i, frame.at<T>(b) + i, frame.at<T>(y) + i,
                                                n);
          });
        },
        {a.ref, b.ref, y.ref}, y);
    return y;
  }

  Tensor channels(const ChannelBlocks& blocks, const Tensor& x, const Tensor& s) const {
    const Tensor y = plan.allocate(x.desc);
    plan.add_typed_kernel(
        y.desc, node, "forward, channels",
        [=]<class T>(const Frame& frame) {
          kernels<MergeKernels<T>>().multiply_channels(blocks, frame.at<T>(x), frame.at<T>(s),
                                                       frame.at<T>(y));
        },
        {x.ref, s.ref, y.ref}, y);
    return y;
  }
};

/// One factor of a product, which multiplies the product of the factors before it.
struct Factor {
  std::size_t from;    ///< its node
  Tensor value;        ///< in the layout of the product, or (N, C, 1, 1) in its blocking
  bool channels;       ///< it has one value per channel
  Tensor before;       ///< the product without this factor
  bool before_wanted;  ///< a node before needs the gradient of `before`
};

}  // namespace

Shape Add::output_shape(std::span<const ValueSpec> inputs) const {
  return common_shape(inputs,
                      "give both one shape, for example with a 1 x 1 convolution on the shorter path");
}

void Add::compile(PlanBuilder& plan, const Node& node) const {
  const bool relu = plan.fusion(node).relu;
  const std::vector<Tensor> inputs = plan.values_alike(node);
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor a = i == 1 ? inputs[0] : y;
    const Tensor b = inputs[i];
    const bool last = i + 1 == node.inputs.size();
    plan.add_typed_kernel(
        y.desc, node, last && relu ? "forward, relu" : "forward",
        [=]<class T>(const Frame& frame) {
          share_elements(count, [&](std::int64_t at, std::size_t n) {
            kernels<ElementwiseKernels<T>>().add(frame.at<T>(a) + at, frame.at<T>(b) + at,
                                                 frame.at<T>(y) + at, n, last && relu);
          });
        },
        {a.ref, b.ref, y.ref}, y);
  }
  const std::size_t output = plan.fusion(node).output;
  plan.set_value(output, y);
  plan.on_gradient(output, node, [=, &plan, &node](Tensor dy) {
    if (relu) dy = relu_gradient(plan, node, y, dy);
    dy.exclusive = false;  // every input gets the same memory
    for (const std::size_t from : node.inputs) {
      if (plan.needs_gradient(from)) plan.add_gradient(from, dy, node);
    }
  });
}

Shape Merge::output_shape(std::span<const ValueSpec> inputs) const {
  return common_shape(inputs,
                      "give both one shape, for example with a 1 x 1 convolution on one of the paths");
}

Shape Subtract::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs.size() != 2) {
    throw Error(fmt::format("needs two inputs, but has {}", inputs.size()),
                "name two: { layer = \"subtract\", inputs = [\"a\", \"b\"] }");
  }
  return Merge::output_shape(inputs);
}

Shape Multiply::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& image = inputs[widest(inputs)];
  for (const ValueSpec& shape : inputs) {
    if (shape != image && !scales(shape, image)) {
      refuse(image, shape,
             "each input needs the shape of the largest, or one value per channel: (C) or (C, 1, 1)");
    }
  }
  return image;
}

Shape Maximum::output_shape(std::span<const ValueSpec> inputs) const {
  if (inputs.size() > 255) {
    throw Error(fmt::format("accepts up to 255 inputs, but has {}", inputs.size()),
                "split the inputs over several layers and take the maximum of their outputs");
  }
  return Merge::output_shape(inputs);
}

void Subtract::compile(PlanBuilder& plan, const Node& node) const {
  Elementwise({.function = "subtract"}).compile(plan, node);
}

void Average::compile(PlanBuilder& plan, const Node& node) const {
  const std::vector<Tensor> inputs = plan.values_alike(node);
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  std::vector<Ref> uses = refs_of(inputs);
  uses.push_back(y.ref);
  with_stored_type(y.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=, from = Addresses<T>(inputs)](const Frame& frame) mutable {
          kernels<MergeKernels<T>>().average(from.at(frame), from.tensors.size(), frame.at<T>(y), count);
        },
        uses, y);
  });
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    Tensor dx = plan.in_place_of(dy);
    const float share = 1.0F / static_cast<float>(node.inputs.size());
    plan.add_typed_kernel(
        dy.desc, node, "backward",
        [=]<class T>(const Frame& frame) {
          kernels<MergeKernels<T>>().scale(frame.at<T>(dy), share, frame.at<T>(dx), count);
        },
        {dy.ref, dx.ref}, dx);
    dx.exclusive = false;  // every input gets the same memory
    for (const std::size_t from : node.inputs) {
      if (plan.needs_gradient(from)) plan.add_gradient(from, dx, node);
    }
  });
}

void Maximum::compile(PlanBuilder& plan, const Node& node) const {
  const std::vector<Tensor> inputs = plan.values_alike(node);
  const Tensor y = plan.allocate(inputs[0].desc);
  const std::size_t count = elements_of(y.desc);
  const bool keep = plan.training() && plan.needs_gradient(node.index);
  const Ref winners = keep ? plan.allocate_bytes(count) : Ref{};
  std::vector<Ref> uses = refs_of(inputs);
  uses.insert(uses.end(), {y.ref, winners});
  with_stored_type(y.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, "forward",
        [=, from = Addresses<T>(inputs)](const Frame& frame) mutable {
          kernels<MergeKernels<T>>().maximum(from.at(frame), from.tensors.size(), frame.at<T>(y),
                                             frame.at<std::uint8_t>(winners), count);
        },
        uses, y);
  });
  plan.set_value(node.index, y);
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!plan.needs_gradient(node.inputs[i])) continue;
      const Tensor dx = plan.allocate(dy.desc);
      const auto input = static_cast<std::uint8_t>(i);
      plan.add_typed_kernel(
          dy.desc, node, "backward",
          [=]<class T>(const Frame& frame) {
            kernels<MergeKernels<T>>().maximum_backward(frame.at<T>(dy), frame.at<std::uint8_t>(winners),
                                                        input, frame.at<T>(dx), count);
          },
          {dy.ref, winners, dx.ref}, dx);
      plan.add_gradient(node.inputs[i], dx, node);
    }
  });
}

// p_0 = the widest input, p_i = p_{i-1} * x_i. Backward, from the last factor on:
//   dx_i = dp_i * p_{i-1} (summed over pixels if it scales channels), dp_{i-1} = dp_i * x_i
void Multiply::compile(PlanBuilder& plan, const Node& node) const {
  std::vector<ValueSpec> shapes;
  for (const std::size_t from : node.inputs) shapes.push_back(plan.graph().node(from).shape);
  const std::size_t first = widest(shapes);
  const std::size_t start = node.inputs[first];
  ChannelBlocks blocks;
  Tensor product = plan.blocked(plan.value_as(start, plan.stored(), node), node, blocks);
  bool wanted = plan.needs_gradient(start);
  const Product steps{plan, node};
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (i == first) continue;
    const std::size_t from = node.inputs[i];
    const bool channels = shapes[i] != node.shape;
    const Desc desc = channels
                          ? with_layout_of(blocks, {plan.samples(), blocks.channels, 1, 1}, plan.stored())
                          : product.desc;
    const Tensor value = plan.reordered(plan.value_as(from, plan.stored(), node), desc, node);
    factors.push_back({from, value, channels, product, wanted});
    product = channels ? steps.channels(blocks, product, value)
                       : steps.whole("forward", product, value, plan.allocate(product.desc));
    wanted = wanted || plan.needs_gradient(from);
  }
  plan.set_value(node.index, product);

  plan.on_gradient(node, [=, &plan, &node](Tensor dy) {
    for (auto factor = factors.rbegin(); factor != factors.rend() && dy; ++factor) {
      const bool own = plan.needs_gradient(factor->from);
      Tensor before;
      if (factor->channels) {
        const Tensor x = factor->before, s = factor->value, gradient = dy;
        if (factor->before_wanted) before = plan.in_place_of(dy);
        const Tensor ds = own ? plan.allocate(s.desc) : Tensor{};
        plan.add_typed_kernel(
            dy.desc, node, "backward, channels",
            [=]<class T>(const Frame& frame) {
              kernels<MergeKernels<T>>().multiply_channels_backward(blocks, frame.at<T>(x), frame.at<T>(s),
                                                                    frame.at<T>(gradient),
                                                                    frame.at<T>(before), frame.at<T>(ds));
            },
            {x.ref, s.ref, dy.ref, before.ref, ds.ref}, before ? before : ds);
        if (own) plan.add_gradient(factor->from, ds, node);
      } else {
        const bool both = own && factor->before_wanted;
        if (own) {
          const Tensor dx = both ? plan.allocate(dy.desc) : plan.in_place_of(dy);
          plan.add_gradient(factor->from, steps.whole("backward", factor->before, dy, dx), node);
        }
        if (factor->before_wanted) {
          before = steps.whole("backward", factor->value, dy, plan.in_place_of(dy));
        }
      }
      dy = before;
    }
    if (dy && plan.needs_gradient(start)) plan.add_gradient(start, dy, node);
  });
}

}  // namespace convoke::nn
