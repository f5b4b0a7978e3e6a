#include "nn/layers/recurrent_direction.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/recurrent.hpp"
#include "nn/kernels/stored.hpp"

namespace convoke::nn {
namespace {

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

/// Returns an eighth of `all`, two eighths, ..., and all; or all alone.
std::vector<std::int64_t> eighths(std::int64_t all, bool parts) {
  std::vector<std::int64_t> list;
  for (std::int64_t rows = (all + 7) / 8; parts && rows < all; rows += (all + 7) / 8) list.push_back(rows);
  list.push_back(all);
  return list;
}

}  // namespace

/// Data of the loops over time steps. h, dropped and c have one time step more than x, which holds the zeroes
/// that the first step starts from: time step t reads slot before(t) and writes slot after(t). With
/// ActiveRows, a step's rows follow those of the step before, and its new states are what the next one reads.
struct Direction::Loop : DirectionSpec {
  /// Rows of a step, and where the first one stands in the memory of gates and of states.
  struct Rows {
    std::int64_t t, count, active, gates, before, after;
  };

  explicit Loop(DirectionSpec spec) : DirectionSpec(std::move(spec)) {}

  std::int64_t samples = in.samples, length = in.length, units = options.units;
  std::int64_t width = (gru ? 3 : 4) * units;  ///< of all gates: G U
  std::int64_t y_stride = directions * units, y_column = number * units;
  bool sequences = options.sequences, zero_masked = sequences && options.bidirectional, dropout = false;
  std::optional<RecurrentInput> input;
  Tensor dy;
  Ref gates, product, h, dropped, c, candidate, factors;
  Ref recurrent_gates, dh, dc, back;
  Tensor weight, back_weight, bias;
  std::optional<RowProducts> forward_product, back_product;
  std::optional<RowsGradient> weight_gradient;

  std::int64_t state() const { return samples * units; }
  std::int64_t before(std::int64_t t) const { return reverse ? t + 1 : t; }
  std::int64_t after(std::int64_t t) const { return reverse ? t : t + 1; }
  std::int64_t time_of(std::int64_t step) const { return reverse ? length - 1 - step : step; }
  /// Returns the memory that forward and backward use.
  std::vector<Ref> memory() const {
    std::vector<Ref> used = input->uses();
    used.insert(used.end(), {gates, h, candidate, c, tokens.ref, dropped, factors});
    return used;
  }
  /// Returns the memory that the state's product reads.
  Ref seen() const { return dropout ? dropped : h; }

  Rows rows_at(const ActiveRows& list, std::int64_t step) const {
    const std::int64_t t = time_of(step);
    if (list.begin == nullptr)
      return {t, samples, samples, t * samples, before(t) * samples, after(t) * samples};
    const std::int64_t begin = list.begin[step], end = list.begin[step + 1];
    return {t, list.ends ? list.active[step] : end - begin, list.active[step], begin, begin, end};
  }

  /// True if all active samples mask the time step: their states pass over it.
  bool skips(const Frame& frame, const ActiveRows& list, const Rows& rows) const {
    if (!tokens) return false;
    const std::int32_t* const token = frame.at<const std::int32_t>(tokens) + rows.t;
    for (std::int64_t n = 0; n < rows.active; ++n) {
      if (token[(list.order == nullptr ? n : list.order[n]) * length] != 0) return false;
    }
    return true;
  }

  template <class T>
  RecurrentStep<T> step_at(const Frame& frame, const ActiveRows& list, const Rows& rows, bool last) const {
    RecurrentStep<T> p;
    p.samples = rows.count;
    p.units = units;
    p.outputs = rows.active;
    p.order = list.order;
    p.tokens = frame.at<const std::int32_t>(tokens, rows.t);
    p.token_stride = length;
    p.zero_masked = zero_masked;
    p.gates = frame.at<T>(gates, rows.gates * width);
    p.h_before = frame.at<T>(h, rows.before * units);
    p.h = frame.at<T>(h, rows.after * units);
    p.candidate = frame.at<T>(candidate, rows.gates * units);
    p.c_before = frame.at(c, rows.before * units);
    p.c = frame.at(c, rows.after * units);
    p.factors = frame.at(factors);
    p.dropped = frame.at<T>(dropped, rows.after * units);
    p.y_stride = y_stride;
    if (sequences || last) p.y = frame.at<T>(y) + (sequences ? rows.t * samples * y_stride : 0) + y_column;
    return p;
  }

