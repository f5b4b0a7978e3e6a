#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "convoke/nn/layers/normalizations.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/batch_norm_plan.hpp"
#include "nn/layers/shared_keys.hpp"

namespace convoke::nn {

BatchNormKept::BatchNormKept(PlanBuilder& plan, const BatchNormShape& shape, std::int64_t micro_batches,
                             const Desc& dst, std::vector<Ref>& uses) {
  const std::int64_t count = micro_batches * shape.in.padded_channels();
  for (Ref* statistic : {&mean, &scale, &variance}) uses.push_back(*statistic = plan.allocate_numbers(count));
  if (!shape.pooled()) return;
  winners = plan.allocate_bytes(elements_of(dst) * sizeof(std::int32_t));
  x_hat = plan.allocate_bytes(elements_of(dst) * sizeof(float));
  uses.insert(uses.end(), {winners, x_hat});
}

void offer_recomputation(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm,
                         const BatchNormKept& kept, std::vector<Ref> uses) {
  if (norm.shape.pooled()) return;  // it would cost more, and the winners are kept anyway
  uses.push_back(norm.y.ref);
  BatchNormShape given = norm.shape;
  given.frozen = true;
  with_stored_type(norm.x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.offer_recomputation(
        node, "again" + norm.what.substr(std::string_view("forward").size()),
        [=](const Frame& frame) { normalize<T>(norm, given, kept, frame); }, std::move(uses), norm.y);
  });
}

namespace {

// For prediction, and for training of a frozen node, which learns nothing.
void add_given_statistics(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm) {
  plan.add_typed_kernel(
      norm.x.desc, node, norm.what,
      [=]<class T>(const Frame& frame) {
        share_channels(norm.shape, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().inference(part, frame.at<T>(norm.x), norm.gamma.at(frame),
                                                   norm.beta.at(frame), frame.at(norm.running_mean),
                                                   frame.at(norm.running_variance), norm.epsilon,
                                                   frame.at<T>(norm.y));
        });
      },
      {norm.x.ref, norm.y.ref}, norm.y);
}

// dx = gamma / sqrt(running_variance + eps) * dy: the forward formula with mean and beta 0
void add_frozen_backward(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm) {
  if (!plan.needs_gradient(norm.from)) return;
  Tensor dy = plan.gradient_like_value(norm.output, node);
  if (!dy) return;
  if (norm.shape.relu) dy = relu_gradient(plan, node, norm.y, dy);
  const Tensor dx = plan.in_place_of(dy);
  const std::vector<float> zeros(static_cast<std::size_t>(norm.shape.in.padded_channels()));
  BatchNormShape linear = norm.shape;
  linear.relu = false;
  plan.add_typed_kernel(
      dy.desc, node, "backward data",
      [=]<class T>(const Frame& frame) {
        share_channels(linear, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().inference(part, frame.at<T>(dy), norm.gamma.at(frame), zeros.data(),
                                                   zeros.data(), frame.at(norm.running_variance),
                                                   norm.epsilon, frame.at<T>(dx));
        });
      },
      {dy.ref, dx.ref}, dx);
  plan.add_gradient(norm.from, dx, node);
}

// Uses the statistics of each micro-batch.
template <class T>
void add_forward(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm, const BatchNormKept& kept,
                 std::vector<Ref> uses) {
  const BatchNormShape& shape = norm.shape;
  const std::int64_t padded = shape.in.padded_channels();
  offer_recomputation(plan, node, norm, kept, uses);
  uses.push_back(norm.y.ref);
  plan.add_kernel(
      node, norm.what,
      [=](const Frame& frame) {
        const BatchNormMemory memory = kept.at(frame);
        for (std::int64_t micro_batch = 0; shape.frozen && micro_batch < shape.micro_batches();
             ++micro_batch) {
          std::copy_n(frame.at(norm.running_mean), padded, memory.mean + micro_batch * padded);
          std::copy_n(frame.at(norm.running_variance), padded, memory.variance + micro_batch * padded);
        }
        normalize<T>(norm, shape, kept, frame);
      },
      std::move(uses), norm.y);
}

