#include "convoke/nn/layers/batch_norm.hpp"

#include <algorithm>

#include "convoke/nn/layers/pool.hpp"
#include "nn/layers/batch_norm_plan.hpp"

namespace convoke::nn {

std::vector<ParameterSpec> BatchNorm::parameters(std::span<const ValueSpec> inputs) const {
  const Shape channels{channels_of(inputs[0])};
  ParameterSpec mean{.name = "running_mean",
                     .shape = channels,
                     .trainable = false,
                     .momentum = options_.frozen ? 1 : options_.momentum};
  ParameterSpec variance = mean;
  variance.name = "running_variance";
  variance.initializer = Initializer::kOnes;
  std::vector<ParameterSpec> specs = normalisation_parameters(channels[0], options_.scale, options_.center);
  specs.insert(specs.end(), {mean, variance});
  return specs;
}

Settings BatchNorm::settings() const {
  return {{"layer", "batch_norm"},
          {"momentum", options_.momentum},
          {"epsilon", options_.epsilon},
          {"scale", options_.scale},
          {"center", options_.center},
          {"frozen", options_.frozen},
          {"synchronized", options_.synchronized}};
}

LayerPtr BatchNorm::make(SettingsReader& read) {
  BatchNormOptions o;
  o.momentum = read.get("momentum", o.momentum);
  o.epsilon = read.get("epsilon", o.epsilon);
  o.scale = read.get("scale", o.scale);
  o.center = read.get("center", o.center);
  o.frozen = read.get("frozen", o.frozen);
  o.synchronized = read.get("synchronized", o.synchronized);
  if (o.momentum < 0 || o.momentum > 1) read.fail("\"momentum\" must be between 0 and 1");
  if (!(o.epsilon > 0)) read.fail("\"epsilon\" must be above 0");
  if (o.frozen && o.synchronized) {
    read.fail("\"frozen\" and \"synchronized\" exclude each other",
              "running statistics are the same for all lanes: remove one of the two");
  }
  return std::make_shared<BatchNorm>(o);
}

void BatchNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Fusion& fusion = plan.fusion(node);
  BatchNormShape shape;
  const Tensor x = plan.blocked_by_channel(from, node, shape.in);
  shape.lane = plan.options().lane;
  shape.relu = fusion.relu;
  if (fusion.relu6) shape.ceiling = 6;
  const bool frozen_node = !plan.graph().owner(node).options.trainable;
  shape.frozen = options_.frozen || frozen_node;
  Desc dst = x.desc;
  if (fusion.max_pool != nullptr) {
    const Extent size = static_cast<const MaxPool&>(*fusion.max_pool->layer).options().size;
    shape.pool_height = size.height;
    shape.pool_width = size.width;
    dst = with_layout_of(shape.in, plan.batched(fusion.max_pool->shape), type_of(x.desc));
  }

  for (const ParameterSpec& spec : node.parameters)
    plan.prefer(node, spec.name, Desc({spec.shape[0]}, kFloat, Format::x));
  const std::int64_t padded = shape.in.padded_channels();
  const Coefficients gamma(plan, node, "gamma", options_.scale, 1, padded);
  const Coefficients beta(plan, node, "beta", options_.center, 0, padded);
  const Ref running_mean = plan.parameter(node, "running_mean").ref;
  const Ref running_variance = plan.parameter(node, "running_variance").ref;
  const auto epsilon = static_cast<float>(options_.epsilon);
  const std::string what = std::string("forward") +
                           (fusion.relu6 ? ", relu6"
                            : shape.relu ? ", relu"
                                         : "") +
                           (shape.pooled() ? ", max_pool" : "");
  const Tensor y = plan.allocate(dst);
  plan.set_value(fusion.output, y);
  const std::size_t output = fusion.output;