  /// Samples that begin at a step start from the state of the padding: zeroes if it is masked.
  template <class T>
  void begin_samples(const Rows& rows, const Rows& previous, T* states) const {
    T* const from = states + rows.before * units;
    for (std::int64_t row = previous.count; row < rows.count; ++row) {
      if (tokens) {
        std::fill_n(from + row * units, units, T(0.0F));
      } else {
        std::copy_n(from + previous.active * units, units, from + row * units);
      }
    }
  }

  /// Writes the outputs of the samples that are not active: the padding's state, or the one in which they
  /// ended.
  template <class T>
  void publish_padding(const ActiveRows& list, const Rows& rows, const RecurrentStep<T>& p) const {
    if (p.y == nullptr || (list.ends && !sequences)) return;
    const std::int64_t to_previous = (reverse ? 1 : -1) * samples * y_stride;
    for (std::int64_t row = rows.active; row < samples; ++row) {
      T* const to = p.y + list.order[row] * y_stride;
      if (tokens && (zero_masked || !list.ends)) {
        std::fill_n(to, units, T(0.0F));
      } else {
        std::copy_n(list.ends ? to + to_previous : p.h + rows.active * units, units, to);
      }
    }
  }
  /// Adds the gradients of these outputs to those of the states.
  template <class T>
  void gather_padding(const ActiveRows& list, const Rows& rows, const RecurrentStep<T>& p) const {
    if (p.dy == nullptr || (tokens && (zero_masked || !list.ends))) return;
    for (std::int64_t row = rows.active; row < samples; ++row) {
      const T* const from = p.dy + list.order[row] * y_stride;
      float* const to = p.dh + (list.ends ? row : rows.active) * units;
      for (std::int64_t u = 0; u < units; ++u) to[u] += load(from + u);
    }
  }
  /// Without sequences, the output of a sample that ends at this step is its state.
  template <class T>
  void publish_ended(const Frame& frame, const ActiveRows& list, const Rows& rows, std::int64_t step,
                     const T* states) const {
    if (!list.ends || sequences || step + 1 == length) return;
    for (std::int64_t row = list.active[step + 1]; row < rows.active; ++row)
      std::copy_n(states + row * units, units, frame.at<T>(y) + y_column + list.order[row] * y_stride);
  }
  /// Samples that begin at a step, and the padding there, have one state before it.
  void merge_padding(const Rows& rows, const Rows& previous, float* gradient) const {
    if (tokens || gradient == nullptr) return;
    for (std::int64_t row = previous.active + 1; row < rows.count; ++row) {
      for (std::int64_t u = 0; u < units; ++u)
        gradient[previous.active * units + u] += gradient[row * units + u];
    }
  }

  template <class T>
  void run_forward(const Frame& frame) {
    const ActiveRows list = input->active_rows(frame);
    const std::int64_t start = rows_at(list, 0).before * units;
    for (const Ref states : {h, seen()}) std::fill_n(frame.at<T>(states, start), state(), T(0.0F));
    if (!gru) std::fill_n(frame.at(c, start), state(), 0.0F);
    float* const result = frame.at(product);
    for (std::int64_t step = 0; step < length; ++step) {
      const Rows rows = rows_at(list, step);
      if (step > 0 && list.begin != nullptr && !list.ends) {
        const Rows previous = rows_at(list, step - 1);
        begin_samples(rows, previous, frame.at<T>(h));
        if (!gru) begin_samples(rows, previous, frame.at(c));
      }
      if (!skips(frame, list, rows)) {
        forward_product->run(frame, rows.count, frame.at<T>(seen(), rows.before * units),
                             frame.address(weight.ref), frame.address(bias.ref), result);
      }
      RecurrentStep<T> p = step_at<T>(frame, list, rows, step + 1 == length);
      input->set_input(frame, step, rows.t, p);
      p.product = result;
      forward_step(gru, p);
      publish_padding(list, rows, p);
      publish_ended(frame, list, rows, step, p.h);
    }
  }