template <class T>
void add_backward(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm, const BatchNormKept& kept,
                  std::vector<Ref> uses) {
  const BatchNormShape& shape = norm.shape;
  const std::int64_t padded = shape.in.padded_channels();
  const Ref mean = plan.gradient_of(node, "running_mean").ref;
  const Ref variance = plan.gradient_of(node, "running_variance").ref;
  // Writes this plan's share of the running statistics: the sum over its micro-batches of statistic *
  // micro_batch / batch, as a mean over the uses of the layer. A frozen node keeps its statistics.
  const auto write_statistics = [=, count = norm.uses](const Frame& frame) {
    const BatchNormMemory memory = kept.at(frame);
    const float share = static_cast<float>(shape.micro_batch) / static_cast<float>(frame.batch) / count;
    for (std::int64_t c = 0; c < padded; ++c) {
      float means = 0;
      float variances = 0;
      for (std::int64_t micro_batch = 0; micro_batch < shape.micro_batches(); ++micro_batch) {
        means += memory.mean[micro_batch * padded + c];
        variances += memory.variance[micro_batch * padded + c];
      }
      frame.at(mean)[c] = means * share;
      frame.at(variance)[c] = variances * share;
    }
  };
  std::vector<std::size_t> completes{plan.slot(node, "running_mean"), plan.slot(node, "running_variance")};
  const Tensor dy = plan.gradient_like_value(norm.output, node);
  if (!dy)  // no parameter of this or an earlier node is trained
    return plan.add_kernel(node, "statistics", write_statistics, uses, {}, 0, completes);
  const Tensor gated = shape.gates() ? plan.in_place_of(dy) : dy;
  const Tensor dx = !shape.pooled() && dy.exclusive ? dy : plan.allocate(norm.x.desc);
  const Ref dgamma = norm.gamma.gradient(plan, node, uses, completes);
  const Ref dbeta = norm.beta.gradient(plan, node, uses, completes);
  uses.insert(uses.end(), {dy.ref, gated.ref, dx.ref});
  plan.add_kernel(
      node, "backward",
      [=](const Frame& frame) {
        share_channels(shape, [&](const BatchNormShape& part) {
          kernels<BatchNormKernels<T>>().backward(
              part, frame.at<T>(norm.x), frame.at<T>(dy), norm.gamma.at(frame), norm.beta.at(frame),
              kept.at(frame), frame.at<T>(gated), frame.at<T>(dx), frame.at(dgamma), frame.at(dbeta));
        });
        write_statistics(frame);
      },
      uses, dx, 0, completes);
  plan.add_gradient(norm.from, dx, node);
}

}  // namespace

std::vector<ParameterSpec> BatchNorm::parameters(std::span<const ValueSpec> inputs) const {
  const Shape channels{channels_of(inputs[0])};
  ParameterSpec mean{.name = "running_mean",
                     .shape = channels,
                     .trainable = false,
                     .momentum = options_.frozen ? 1 : options_.momentum};
  ParameterSpec variance = mean;
  variance.name = "running_variance";
  variance.initializer = Initializer::kOnes;
  std::vector<ParameterSpec> specs = normalization_parameters(channels[0], options_.scale, options_.center);
  specs.insert(specs.end(), {mean, variance});
  return specs;
}

LayerTraits BatchNorm::traits() const {
  return {.synchronizes = options_.synchronized && !options_.frozen,
          .norm_epsilon = options_.epsilon,
          .applies_relu = true,
          .applies_curves = true,
          .pools_behind_relu = true};
}

