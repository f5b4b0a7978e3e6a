#include "nn/layers/recurrent_input.hpp"

#include <algorithm>
#include <optional>

#include "nn/kernels/dropout.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/layers/recurrent_direction.hpp"

namespace convoke::nn {
namespace {

/// A primitive has a fixed number of rows, so distinct rows are multiplied in at most so many pieces.
constexpr std::int64_t kPieces = 24;

/// Gives equal tokens (N, L) one number: those of a sample, or of all. Writes the number of each row (L, N),
/// and returns how many there are. `seen`: scratch memory (vocabulary).
std::int32_t number_rows(const std::int32_t* tokens, const SequenceExtents& in, std::int64_t vocabulary,
                         bool by_sample, std::int32_t* seen, std::int32_t* numbers) {
  std::fill_n(seen, vocabulary, -1);
  std::int32_t count = 0;
  for (std::int64_t n = 0; n < in.samples; ++n) {
    const std::int32_t first = by_sample ? count : 0;
    for (std::int64_t t = 0; t < in.length; ++t) {
      std::int32_t& number = seen[tokens[n * in.length + t]];
      if (number < first) number = count++;
      numbers[t * in.samples + n] = number;
    }
  }
  return count;
}

/// Lists the positions of each number (EqualRows).
void list_positions(const std::int32_t* numbers, std::int64_t all, std::int32_t count, std::int32_t* start,
                    std::int32_t* positions) {
  std::fill_n(start, count + 1, 0);
  for (std::int64_t p = 0; p < all; ++p) ++start[numbers[p] + 1];
  for (std::int32_t i = 0; i < count; ++i) start[i + 1] += start[i];
  for (std::int64_t p = 0; p < all; ++p) positions[start[numbers[p]]++] = static_cast<std::int32_t>(p);
  std::copy_backward(start, start + count, start + count + 1);  // each is now the start of the next number
  start[0] = 0;
}

}  // namespace

std::uint32_t mask_stream(const Node& node, std::uint32_t direction, Mask mask) {
  return static_cast<std::uint32_t>(node.index) +
         ((1 + 2 * direction + static_cast<std::uint32_t>(mask)) << 24);
}

void draw_recurrent_factors(const Frame& frame, std::int64_t samples, std::int64_t width, double rate,
                            std::uint32_t stream, float* factors, std::uint8_t* keep) {
  const ChannelBlocks rows{samples, width, 1, 1, 1, width};
  std::fill(factors, factors + samples * width, 1.0F);
  kernels<DropoutKernels<float>>().forward(rows, factors, rate,
                                           philox_key(frame.key.seed, Purpose::kDropout, frame.key.epoch),
                                           stream, frame.key.samples.data(), factors, keep);
}

struct RecurrentInput::Steps {
  /// A product of all rows, and one of a piece of the distinct rows.
  struct Products {
    std::optional<MovingPrimitive> all, piece;
    Ref scratch;
    std::string implementation;
  };

  SequenceExtents in;
  std::int64_t width, vocabulary, piece;  ///< piece: rows
  double dropout;
  std::uint32_t stream;  ///< of the random numbers of dropout
  bool biased;           ///< there is a bias (a step must not ask a Tensor, which allocates)
  Tensor x;              ///< (L N, F)
  Tensor tokens;         ///< (N, L), of which x is the embedding; empty if x is none
  Tensor gates;          ///< (L N, G U)
  Tensor read;           ///< (L N, F): x after dropout; then d loss / d x of distinct rows
  Tensor distinct;       ///< (L N, G U): W x + b of distinct rows; then the sums of their gradients
  Ref factors, keep;     ///< of dropout
  Ref seen, table;       ///< what number_rows and list_positions write
  Tensor weight, back_weight, bias, dweight, dbias, dx;
  Ref part;  ///< gradients of the parameters by one piece
  Products forward, weights, data;