  template <class T>
  void run_backward(const Frame& frame) {
    const ActiveRows list = input->active_rows(frame);
    std::fill_n(frame.at(dh), state(), 0.0F);
    if (!gru) std::fill_n(frame.at(dc), state(), 0.0F);
    float* const returned = frame.at(back);
    const float* through_state = nullptr;
    for (std::int64_t step = length; step-- > 0;) {
      const Rows rows = rows_at(list, step);
      RecurrentStep<T> p = step_at<T>(frame, list, rows, step + 1 == length);
      if (p.y != nullptr) p.dy = frame.at<T>(dy) + (p.y - frame.at<T>(y));
      p.dh = frame.at(dh);
      p.dc = frame.at(dc);
      p.back = through_state;
      p.recurrent_gates = frame.at<T>(recurrent_gates, rows.gates * width);
      gather_padding(list, rows, p);
      if (list.ends && p.back != nullptr) {  // what ends at this step has no gradient from the next one
        const std::int64_t went_on = list.active[step + 1] * units;
        std::fill(returned + went_on, returned + rows.active * units, 0.0F);
      }
      backward_step(gru, p);
      if (list.ends) {
        const std::int64_t end = (list.begin[step + 1] - list.begin[step]) * width;
        for (T* const gradient : {p.gates, p.recurrent_gates})
          if (gradient != nullptr) std::fill(gradient + rows.active * width, gradient + end, T(0.0F));
      }
      through_state = nullptr;
      if (step == 0) continue;
      if (!skips(frame, list, rows)) {
        back_product->run(frame, rows.count, gru ? p.recurrent_gates : p.gates,
                          frame.address(back_weight.ref), returned);
        through_state = returned;
      }
      if (list.begin == nullptr || list.ends) continue;
      const Rows previous = rows_at(list, step - 1);
      for (float* const gradient : {p.dh, p.dc, returned}) merge_padding(rows, previous, gradient);
    }
  }

