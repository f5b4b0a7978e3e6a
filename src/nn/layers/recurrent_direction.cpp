#include "nn/layers/recurrent_direction.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/recurrent.hpp"
#include "nn/plan/moving_primitive.hpp"

namespace convoke::nn {
namespace {

template <class T>
T* address(const Frame& frame, Ref ref) {
  return reinterpret_cast<T*>(frame.address(ref));
}

template <class T>
void forward_step(bool gru, const RecurrentStep<T>& step) {
  const RecurrentKernels<T>& here = kernels<RecurrentKernels<T>>();
  (gru ? here.gru_forward : here.lstm_forward)(step);
}
template <class T>
void backward_step(bool gru, const RecurrentStep<T>& step) {
  const RecurrentKernels<T>& here = kernels<RecurrentKernels<T>>();
  (gru ? here.gru_backward : here.lstm_backward)(step);
}

}  // namespace

/// Data of the loops over time steps. h, dropped and c have one time step more than x, which holds the zeroes
/// that the first step starts from: time step t reads slot before(t) and writes slot after(t).
struct Direction::Loop {
  bool gru, reverse, sequences, zero_masked, dropout, masked;
  std::int64_t samples, length, units, width, y_stride, y_column;
  std::optional<RecurrentInput> input;
  Tensor tokens, y, dy;
  Ref gates, product, h, dropped, c, candidate, factors;
  Ref recurrent_gates, dh, dc, back, scratch, back_scratch;
  Tensor weight, back_weight, bias;
  std::optional<MovingPrimitive> forward_product, back_product;

  std::int64_t rows() const { return samples * units; }
  std::int64_t before(std::int64_t t) const { return reverse ? t + 1 : t; }
  std::int64_t after(std::int64_t t) const { return reverse ? t : t + 1; }
  std::int64_t time_of(std::int64_t step) const { return reverse ? length - 1 - step : step; }
  /// Returns the memory that the state's product reads.
  Ref seen() const { return dropout ? dropped : h; }

  /// True if all samples mask the time step: their states pass over it.
  bool skips(const Frame& frame, std::int64_t t) const {
    if (!masked) return false;
    const std::int32_t* const token = frame.at<const std::int32_t>(tokens) + t;
    for (std::int64_t n = 0; n < samples; ++n) {
      if (token[n * length] != 0) return false;
    }
    return true;
  }

  template <class T>
  RecurrentStep<T> step_at(const Frame& frame, std::int64_t t, bool last) const {
    RecurrentStep<T> p;
    p.samples = samples;
    p.units = units;
    if (masked) p.tokens = frame.at<const std::int32_t>(tokens) + t;
    p.token_stride = length;
    p.zero_masked = zero_masked;
    p.gates = address<T>(frame, gates) + t * samples * width;
    p.h_before = address<T>(frame, h) + before(t) * rows();
    p.h = address<T>(frame, h) + after(t) * rows();
    if (gru) {
      p.candidate = address<T>(frame, candidate) + t * rows();
    } else {
      p.c_before = address<float>(frame, c) + before(t) * rows();
      p.c = address<float>(frame, c) + after(t) * rows();
    }
    if (dropout) {
      p.factors = address<float>(frame, factors);
      p.dropped = address<T>(frame, dropped) + after(t) * rows();
    }
    p.y_stride = y_stride;
    if (sequences || last) p.y = frame.at<T>(y) + (sequences ? t * samples * y_stride : 0) + y_column;
    return p;
  }

  template <class T>
  void run_forward(const Frame& frame) {
    const std::int64_t start = before(time_of(0)) * rows();
    for (const Ref state : {h, seen()}) std::fill_n(address<T>(frame, state) + start, rows(), T(0.0F));
    if (!gru) std::fill_n(address<float>(frame, c) + start, rows(), 0.0F);
    auto* const result = address<float>(frame, product);
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int64_t t = time_of(step);
      const T* state = address<T>(frame, seen()) + before(t) * rows();
      if (!skips(frame, t)) {
        forward_product->run(
            {state, frame.address(weight.ref), frame.address(bias.ref), result, frame.address(scratch)});
      }
      RecurrentStep<T> p = step_at<T>(frame, t, step + 1 == length);
      input->set_input(frame, t, p);
      p.product = result;
      forward_step(gru, p);
    }
  }