  std::int64_t rows() const { return in.length * in.samples; }
  bool embedded() const { return vocabulary > 0; }
  bool drops() const { return dropout > 0; }
  bool reads_copy() const { return drops() || embedded(); }
  float* masks(const Frame& frame) const { return drops() ? frame.at(factors) : nullptr; }
  std::int32_t* numbers(const Frame& frame) const { return frame.integers(table) + 1; }
  /// Returns the distinct rows; none if nearly all rows differ.
  EqualRows equal_rows(const Frame& frame) const {
    if (!embedded()) return {};
    const std::int32_t* const positions = numbers(frame) + rows();
    return {frame.integers(table)[0], positions + rows(), positions};
  }

  void find_equal_rows(const Frame& frame) const {
    if (!embedded()) return;
    std::int32_t *const number = numbers(frame), *const positions = number + rows();
    std::int32_t count =
        number_rows(frame.integers(tokens.ref), in, vocabulary, drops(), frame.integers(seen), number);
    if (count > rows() - rows() / 8) count = 0;
    if (count > 0) list_positions(number, rows(), count, positions + rows(), positions);
    frame.integers(table)[0] = count;
  }

  /// Returns the memory of rows and masks, which forward and backward use.
  std::vector<Ref> memory() const {
    std::vector<Ref> used{gates.ref};
    if (drops()) used.insert(used.end(), {factors, keep});
    if (reads_copy()) used.push_back(read.ref);
    if (embedded()) used.insert(used.end(), {distinct.ref, table});
    return used;
  }

  /// Makes primitives for all rows, and for those of a piece if there is `part`. Returns their scratch
  /// memory. describe(product): a primitive's descriptor.
  template <class Describe>
  static Ref make(PlanBuilder& plan, const RecurrentProduct& all, const std::optional<RecurrentProduct>& part,
                  const Describe& describe, Products& made) {
    const auto all_rows = describe(all);
    made.all.emplace(RecurrentProduct::moving(all_rows));
    made.implementation = all_rows.impl_info_str();
    std::size_t bytes = all_rows.scratchpad_desc().get_size();
    if (part) {
      const auto some_rows = describe(*part);
      made.piece.emplace(RecurrentProduct::moving(some_rows));
      bytes = std::max(bytes, some_rows.scratchpad_desc().get_size());
    }
    return made.scratch = plan.allocate_bytes(bytes + 1);
  }

  /// Calls f(first row) for the pieces of `values`, whose last one is filled with zeroes.
  template <class T, class F>
  void for_each_piece(const EqualRows& equal, T* values, std::int64_t columns, const F& f) const {
    const std::int64_t end = (equal.count + piece - 1) / piece * piece;
    std::fill(values + equal.count * columns, values + end * columns, T(0.0F));
    for (std::int64_t row = 0; row < end; row += piece) f(row);
  }

  template <class T>
  void run_forward(const Frame& frame) {
    const RecurrentKernels<T>& here = kernels<RecurrentKernels<T>>();
    if (drops()) {
      draw_recurrent_factors(frame, in.samples, in.features, dropout, stream, frame.at(factors),
                             reinterpret_cast<std::uint8_t*>(frame.address(keep)));
    }
    find_equal_rows(frame);
    const EqualRows equal = equal_rows(frame);
    const T* const from = frame.at<T>(x);
    const std::byte *const w = frame.address(weight.ref), *const b = frame.address(bias.ref);
    T* const to = reads_copy() ? frame.at<T>(read) : nullptr;
    if (equal.count > 0) {
      here.gather_rows(equal, from, masks(frame), in.samples, in.features, to);
      for_each_piece(equal, to, in.features, [&](std::int64_t row) {
        forward.piece->run({to + row * in.features, w, b, frame.at<T>(distinct) + row * width,
                            frame.address(forward.scratch)});
      });
      return;
    }
    if (drops()) here.scale_time_steps(from, masks(frame), in.length, in.samples * in.features, to);
    forward.all->run({drops() ? to : from, w, b, frame.at<T>(gates), frame.address(forward.scratch)});
  }