  // Frozen as a node: what inference does, and nothing is learned here.
  if (!plan.training() || (frozen_node && !fusion.relu6 && !shape.pooled())) {
    with_stored_type(x.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(
          node, what,
          [=](const Frame& frame) {
            batch_norm_inference(shape, frame.at<T>(x), gamma.at(frame), beta.at(frame),
                                 frame.at(running_mean), frame.at(running_variance), epsilon, frame.at<T>(y));
          },
          {x.ref, y.ref}, y);
    });
    if (!plan.training()) return;
    // Frozen: dx = gamma / sqrt(running_variance + eps) * dy, which is the same with mean and beta 0.
    plan.on_backward([=, &plan, &node] {
      if (!plan.needs_gradient(from)) return;
      Tensor dy = plan.gradient_like_value(output, node);
      if (!dy) return;
      if (shape.relu) dy = relu_gradient(plan, node, y, dy);
      const Tensor dx = dy.exclusive ? dy : plan.allocate(dy.desc);
      const std::vector<float> zeros(static_cast<std::size_t>(shape.in.padded_channels()));
      BatchNormShape linear = shape;
      linear.relu = false;
      with_stored_type(dy.desc, [&](auto zero) {
        using T = decltype(zero);
        plan.add_kernel(
            node, "backward data",
            [=](const Frame& frame) {
              batch_norm_inference(linear, frame.at<T>(dy), gamma.at(frame), zeros.data(), zeros.data(),
                                   frame.at(running_variance), epsilon, frame.at<T>(dx));
            },
            {dy.ref, dx.ref}, dx);
      });
      plan.add_gradient(from, dx, node);
    });
    return;
  }

  if (options_.synchronized && !shape.frozen)
    return compile_synchronized(plan, node, {shape, from, output, x, y, gamma, beta, epsilon, what});

  std::vector<Ref> uses{x.ref, y.ref};
  const BatchNormKept kept(plan, shape, shape.lanes(), dst, uses);
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, what,
        [=](const Frame& frame) {
          const BatchNormMemory memory = kept.at(frame);
          for (std::int64_t lane = 0; shape.frozen && lane < shape.lanes(); ++lane) {
            std::copy_n(frame.at(running_mean), padded, memory.mean + lane * padded);
            std::copy_n(frame.at(running_variance), padded, memory.variance + lane * padded);
          }
          batch_norm_forward(shape, frame.at<T>(x), gamma.at(frame), beta.at(frame), epsilon, memory,
                             frame.at<T>(y));
        },
        uses, y);
  });

  plan.on_backward([=, &plan, &node]() mutable {
    const Ref mean = plan.gradient_of(node, "running_mean").ref;
    const Ref variance = plan.gradient_of(node, "running_variance").ref;
    // The running statistics' share of this plan: sum over its lanes of statistic * lane / batch. Frozen ones
    // are not moved by it.
    const auto tell_statistics = [=](const Frame& frame) {
      const BatchNormMemory memory = kept.at(frame);
      const float share = static_cast<float>(shape.lane) / static_cast<float>(frame.batch);
      for (std::int64_t c = 0; c < padded; ++c) {
        float means = 0;
        float variances = 0;
        for (std::int64_t lane = 0; lane < shape.lanes(); ++lane) {
          means += memory.mean[lane * padded + c];
          variances += memory.variance[lane * padded + c];
        }
        frame.at(mean)[c] = means * share;
        frame.at(variance)[c] = variances * share;
      }
    };
    std::vector<std::size_t> completes{plan.slot(node, "running_mean"), plan.slot(node, "running_variance")};
    const Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) {  // nothing here or before it is learned
      plan.add_kernel(node, "statistics", tell_statistics, uses, {}, 0, completes);
      return;
    }
    const Tensor dx = !shape.pooled() && dy.exclusive ? dy : plan.allocate(x.desc);
    const Tensor gated = !shape.pooled() || dy.exclusive ? dy : plan.allocate(dy.desc);
    const Ref dgamma = gamma.gradient(plan, node, uses, completes);
    const Ref dbeta = beta.gradient(plan, node, uses, completes);
    uses.insert(uses.end(), {dy.ref, gated.ref, dx.ref});
    with_stored_type(x.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(
          node, "backward",
          [=](const Frame& frame) {
            batch_norm_backward(shape, frame.at<T>(x), frame.at<T>(dy), gamma.at(frame), beta.at(frame),
                                kept.at(frame), frame.at<T>(gated), frame.at<T>(dx), frame.at(dgamma),
                                frame.at(dbeta));
            tell_statistics(frame);
          },
          uses, dx, 0, completes);
    });
    plan.add_gradient(from, dx, node);
  });
}

bool has_synchronized_batch_norm(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    if (node.layer == nullptr || node.layer->type() != "batch_norm") return false;
    const BatchNormOptions& options = static_cast<const BatchNorm&>(*node.layer).options();
    return options.synchronized && !options.frozen && graph.owner(node).options.trainable;
  });
}

Symbol batch_norm(Symbol x, BatchNormOptions options) {
  return {x.graph, x.graph->add(std::make_shared<BatchNorm>(options), {x.node})};
}

}  // namespace convoke::nn