BatchNorm::Keys BatchNorm::keys() {
  using O = BatchNormOptions;
  static constexpr std::array kKeys{
      key<&O::momentum>({.name = "momentum",
                         .range = {.least = 0, .largest = 1},
                         .help = "momentum of the running statistics; PyTorch's 0.1 is 0.9 here"}),
      kEpsilon<O>,
      kScale<O>,
      kCenter<O>,
      key<&O::frozen>(
          {.name = "frozen", .help = "use running statistics in training too, and do not change them"}),
      key<&O::synchronized>({.name = "synchronized",
                             .help = "use the statistics of the whole batch instead of each micro-batch"})};
  return kKeys;
}

void BatchNorm::check(const SettingsReader& read, const BatchNormOptions& o) {
  if (!o.frozen || !o.synchronized) return;
  read.fail("\"frozen\" and \"synchronized\" exclude each other",
            "running statistics are the same for all micro-batches: remove one of the two");
}

void BatchNorm::compile(PlanBuilder& plan, const Node& node) const {
  const Fusion& fusion = plan.fusion(node);
  ChannelBlocks in;
  const Tensor x = plan.blocked_by_channel(node.inputs[0], node, in);
  const bool frozen_node = !plan.graph().owner(node).options.trainable;
  BatchNormShape shape{.in = in, .micro_batch = plan.options().micro_batch, .relu = fusion.relu};
  shape.frozen = options_.frozen || frozen_node;
  if (fusion.relu6) shape.ceiling = 6;
  if (fusion.curve != nullptr) {
    const bool silu = fusion.curve->layer->traits().activation == FusibleActivation::kSilu;
    shape.curve = silu ? BatchNormShape::Form::kSilu : BatchNormShape::Form::kHardSwish;
  }
  Desc dst = x.desc;
  if (fusion.max_pool != nullptr) {
    const Extent size = fusion.max_pool->layer->traits().max_windows->size;
    shape.pool_height = size.height;
    shape.pool_width = size.width;
    dst = with_layout_of(shape.in, plan.batched(fusion.max_pool->shape), type_of(x.desc));
  }
  for (const ParameterSpec& spec : node.parameters)
    plan.prefer(node, spec.name, Desc({spec.shape[0]}, kFloat, Format::x));
  const std::int64_t padded = shape.in.padded_channels();
  const BatchNormPlan norm{.shape = shape,
                           .from = node.inputs[0],
                           .output = fusion.output,
                           .x = x,
                           .y = plan.allocate(dst),
                           .gamma = {plan, node, "gamma", options_.scale, 1, padded},
                           .beta = {plan, node, "beta", options_.center, 0, padded},
                           .running_mean = plan.parameter(node, "running_mean").ref,
                           .running_variance = plan.parameter(node, "running_variance").ref,
                           .epsilon = static_cast<float>(options_.epsilon),
                           .uses = static_cast<float>(plan.uses(node)),
                           .what = fusion.curve != nullptr
                                       ? fmt::format("forward, {}", fusion.curve->layer->type())
                                   : fusion.relu6 ? "forward, relu6"
                                                  : fmt::format("forward{}{}", shape.relu ? ", relu" : "",
                                                                shape.pooled() ? ", max_pool" : "")};
  plan.set_value(norm.output, norm.y);

  if (!plan.training() || (frozen_node && !plan.training(node) && !plan.needs_gradient(norm.from)))
    return add_given_statistics(plan, node, norm);
  if (frozen_node && !fusion.relu6 && shape.form() == BatchNormShape::Form::kPlain) {
    add_given_statistics(plan, node, norm);
    return plan.on_backward([=, &plan, &node] { add_frozen_backward(plan, node, norm); });
  }
  if (options_.synchronized && !shape.frozen) return compile_synchronized(plan, node, norm);
  std::vector<Ref> uses{x.ref};
  const BatchNormKept kept(plan, shape, shape.micro_batches(), dst, uses);
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    add_forward<T>(plan, node, norm, kept, uses);
    plan.on_backward([=, &plan, &node] { add_backward<T>(plan, node, norm, kept, uses); });
  });
}

}  // namespace convoke::nn