  template <class T>
  void run_backward_weights(const Frame& frame) {
    const ActiveRows list = input->active_rows(frame);
    const std::int64_t first = list.begin == nullptr ? before(0) * state() : 0;
    weight_gradient->run(frame, frame.at<T>(seen(), first), frame.at<T>(gru ? recurrent_gates : gates),
                         list.begin == nullptr ? length * samples : list.begin[length]);
  }
};

Direction::Direction(PlanBuilder& plan, const Node& node, DirectionSpec spec)
    : loop_(std::make_shared<Loop>(std::move(spec))),
      state_(plan, node, loop_->prefix + "recurrent_weight",
             loop_->gru && loop_->options.bias ? loop_->prefix + "recurrent_bias" : "", loop_->samples,
             loop_->units, loop_->width, kFloat) {
  Loop& loop = *loop_;
  const RecurrentOptions& o = loop.options;
  const std::int64_t samples = loop.samples, length = loop.length;
  const Type type = plan.stored();

  loop.dropout = plan.training(node) && o.recurrent_dropout > 0;
  const std::int64_t states = (length + 1) * loop.state();
  loop.h = plan.allocate_numbers(states, type);
  if (loop.dropout) {
    loop.dropped = plan.allocate_numbers(states, type);
    loop.factors = plan.allocate_numbers(loop.state());
  }
  if (loop.gru) {
    loop.candidate = plan.allocate_numbers(length * loop.state(), type);
  } else {
    loop.c = plan.allocate_numbers(states);
  }
  loop.product = plan.allocate_numbers(samples * loop.width);

  if (loop.dropout) {
    const Ref factors = loop.factors, keep = plan.allocate_bytes(static_cast<std::size_t>(loop.state()));
    const std::uint32_t stream = mask_stream(node, loop.number, Mask::kState);
    plan.add_kernel(node, "mask of the state",
                    [=, units = o.units, rate = o.recurrent_dropout](const Frame& frame) {
                      draw_recurrent_factors(frame, samples, units, rate, stream, frame.at(factors),
                                             frame.at<std::uint8_t>(keep));
                    },
                    {factors, keep}, {});
  }
  loop.input.emplace(plan, node, loop, loop.width);
  loop.input->add_forward(plan, node);
  loop.gates = loop.input->gates().ref;

  // The state's product, time step by time step.
  const auto& forward = state_.forward();
  loop.weight = plan.working(node, state_.weight(), forward.weights_desc());
  if (state_.has_bias()) loop.bias = plan.parameter(node, state_.bias());
  const std::vector<std::int64_t> rows = eighths(samples, loop.input->piece() > 0);
  loop.forward_product.emplace(plan, state_, rows,
                               [](const RecurrentProduct& product) { return product.forward(); });
  std::vector<Ref> uses = loop.memory();
  uses.insert(uses.end(),
              {loop.product, loop.weight.ref, loop.bias.ref, loop.y.ref, loop.forward_product->scratch});
  plan.add_typed_kernel(
      loop.input->gates().desc, node, "forward recurrent",
      [shared = loop_]<class T>(const Frame& frame) { shared->run_forward<T>(frame); }, uses, loop.y,
      static_cast<double>(length) * state_.flops());
  plan.changes(loop.gates);  // the inputs of the gates become their activations
}

void Direction::backward(PlanBuilder& plan, const Node& node, const Tensor& dy) {
  Loop& loop = *loop_;
  const SequenceExtents in = loop.in;
  const Type type = plan.stored();

  // Visits the time steps in reverse order. Gradients of the gates replace the gates.
  loop.dy = dy;
  loop.dh = plan.allocate_numbers(loop.state());
  loop.back = plan.allocate_numbers(loop.state());
  if (loop.gru) {
    loop.recurrent_gates = plan.allocate_numbers(in.length * in.samples * loop.width, type);
  } else {
    loop.dc = plan.allocate_numbers(loop.state());
  }
  const auto back = state_.backward_data(plan, node, kFloat);
  loop.back_weight = plan.working(node, state_.weight(), back.weights_desc());
  loop.back_product.emplace(plan, state_, eighths(in.samples, loop.input->piece() > 0),
                            [&](const RecurrentProduct& product) {
                              return product.backward_data(plan, node, kFloat, back.weights_desc());
                            });
  std::vector<Ref> uses = loop.memory();
  uses.insert(uses.end(), {dy.ref, loop.dh, loop.dc, loop.back, loop.back_weight.ref, loop.recurrent_gates,
                           loop.back_product->scratch});
  plan.add_typed_kernel(
      loop.input->gates().desc, node, "backward recurrent",
      [shared = loop_]<class T>(const Frame& frame) { shared->run_backward<T>(frame); }, uses,
      loop.input->gates(), static_cast<double>(in.length - 1) * state_.flops());

  // Weights of the state: the gradient at time step t belongs to the state that this step read.
  const RecurrentProduct all(plan, node, state_.weight(), state_.bias(), in.length * in.samples, loop.units,
                             loop.width, kFloat);
  loop.weight_gradient.emplace(plan, node, all, loop.input->piece());
  std::vector<Ref> weight_uses = loop.weight_gradient->uses();
  weight_uses.insert(weight_uses.end(), {loop.gru ? loop.recurrent_gates : loop.gates, loop.seen()});
  for (const Ref ref : loop.input->uses()) weight_uses.push_back(ref);
  plan.add_typed_kernel(
      loop.input->gates().desc, node, "backward recurrent weights",
      [shared = loop_]<class T>(const Frame& frame) { shared->run_backward_weights<T>(frame); }, weight_uses,
      loop.weight_gradient->weights(), all.flops(), loop.weight_gradient->completes());

  loop.input->add_backward(plan, node);
}

}  // namespace convoke::nn