  template <class T>
  void run_backward_weights(const Frame& frame) {
    const EqualRows equal = equal_rows(frame);
    float *const dw = frame.at(dweight), *const db = frame.at(dbias);
    const Tensor& from = drops() || equal.count > 0 ? read : x;
    if (equal.count == 0) {
      weights.all->run({frame.at<T>(from), frame.at<T>(gates), db, dw, frame.address(weights.scratch)});
      return;
    }
    T* const sums = frame.at<T>(distinct);
    float* const piece_dw = frame.at(part);
    float* const piece_db = piece_dw + elements_of(dweight.desc);
    kernels<RecurrentKernels<T>>().sum_rows(equal, frame.at<T>(gates), width, piece_dw, sums);
    const auto add = [](const float* a, float* sum, const Tensor& of) {
      kernels<ElementwiseKernels<float>>().add(a, sum, sum, elements_of(of.desc), false);
    };
    std::fill_n(dw, elements_of(dweight.desc), 0.0F);
    if (biased) std::fill_n(db, width, 0.0F);
    for_each_piece(equal, sums, width, [&](std::int64_t row) {
      weights.piece->run({frame.at<T>(from) + row * in.features, sums + row * width, piece_db, piece_dw,
                          frame.address(weights.scratch)});
      add(piece_dw, dw, dweight);
      if (biased) add(piece_db, db, dbias);
    });
  }