  template <class T>
  void run_backward(const Frame& frame) {
    std::fill_n(address<float>(frame, dh), rows(), 0.0F);
    if (!gru) std::fill_n(address<float>(frame, dc), rows(), 0.0F);
    auto* const returned = address<float>(frame, back);
    const float* through_state = nullptr;
    for (std::int64_t step = length; step-- > 0;) {
      const std::int64_t t = time_of(step);
      RecurrentStep<T> p = step_at<T>(frame, t, step + 1 == length);
      if (p.y != nullptr) p.dy = frame.at<T>(dy) + (p.y - frame.at<T>(y));
      p.dh = address<float>(frame, dh);
      p.dc = gru ? nullptr : address<float>(frame, dc);
      p.back = through_state;
      if (gru) p.recurrent_gates = address<T>(frame, recurrent_gates) + t * samples * width;
      backward_step(gru, p);
      through_state = nullptr;
      if (step == 0 || skips(frame, t)) continue;
      back_product->run({gru ? p.recurrent_gates : p.gates, frame.address(back_weight.ref), returned,
                         frame.address(back_scratch)});
      through_state = returned;
    }
  }
};

Direction::Direction(PlanBuilder& plan, const Node& node, DirectionSpec spec)
    : spec_(std::move(spec)),
      width_((spec_.gru ? 3 : 4) * spec_.options.units),
      state_(plan, node, spec_.prefix + "recurrent_weight",
             spec_.gru && spec_.options.bias ? spec_.prefix + "recurrent_bias" : "", spec_.in.samples,
             spec_.options.units, width_, kFloat) {
  const RecurrentOptions& o = spec_.options;
  const std::int64_t samples = spec_.in.samples, length = spec_.in.length;
  const auto bytes = [&](std::int64_t count, Type type) {
    return plan.allocate_bytes(static_cast<std::size_t>(count) * dnnl::memory::data_type_size(type));
  };
  const Type type = plan.stored();

  loop_ = std::make_shared<Loop>();
  Loop& loop = *loop_;
  loop.gru = spec_.gru;
  loop.reverse = spec_.reverse;
  loop.sequences = o.sequences;
  loop.zero_masked = o.sequences && o.bidirectional;
  loop.dropout = plan.training(node) && o.recurrent_dropout > 0;
  loop.samples = samples;
  loop.length = length;
  loop.units = o.units;
  loop.width = width_;
  loop.y_stride = spec_.directions * o.units;
  loop.y_column = spec_.number * o.units;
  loop.tokens = spec_.tokens;
  loop.masked = static_cast<bool>(spec_.tokens);
  loop.y = spec_.y;
  const std::int64_t states = (length + 1) * loop.rows();
  loop.h = bytes(states, type);
  if (loop.dropout) {
    loop.dropped = bytes(states, type);
    loop.factors = bytes(loop.rows(), kFloat);
  }
  if (loop.gru) {
    loop.candidate = bytes(length * loop.rows(), type);
  } else {
    loop.c = bytes(states, kFloat);
  }
  loop.product = bytes(samples * width_, kFloat);

  if (loop.dropout) {
    const Ref factors = loop.factors, keep = plan.allocate_bytes(static_cast<std::size_t>(loop.rows()));
    const std::uint32_t stream = mask_stream(node, spec_.number, Mask::kState);
    plan.add_kernel(node, "mask of the state",
                    [=, units = o.units, rate = o.recurrent_dropout](const Frame& frame) {
                      draw_recurrent_factors(frame, samples, units, rate, stream,
                                             address<float>(frame, factors),
                                             address<std::uint8_t>(frame, keep));
                    },
                    {factors, keep}, {});
  }
  loop.input.emplace(plan, node, spec_, width_);
  loop.input->add_forward(plan, node);
  loop.gates = loop.input->gates().ref;

  // The state's product, time step by time step.
  const auto& forward = state_.forward();
  loop.weight = plan.working(node, state_.weight(), forward.weights_desc());
  if (state_.has_bias()) loop.bias = plan.parameter(node, state_.bias());
  loop.forward_product.emplace(RecurrentProduct::moving(forward));
  loop.scratch = plan.allocate_bytes(forward.scratchpad_desc().get_size() + 1);
  std::vector<Ref> uses{loop.gates, loop.product, loop.h, loop.weight.ref, loop.y.ref, loop.scratch};
  uses.push_back(loop.gru ? loop.candidate : loop.c);
  if (loop.bias) uses.push_back(loop.bias.ref);
  if (loop.tokens) uses.push_back(loop.tokens.ref);
  if (loop.dropout) uses.insert(uses.end(), {loop.dropped, loop.factors});
  for (const Ref ref : loop.input->uses()) uses.push_back(ref);
  with_stored_type(loop.input->gates().desc, [&](auto zero) {
    plan.add_kernel(
        node, "forward recurrent",
        [shared = loop_](const Frame& frame) { shared->run_forward<decltype(zero)>(frame); }, uses, spec_.y,
        static_cast<double>(length) * state_.flops());
  });
}

