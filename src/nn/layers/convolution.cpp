#include "nn/layers/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "convoke/core/error.hpp"
#include "nn/kernels/activation.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/plan/step_threads.hpp"

namespace convoke::nn {
using dnnl::algorithm;
using dnnl::prop_kind;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

namespace {

PostOps post_ops_of(FusibleActivation activation, bool sum) {
  switch (activation) {
    case FusibleActivation::kNone:
      return {sum};
    case FusibleActivation::kRelu:
      return {sum, algorithm::eltwise_relu};
    case FusibleActivation::kRelu6:
      return {sum, algorithm::eltwise_clip, 0, 6};
    case FusibleActivation::kSilu:
      return {sum, algorithm::eltwise_swish, 1};
    default:  // oneDNN 3.x: x min(1, max(0, alpha x + beta))
      return {sum, algorithm::eltwise_hardswish, 1.F / 6, 0.5F};
  }
}

}  // namespace

Convolution::Geometry Convolution::measure() const {
  const Conv2dOptions& o = spec_.options;
  const Shape& in = spec_.in;
  const Window2d window = slide(in, o.kernel, o.stride, o.dilation, o.padding);
  Geometry geometry{{o.stride.height, o.stride.width},
                    {o.dilation.height - 1, o.dilation.width - 1},
                    {window.height.before, window.width.before},
                    {window.height.after, window.width.after},
                    window.height.output,
                    window.width.output,
                    0,
                    plan_->stored()};
  geometry.flops =
      2.0 * static_cast<double>(plan_->samples() * o.filters * window.height.output * window.width.output *
                                (in[0] / o.groups) * o.kernel.height * o.kernel.width);
  return geometry;
}

Dims Convolution::weight_dims() const {
  const Conv2dOptions& o = spec_.options;
  const std::int64_t in = spec_.in[0] / o.groups;
  if (o.groups > 1) return {o.groups, o.filters / o.groups, in, o.kernel.height, o.kernel.width};
  return {o.filters, in, o.kernel.height, o.kernel.width};
}

Forward::primitive_desc Convolution::hint(const Desc& weight, const Desc& x, const Desc& y) const {
  return forward_desc<Forward>(attributes(), prop_kind::forward_training, algorithm::convolution_direct, x,
                               weight, weighted_.bias(), y, geometry_.stride, geometry_.dilation,
                               geometry_.before, geometry_.after);
}

BackwardWeights::primitive_desc Convolution::weights_pass(const Desc& weight, const Desc& diff_weight,
                                                          const Desc& x, const Desc& y) const {
  return backward_desc<BackwardWeights>(attributes(), hint(weight, x, y), algorithm::convolution_direct, x,
                                        diff_weight, weighted_.bias(), y, geometry_.stride,
                                        geometry_.dilation, geometry_.before, geometry_.after);
}

BackwardData::primitive_desc Convolution::data_pass(const Desc& weight, const Desc& x, const Desc& y) const {
  return backward_desc<BackwardData>(attributes(), hint(weight, x, y), algorithm::convolution_direct, x,
                                     weighted_.any_weight(), y, geometry_.stride, geometry_.dilation,
                                     geometry_.before, geometry_.after);
}

/// Returns the convolution for our Winograd kernels, if they support it.
std::optional<WinogradShape> Convolution::fit_winograd() const {
  const WinogradKernels* kernels = winograd_kernels();
  const Conv2dOptions& o = spec_.options;
  if (kernels == nullptr) return std::nullopt;
  if (!(o.kernel == Extent(3) && o.stride == Extent(1) && o.dilation == Extent(1)) || o.groups != 1)
    return std::nullopt;
  if (spec_.in[0] % kernels->block != 0 || o.filters % kernels->block != 0) return std::nullopt;
  // Another node that shares the weights may have chosen their layout.
  const Desc layout = plan_->arena_layout(*node_, spec_.weight);
  if (layout.get_size() > 0 && layout != winograd_weight(weight_dims())) return std::nullopt;
  return WinogradShape{plan_->samples(), spec_.in[0],         o.filters,
                       spec_.in[1],      spec_.in[2],         geometry_.height,
                       geometry_.width,  geometry_.before[0], geometry_.before[1]};
}

/// Forward may reorder its input and weights into the blocks of the kernels; backward uses them as they are.
bool Convolution::by_winograd(Pass pass) const {
  if (!winograd_ || !prefers_winograd(pass, *winograd_, geometry_.type, plan_->options().convolution))
    return false;
  if (pass == Pass::kForward) return true;
  return x_.desc == winograd_image(dims_of(x_.desc), geometry_.type) &&
         y_.desc == winograd_image(dims_of(y_.desc), geometry_.type) &&
         plan_->parameter(*node_, spec_.weight).desc == winograd_weight(weight_dims());
}

Convolution::Convolution(PlanBuilder& plan, const Node& node, const Tensor& x, ConvolutionSpec spec)
    : plan_(&plan),
      node_(&node),
      spec_(std::move(spec)),
      geometry_(measure()),
      weighted_(plan, node, spec_.weight, spec_.options.bias ? spec_.bias : "", weight_dims(),
                spec_.options.filters, geometry_.flops),
      winograd_(fit_winograd()) {
  if (by_winograd(Pass::kForward)) {
    forward_winograd(x);
  } else {
    forward_direct(x);
  }
}

void Convolution::forward_winograd(const Tensor& x) {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  x_ = plan.reordered(x, winograd_image(dims_of(x.desc), geometry_.type), node);
  y_ = plan.allocate(winograd_image(
      {plan.samples(), spec_.options.filters, geometry_.height, geometry_.width}, geometry_.type));
  const Desc weight = winograd_weight(weight_dims());
  // A direct pass of backward may need a direct forward as a hint, whose weights are in bf16.
  forward_weight_ = geometry_.type == kFloat ? weight : weighted_.any_weight();
  weighted_.prefer(weight);
  add_winograd_forward();
  finish_forward();
}

void Convolution::forward_direct(const Tensor& x) {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  const Type type = geometry_.type;
  // Inference uses it too, so that evaluation runs what was trained.
  const auto kind = prop_kind::forward_training;

  // The network's input stays plain, because oneDNN has kernels for few plain channels. Otherwise oneDNN
  // chooses.
  const Desc source(plan.batched(spec_.in), type, spec_.plain_source ? Format::nchw : Format::any);
  const Desc dst({plan.samples(), spec_.options.filters, geometry_.height, geometry_.width}, type,
                 Format::any);

  const auto make = [&](const PostOps& ops) {
    return weighted_.with_weights([&](const Desc& weight) {
      return forward_desc<Forward>(attributes_with(ops), kind, algorithm::convolution_direct, source, weight,
                                   weighted_.bias(), dst, geometry_.stride, geometry_.dilation,
                                   geometry_.before, geometry_.after);
    });
  };
  const bool sum = static_cast<bool>(spec_.addend);
  auto forward = make(post_ops_of(spec_.activation, sum));
  // Some kernels have a ReLU only.
  const bool separate = is_reference(forward.impl_info_str()) && finishes_separately();
  if (separate) forward = make({});
  x_ = plan.reordered(x, forward.src_desc(), node);
  y_ = sum && !separate ? plan.overwrite(plan.reordered(spec_.addend, forward.dst_desc(), node))
                        : plan.allocate(forward.dst_desc());
  forward_weight_ = forward.weights_desc();

  weighted_.prefer(forward_weight_, [&](const Desc& weight, const Desc& gradient) {
    return weights_pass(weight, gradient, x_.desc, y_.desc);
  });
  weighted_.add_forward<Forward>(forward, x_, y_);
  if (separate) finish_forward();
}

/// True if the result needs more than a ReLU.
bool Convolution::finishes_separately() const {
  return spec_.addend ||
         (spec_.activation != FusibleActivation::kNone && spec_.activation != FusibleActivation::kRelu);
}

/// Adds the steps for what follows the convolution, if its kernel only knows a ReLU.
void Convolution::finish_forward() {
  if (!finishes_separately()) return;
  PlanBuilder& plan = *plan_;
  const Tensor y = y_;
  const std::size_t count = elements_of(y.desc);
  const FusibleActivation activation = spec_.activation;
  if (spec_.addend) {
    const Tensor addend = plan.reordered(spec_.addend, y.desc, *node_);
    const bool relu = activation == FusibleActivation::kRelu;
    plan.add_typed_kernel(
        y.desc, *node_, relu ? "sum, relu" : "sum",
        [=]<class T>(const Frame& frame) {
          share_elements(count, [&](std::int64_t i, std::size_t n) {
            kernels<ElementwiseKernels<T>>().add(frame.at<T>(y) + i, frame.at<T>(addend) + i,
                                                 frame.at<T>(y) + i, n, relu);
          });
        },
        {addend.ref, y.ref}, y);
    return;
  }
  const Curve curve = activation == FusibleActivation::kRelu6  ? Curve::kRelu6
                      : activation == FusibleActivation::kSilu ? Curve::kSilu
                                                               : Curve::kHardSwish;
  plan.add_typed_kernel(
      y.desc, *node_, "activation",
      [=]<class T>(const Frame& frame) {
        share_elements(count, [&](std::int64_t i, std::size_t n) {
          kernels<ActivationKernels<T>>().activate(curve, 0, frame.at<T>(y) + i, frame.at<T>(y) + i, n);
        });
      },
      {y.ref}, y);
}

Tensor Convolution::backward(Tensor dy, bool wants_data) const {
  const bool trains = plan_->trains(*node_);
  const bool weights_by_winograd = trains && by_winograd(Pass::kBackwardWeights);
  const bool data_by_winograd = wants_data && by_winograd(Pass::kBackwardData);
  // Our kernels apply the ReLU's gradient while they read dy.
  Tensor gate = spec_.activation == FusibleActivation::kRelu ? y_ : Tensor{};
  if (gate && (trains != weights_by_winograd || wants_data != data_by_winograd)) {
    dy = relu_gradient(*plan_, *node_, y_, dy);
    gate = {};
  }
  // Threads share the samples of the data gradient, but not the weight gradient, which is a sum over them.
  if (weights_by_winograd && data_by_winograd && step_threads() == 1 &&
      winograd_kernels()->joins_gradients(*winograd_))
    return add_winograd_gradients(dy, gate, true);
  if (weights_by_winograd) {
    add_winograd_gradients(dy, gate, false);
  } else if (trains) {
    backward_weights(dy);
  }
  if (!wants_data) return {};
  if (data_by_winograd) return add_winograd_data_gradient(dy, gate);
  return backward_data(dy);
}

// Another node that shares the weights may have chosen their layout.
Desc Convolution::hint_weight() const {
  const bool in_arena_layout = geometry_.type == kFloat && !plan_->graph().shares(*node_);
  return in_arena_layout ? plan_->parameter(*node_, spec_.weight).desc : forward_weight_;
}

// For blocked layouts oneDNN sometimes has only its reference loop (depthwise 5 x 5, or dilated). A matrix
// product over plain layouts is then hundreds of times faster, so both passes below use it.
Desc Convolution::plain(const Tensor& tensor) const {
  return {dims_of(tensor.desc), geometry_.type, Format::nchw};
}

// d loss / d weight, d bias.
void Convolution::backward_weights(const Tensor& dy) const {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  Tensor x = x_, d = dy;
  auto weights = weighted_.with_gradient(
      [&](const Desc& gradient) { return weights_pass(hint_weight(), gradient, x_.desc, y_.desc); });
  const std::string implementation = weights.impl_info_str();
  const bool slow = is_reference(implementation) || implementation.find("gemm") != std::string::npos;
  if (slow && add_depthwise_gradient(dy)) return;
  if (is_reference(implementation)) {
    const auto other = weights_pass(weighted_.any_weight(), weighted_.any_gradient(), plain(x_), plain(y_));
    if (!is_reference(other.impl_info_str())) {
      weights = other;
      x = plan.reordered(x_, plain(x_), node);
      d = plan.reordered(dy, plain(y_), node);
    }
  }
  weighted_.add_backward_weights<BackwardWeights>(weights, x, d);
}

// d loss / d x. Direct kernels need the transposed blocks of the weights.
Tensor Convolution::backward_data(const Tensor& dy) const {
  PlanBuilder& plan = *plan_;
  const Node& node = *node_;
  if (const Tensor dx = backward_data_flipped(dy)) return dx;
  Tensor d = dy;
  auto data = data_pass(hint_weight(), x_.desc, y_.desc);
  if (is_reference(data.impl_info_str())) {
    const auto other = data_pass(weighted_.any_weight(), plain(x_), plain(y_));
    if (!is_reference(other.impl_info_str())) {
      data = other;
      d = plan.reordered(dy, plain(y_), node);
    }
  }
  return weighted_.add_backward_data<BackwardData>(data, d);
}

// For a depthwise convolution with stride 1:
//   dx[h, w] = sum over i, j of dy[h + p - i d, w + p - j d] W[i, j]
// That is a convolution of dy with W[K - 1 - i, K - 1 - j] and a padding of (K - 1) d - p. oneDNN's kernel
// for it is about twice as fast as that for the gradient. Returns an empty tensor, and adds nothing, where it
// does not fit.
Tensor Convolution::backward_data_flipped(const Tensor& dy) const {
  PlanBuilder& plan = *plan_;
  const Conv2dOptions& o = spec_.options;
  const Desc weight = plan.parameter(*node_, spec_.weight).desc;
  if (geometry_.type != kFloat || !(o.stride == Extent(1)) || o.groups != spec_.in[0] ||
      o.filters != o.groups || depthwise_block(weight) == 0)
    return {};
  const Dims reach{(o.kernel.height - 1) * o.dilation.height, (o.kernel.width - 1) * o.dilation.width};
  const Dims before{reach[0] - geometry_.before[0], reach[1] - geometry_.before[1]};
  const Dims after{reach[0] - geometry_.after[0], reach[1] - geometry_.after[1]};
  if (std::ranges::min(before) < 0 || std::ranges::min(after) < 0) return {};
  const auto pass =
      forward_desc<Forward>(attributes(), prop_kind::forward_training, algorithm::convolution_direct, dy.desc,
                            weight, Desc(), x_.desc, geometry_.stride, geometry_.dilation, before, after);
  if (is_reference(pass.impl_info_str())) return {};
  const Tensor dx = plan.allocate(x_.desc);
  const Tensor flipped = plan.working(*node_, spec_.weight, {WeightForm::Kind::kFlipped, weight});
  plan.add_primitive(*node_, "backward data", Forward(pass), pass.impl_info_str(),
                     {{DNNL_ARG_SRC, dy}, {DNNL_ARG_WEIGHTS, flipped}, {DNNL_ARG_DST, dx}},
                     pass.scratchpad_desc(), geometry_.flops);
  return dx;
}

void require_groups(std::int64_t groups, std::int64_t channels, std::int64_t filters) {
  if (groups >= 1 && channels % groups == 0 && filters % groups == 0) return;
  throw Error(fmt::format("{} groups must divide both its {} input channels and its {} filters", groups,
                          channels, filters),
              "choose groups that divide both");
}

Tensor addend_of(PlanBuilder& plan, const Node& node) {
  const Node* const sum = plan.fusion(node).sum;
  if (sum == nullptr) return {};
  return plan.value_as(sum->inputs[sum->inputs[0] == node.index ? 1 : 0], plan.stored(), node);
}

void compile_convolution(PlanBuilder& plan, const Node& node, const Conv2dOptions& options) {
  const Fusion& fusion = plan.fusion(node);
  const std::size_t from = fusion.zero_pad == nullptr ? node.inputs[0] : fusion.zero_pad->inputs[0];
  const Shape& shape = plan.graph().node(from).shape;
  Conv2dOptions all = options;
  if (fusion.zero_pad != nullptr) {
    all.padding = padded_by(all.padding, *fusion.zero_pad->layer->traits().zero_border);
  }
  const bool image = shape.rank() == 3;
  const Convolution convolution(plan, node, plan.value(from),
                                {.in = image ? shape : as_image(shape),
                                 .options = all,
                                 .weight = "weight",
                                 .bias = "bias",
                                 .activation = fusion.activation(),
                                 .addend = addend_of(plan, node),
                                 .plain_source = from == 0 && image});
  const std::size_t output = fusion.output;
  plan.set_value(output, convolution.output());
  plan.on_gradient(output, node, [=, &plan, &node](const Tensor& dy) {
    const bool wanted = plan.needs_gradient(from);
    const Tensor dx = convolution.backward(dy, wanted);
    if (wanted) plan.add_gradient(from, dx, node);
  });
}

}  // namespace convoke::nn