  template <class T>
  void run_backward_data(const Frame& frame) {
    const RecurrentKernels<T>& here = kernels<RecurrentKernels<T>>();
    const EqualRows equal = equal_rows(frame);
    const std::byte* const w = frame.address(back_weight.ref);
    T* const to = frame.at<T>(dx);
    if (equal.count == 0) {
      data.all->run({frame.at<T>(gates), w, to, frame.address(data.scratch)});
      if (drops()) here.scale_time_steps(to, masks(frame), in.length, in.samples * in.features, to);
      return;
    }
    T* const rows_dx = frame.at<T>(read);
    for_each_piece(equal, frame.at<T>(distinct), width, [&](std::int64_t row) {
      data.piece->run(
          {frame.at<T>(distinct) + row * width, w, rows_dx + row * in.features, frame.address(data.scratch)});
    });
    here.scatter_rows(equal, rows_dx, masks(frame), in.samples, in.features, to);
  }
};

RecurrentInput::RecurrentInput(PlanBuilder& plan, const Node& node, const DirectionSpec& spec,
                               std::int64_t width)
    : product_(plan, node, spec.prefix + "weight", spec.options.bias ? spec.prefix + "bias" : "",
               spec.in.length * spec.in.samples, spec.in.features, width, plan.stored()),
      steps_(std::make_shared<Steps>()) {
  Steps& s = *steps_;
  s.in = spec.in;
  s.width = width;
  s.x = spec.x;
  s.x.desc = product_.x();
  s.gates = plan.allocate(product_.gradient());
  s.dropout = plan.training(node) ? spec.options.dropout : 0;
  s.stream = mask_stream(node, spec.number, Mask::kInput);
  s.tokens = spec.embedded;
  s.biased = product_.has_bias();
  s.vocabulary = spec.vocabulary;
  s.piece = (s.rows() + kPieces - 1) / kPieces;
  const auto bytes = [&](std::int64_t count, std::size_t each) {
    return plan.allocate_bytes(static_cast<std::size_t>(count) * each);
  };
  if (s.drops()) {
    s.factors = bytes(s.in.samples * s.in.features, sizeof(float));
    s.keep = bytes(s.in.samples * s.in.features, 1);
  }
  if (s.reads_copy()) s.read = plan.allocate(product_.x());
  if (!s.embedded()) return;
  part_ = product_.with_rows(s.piece);
  s.distinct = plan.allocate(product_.gradient());
  s.seen = bytes(s.vocabulary, sizeof(std::int32_t));
  s.table = bytes(3 * s.rows() + 2, sizeof(std::int32_t));
}

const Tensor& RecurrentInput::gates() const { return steps_->gates; }

template <class T>
void RecurrentInput::set_input(const Frame& frame, std::int64_t t, RecurrentStep<T>& step) const {
  const Steps& s = *steps_;
  const bool distinct = s.equal_rows(frame).count > 0;
  step.input = distinct ? frame.at<T>(s.distinct) : frame.at<T>(s.gates) + t * s.in.samples * s.width;
  step.rows = distinct ? s.numbers(frame) + t * s.in.samples : nullptr;
}
template void RecurrentInput::set_input(const Frame&, std::int64_t, RecurrentStep<float>&) const;
template void RecurrentInput::set_input(const Frame&, std::int64_t, RecurrentStep<Bf16>&) const;

std::vector<Ref> RecurrentInput::uses() const {
  if (!steps_->embedded()) return {};
  return {steps_->distinct.ref, steps_->table};
}

void RecurrentInput::add_forward(PlanBuilder& plan, const Node& node) {
  Steps& s = *steps_;
  std::vector<Ref> used = s.memory();
  const auto describe = [](const RecurrentProduct& product) { return product.forward(); };
  used.push_back(Steps::make(plan, product_, part_, describe, s.forward));
  s.weight = plan.working(node, product_.weight(), product_.forward().weights_desc());
  used.push_back(s.weight.ref);
  if (s.biased) used.push_back((s.bias = plan.parameter(node, product_.bias())).ref);
  used.push_back(s.x.ref);
  if (s.embedded()) used.insert(used.end(), {s.tokens.ref, s.seen});
  with_stored_type(s.gates.desc, [&](auto zero) {
    plan.add_kernel(
        node, "forward input",
        [steps = steps_](const Frame& frame) { steps->run_forward<decltype(zero)>(frame); }, used, {},
        product_.flops(), {}, s.forward.implementation);
  });
}

void RecurrentInput::add_backward(PlanBuilder& plan, const Node& node) {
  Steps& s = *steps_;
  std::vector<Ref> used = s.memory();
  const auto describe_weights = [&](const RecurrentProduct& product) {
    return product.backward_weights(plan, node);
  };
  used.push_back(Steps::make(plan, product_, part_, describe_weights, s.weights));
  s.dweight = plan.gradient_of(node, product_.weight());
  used.push_back(s.dweight.ref);
  if (!s.drops()) used.push_back(s.x.ref);
  std::vector<std::size_t> completes{plan.slot(node, product_.weight())};
  if (s.biased) {
    used.push_back((s.dbias = plan.gradient_of(node, product_.bias())).ref);
    completes.push_back(plan.slot(node, product_.bias()));
  }
  if (s.embedded()) {
    s.part =
        plan.allocate_bytes(s.dweight.desc.get_size() + static_cast<std::size_t>(s.width) * sizeof(float));
    used.push_back(s.part);
  }
  with_stored_type(s.gates.desc, [&](auto zero) {
    plan.add_kernel(
        node, "backward weights",
        [steps = steps_](const Frame& frame) { steps->run_backward_weights<decltype(zero)>(frame); }, used,
        s.dweight, product_.flops(), completes, s.weights.implementation);
  });

  const std::size_t from = node.inputs[0];
  if (!plan.needs_gradient(from)) return;
  const Type type = plan.stored();
  const auto back = product_.backward_data(plan, node, type);
  const auto describe_data = [&](const RecurrentProduct& product) {
    return product.backward_data(plan, node, type, back.weights_desc());
  };
  used = s.memory();
  used.push_back(Steps::make(plan, product_, part_, describe_data, s.data));
  s.back_weight = plan.working(node, product_.weight(), back.weights_desc());
  s.dx = plan.allocate(product_.x());
  used.insert(used.end(), {s.back_weight.ref, s.dx.ref});
  with_stored_type(s.gates.desc, [&](auto zero) {
    plan.add_kernel(
        node, "backward data",
        [steps = steps_](const Frame& frame) { steps->run_backward_data<decltype(zero)>(frame); }, used, s.dx,
        product_.flops(), {}, s.data.implementation);
  });
  Tensor dx = s.dx;
  dx.desc = time_major_desc(s.in, type);
  plan.add_gradient(from, dx, node);
}

}  // namespace convoke::nn