void Direction::backward(PlanBuilder& plan, const Node& node, const Tensor& dy) {
  Loop& loop = *loop_;
  const SequenceExtents in = spec_.in;
  const Type type = plan.stored();
  const auto bytes = [&](std::int64_t count, Type t) {
    return plan.allocate_bytes(static_cast<std::size_t>(count) * dnnl::memory::data_type_size(t));
  };

  // Visits the time steps in reverse order. Gradients of the gates replace the gates.
  loop.dy = dy;
  loop.dh = bytes(loop.rows(), kFloat);
  loop.back = bytes(loop.rows(), kFloat);
  if (loop.gru) {
    loop.recurrent_gates = bytes(in.length * in.samples * width_, type);
  } else {
    loop.dc = bytes(loop.rows(), kFloat);
  }
  const auto back = state_.backward_data(plan, node, kFloat);
  loop.back_weight = plan.working(node, state_.weight(), back.weights_desc());
  loop.back_product.emplace(RecurrentProduct::moving(back));
  loop.back_scratch = plan.allocate_bytes(back.scratchpad_desc().get_size() + 1);
  std::vector<Ref> uses{loop.gates,           loop.h,           dy.ref, loop.dh, loop.back,
                        loop.back_weight.ref, loop.back_scratch};
  uses.push_back(loop.gru ? loop.candidate : loop.c);
  uses.push_back(loop.gru ? loop.recurrent_gates : loop.dc);
  if (loop.tokens) uses.push_back(loop.tokens.ref);
  if (loop.dropout) uses.insert(uses.end(), {loop.dropped, loop.factors});
  with_stored_type(loop.input->gates().desc, [&](auto zero) {
    plan.add_kernel(
        node, "backward recurrent",
        [shared = loop_](const Frame& frame) { shared->run_backward<decltype(zero)>(frame); }, uses,
        loop.input->gates(), static_cast<double>(in.length - 1) * state_.flops());
  });

  // Weights of the state: the gradient at time step t belongs to the state that this step read.
  RecurrentProduct all(plan, node, state_.weight(), state_.bias(), in.length * in.samples, loop.units, width_,
                       kFloat);
  const auto state_weights = all.backward_weights(plan, node);
  const Tensor dweight = plan.gradient_of(node, state_.weight());
  Tensor dbias;
  std::vector<std::size_t> completes{plan.slot(node, state_.weight())};
  if (all.has_bias()) {
    dbias = plan.gradient_of(node, all.bias());
    completes.push_back(plan.slot(node, all.bias()));
  }
  const auto moving = std::make_shared<MovingPrimitive>(RecurrentProduct::moving(state_weights));
  const Ref weights_scratch = plan.allocate_bytes(state_weights.scratchpad_desc().get_size() + 1);
  const Ref gradients = loop.gru ? loop.recurrent_gates : loop.gates;
  const Ref seen = loop.seen();
  std::vector<Ref> weight_uses{gradients, seen, dweight.ref, weights_scratch};
  if (dbias) weight_uses.push_back(dbias.ref);
  const std::size_t skipped =
      static_cast<std::size_t>(loop.before(0) * loop.rows()) * dnnl::memory::data_type_size(type);
  plan.add_kernel(
      node, "backward recurrent weights",
      [=](const Frame& frame) {
        moving->run({frame.address(seen) + skipped, frame.address(gradients), frame.address(dbias.ref),
                     frame.address(dweight.ref), frame.address(weights_scratch)});
      },
      weight_uses, dweight, all.flops(), completes);

  loop.input->add_backward(plan, node);
}

}  // namespace convoke::nn
