#include "convoke/nn/layers/batch_norm.hpp"

#include "nn/kernels/batch_norm.hpp"

#include "convoke/nn/layers/pool.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

/// The buffers that forward leaves for backward.
struct Kept {
  Ref mean, scale, variance, winners, x_hat;
  bool pooled = false;

  BatchNormMemory at(const Frame& frame) const {
    return {frame.at(mean), frame.at(scale), frame.at(variance), pooled ? frame.integers(winners) : nullptr,
            pooled ? frame.at(x_hat) : nullptr};
  }
};

}  // namespace

std::vector<ParameterSpec> BatchNorm::parameters(std::span<const ValueSpec> inputs) const {
  const Shape channels{inputs[0][0]};
  ParameterSpec mean{
      .name = "running_mean", .shape = channels, .trainable = false, .momentum = options_.momentum};
  ParameterSpec variance = mean;
  variance.name = "running_variance";
  variance.initializer = Initializer::kOnes;
  return {{.name = "gamma", .shape = channels, .initializer = Initializer::kOnes},
          {.name = "beta", .shape = channels},
          mean,
          variance};
}

Settings BatchNorm::settings() const {
  return {{"layer", "batch_norm"}, {"momentum", options_.momentum}, {"epsilon", options_.epsilon}};
}

LayerPtr BatchNorm::make(SettingsReader& read) {
  BatchNormOptions o;
  o.momentum = read.get("momentum", o.momentum);
  o.epsilon = read.get("epsilon", o.epsilon);
  if (o.momentum < 0 || o.momentum > 1) read.fail("\"momentum\" must be between 0 and 1");
  if (!(o.epsilon > 0)) read.fail("\"epsilon\" must be above 0");
  return std::make_shared<BatchNorm>(o);
}

void BatchNorm::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const Fusion& fusion = plan.fusion(node);
  Tensor source = plan.value(from);
  if (node.shape.rank() == 1) source = plan.flat(source, node);  // a feature is a channel of its own
  BatchNormShape shape;
  const Tensor x = plan.blocked(source, node, shape.in);
  shape.lane = plan.options().lane;
  shape.relu = fusion.relu;
  Desc dst = x.desc;
  if (fusion.max_pool != nullptr) {
    const Extent size = static_cast<const MaxPool&>(*fusion.max_pool->layer).options().size;
    shape.pool_height = size.height;
    shape.pool_width = size.width;
    dst = with_layout_of(shape.in, plan.batched(fusion.max_pool->shape), type_of(x.desc));
  }

  for (const char* name : {"gamma", "beta", "running_mean", "running_variance"}) {
    plan.prefer(node, name, Desc({node.shape[0]}, kFloat, Format::x));
  }
  const Ref gamma = plan.parameter(node, "gamma").ref;
  const Ref beta = plan.parameter(node, "beta").ref;
  const auto epsilon = static_cast<float>(options_.epsilon);
  const std::string what =
      std::string("forward") + (shape.relu ? ", relu" : "") + (shape.pooled() ? ", max_pool" : "");
  const Tensor y = plan.allocate(dst);
  plan.set_value(fusion.output, y);
  const std::size_t output = fusion.output;

  if (!plan.training() || !plan.trains(node)) {
    const Ref mean = plan.parameter(node, "running_mean").ref;
    const Ref variance = plan.parameter(node, "running_variance").ref;
    with_stored_type(x.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(
          node, what,
          [=](const Frame& frame) {
            batch_norm_inference(shape, frame.at<T>(x), frame.at(gamma), frame.at(beta), frame.at(mean),
                                 frame.at(variance), epsilon, frame.at<T>(y));
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
              batch_norm_inference(linear, frame.at<T>(dy), frame.at(gamma), zeros.data(), zeros.data(),
                                   frame.at(variance), epsilon, frame.at<T>(dx));
            },
            {dy.ref, dx.ref}, dx);
      });
      plan.add_gradient(from, dx, node);
    });
    return;
  }

  const std::int64_t padded = shape.in.padded_channels();
  const std::size_t bytes = static_cast<std::size_t>(shape.lanes() * padded) * sizeof(float);
  Kept kept{plan.allocate_bytes(bytes),
            plan.allocate_bytes(bytes),
            plan.allocate_bytes(bytes),
            {},
            {},
            shape.pooled()};
  std::vector<Ref> uses{x.ref, y.ref, kept.mean, kept.scale, kept.variance};
  if (kept.pooled) {
    kept.winners = plan.allocate_bytes(elements_of(dst) * sizeof(std::int32_t));
    kept.x_hat = plan.allocate_bytes(elements_of(dst) * sizeof(float));
    uses.insert(uses.end(), {kept.winners, kept.x_hat});
  }
  with_stored_type(x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.add_kernel(
        node, what,
        [=](const Frame& frame) {
          batch_norm_forward(shape, frame.at<T>(x), frame.at(gamma), frame.at(beta), epsilon, kept.at(frame),
                             frame.at<T>(y));
        },
        uses, y);
  });

  plan.on_backward([=, &plan, &node]() mutable {
    const Tensor dy = plan.gradient_like_value(output, node);
    if (!dy) return;
    const Tensor dx = !shape.pooled() && dy.exclusive ? dy : plan.allocate(x.desc);
    const Tensor gated = !shape.pooled() || dy.exclusive ? dy : plan.allocate(dy.desc);
    const Ref dgamma = plan.gradient_of(node, "gamma").ref;
    const Ref dbeta = plan.gradient_of(node, "beta").ref;
    const Ref mean = plan.gradient_of(node, "running_mean").ref;
    const Ref variance = plan.gradient_of(node, "running_variance").ref;
    uses.insert(uses.end(), {dy.ref, gated.ref, dx.ref});
    with_stored_type(x.desc, [&](auto zero) {
      using T = decltype(zero);
      plan.add_kernel(node, "backward",
                      [=](const Frame& frame) {
                        const BatchNormMemory memory = kept.at(frame);
                        batch_norm_backward(shape, frame.at<T>(x), frame.at<T>(dy), frame.at(gamma),
                                            frame.at(beta), memory, frame.at<T>(gated), frame.at<T>(dx),
                                            frame.at(dgamma), frame.at(dbeta));
                        // The running statistics' share of this plan: sum over its lanes of statistic * lane
                        // / batch.
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
                      },
                      uses, dx, 0,
                      {plan.slot(node, "gamma"), plan.slot(node, "beta"), plan.slot(node, "running_mean"),
                       plan.slot(node, "running_variance")});
    });
    plan.add_gradient(from, dx, node);
  });
}

Symbol batch_norm(Symbol x, BatchNormOptions options) {
  return {x.graph, x.graph->add(std::make_shared<BatchNorm>(options), {x.node})};
}

}  // namespace convoke::nn
