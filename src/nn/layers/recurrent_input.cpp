#include "nn/layers/recurrent_input.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "nn/kernels/dropout.hpp"
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

/// Writes how many steps of the padding stand before the first word of each sample, at most L - 1; `reverse`:
/// behind the last word. Returns the sum.
std::int64_t count_padding(const std::int32_t* tokens, const SequenceExtents& in, bool reverse,
                           std::int32_t* counts) {
  for (std::int64_t n = 0; n < in.samples; ++n) {
    const std::int32_t* const first = tokens + n * in.length + (reverse ? in.length - 1 : 0);
    std::int32_t count = 0;
    while (count + 1 < in.length && first[reverse ? -count : count] == 0) ++count;
    counts[n] = count;
  }
  return std::accumulate(counts, counts + in.samples, std::int64_t{0});
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
  kernels<DropoutKernels<float>>().forward(
      rows, factors, rate, philox_key(frame.key.seed, Purpose::kDropout, frame.key.epoch), stream,
      frame.key.samples.data(), frame.key.repeats_from(0), factors, keep);
}

struct RecurrentInput::Steps : DirectionSpec {
  /// The integers in `table`: what find_equal_rows finds.
  struct Table {
    std::int32_t *distinct, *active_rows;       ///< numbers of rows; 0: all rows differ, or are active
    std::int32_t* ends;                         ///< ActiveRows::ends
    std::int32_t *numbers, *positions, *start;  ///< of the rows (L, N)
    std::int32_t *order, *active, *begin;       ///< ActiveRows
    std::int32_t *row_numbers, *row_positions, *row_start;  ///< of the active rows
  };

  explicit Steps(const DirectionSpec& spec) : DirectionSpec(spec) {}

  std::int64_t width = 0, piece = 0;  ///< piece: rows
  bool skips_padding = false;         ///< there can be ActiveRows
  double dropout = 0;
  std::uint32_t stream = 0;  ///< of the random numbers of dropout
  Tensor gates;              ///< (L N, G U)
  Tensor read;               ///< (L N, F): x after dropout; then d loss / d x of distinct rows
  Tensor distinct;           ///< (L N, G U): W x + b of distinct rows; then the sums of their gradients
  Ref factors, keep;         ///< of dropout
  Ref seen, table;           ///< what number_rows and list_positions write
  Tensor weight, back_weight, bias, dx;
  Ref sum;                                   ///< (G U)
  std::optional<RowProducts> forward, data;  ///< of all rows, and of a piece of the distinct ones
  std::optional<RowsGradient> gradient;

  std::int64_t rows() const { return in.length * in.samples; }
  bool drops() const { return dropout > 0; }
  bool reads_copy() const { return drops() || embedded; }
  std::int64_t table_size() const { return 6 * rows() + 2 * in.length + in.samples + 6; }
  Table table_of(const Frame& frame) const {
    std::int32_t* at = frame.integers(table);
    const auto next = [&](std::int64_t count) { return std::exchange(at, at + count); };
    return {next(1),          next(1),          next(1),         next(rows()),        next(rows()),
            next(rows() + 1), next(in.samples), next(in.length), next(in.length + 1), next(rows()),
            next(rows()),     next(rows() + 1)};
  }
  /// Returns the distinct rows; none if nearly all rows differ.
  EqualRows equal_rows(const Frame& frame) const {
    if (!embedded) return {};
    const Table here = table_of(frame);
    return {*here.distinct, here.start, here.positions};
  }
  /// Returns where they stand among the rows of the gates.
  EqualRows rows_of_gates(const Frame& frame) const {
    const Table here = table_of(frame);
    if (*here.active_rows == 0) return equal_rows(frame);
    return {*here.distinct, here.row_start, here.row_positions};
  }

  void find_equal_rows(const Frame& frame) const {
    if (!embedded) return;
    const Table here = table_of(frame);
    const std::int32_t* const token = frame.integers(embedded.ref);
    const std::int64_t most = rows() - rows() / 8;
    *here.distinct = *here.active_rows = 0;
    const std::int32_t count =
        number_rows(token, in, vocabulary, drops(), frame.integers(seen), here.numbers);
    if (count > most) return;
    *here.distinct = count;
    list_positions(here.numbers, rows(), count, here.start, here.positions);
    if (!skips_padding) return;
    const std::int64_t active = list_active_rows(token, here);
    if (active > most) return;
    *here.active_rows = static_cast<std::int32_t>(active);
    list_positions(here.row_numbers, active, count, here.row_start, here.row_positions);
  }

  /// Returns the number of rows. Leaves out the padding at one end of the samples: with a mask, where there
  /// is more.
  std::int64_t list_active_rows(const std::int32_t* token, const Table& here) const {
    const std::int64_t length = in.length, samples = in.samples;
    std::int32_t *const before = here.row_start, *const behind = here.row_positions;  // not needed yet
    const std::int64_t first = count_padding(token, in, reverse, before);
    const bool ends = tokens && count_padding(token, in, !reverse, behind) > first;
    const std::int32_t* const padding = ends ? behind : before;
    *here.ends = ends ? 1 : 0;
    // In the order in which samples begin or, from the last step to the first, end.
    std::fill_n(here.active, length, 0);
    for (std::int64_t n = 0; n < samples; ++n) ++here.active[padding[n]];
    std::partial_sum(here.active, here.active + length, here.active);
    std::copy_n(here.active, length, here.begin);
    for (std::int64_t n = samples; n-- > 0;)
      here.order[--here.begin[padding[n]]] = static_cast<std::int32_t>(n);
    if (ends) std::reverse(here.active, here.active + length);

    std::int32_t row = 0;
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int32_t now = here.active[step];
      const std::int64_t t = reverse ? length - 1 - step : step;
      // Samples that end before this step have rows for their last states, samples that begin later have one
      // row.
      const std::int64_t rows =
          ends ? (step == 0 ? samples : here.active[step - 1]) : now + (!tokens && now < samples ? 1 : 0);
      here.begin[step] = row;
      for (std::int64_t i = 0; i < rows; ++i)
        here.row_numbers[row++] = here.numbers[t * samples + here.order[i]];
    }
    return here.begin[length] = row;
  }

  /// Returns the memory of rows and masks, which forward and backward use.
  std::vector<Ref> memory() const { return {gates.ref, factors, keep, read.ref, distinct.ref, table}; }

  std::vector<std::int64_t> sizes() const {
    return embedded ? std::vector{piece, rows()} : std::vector{rows()};
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
                             frame.at<std::uint8_t>(keep));
    }
    find_equal_rows(frame);
    const EqualRows equal = equal_rows(frame);
    const T* const from = frame.at<T>(x);
    const std::byte *const w = frame.address(weight.ref), *const b = frame.address(bias.ref);
    T* const to = frame.at<T>(read);
    if (equal.count > 0) {
      here.gather_rows(equal, from, frame.at(factors), in.samples, in.features, to);
      for_each_piece(equal, to, in.features, [&](std::int64_t row) {
        forward->run(frame, piece, to + row * in.features, w, b, frame.at<T>(distinct) + row * width);
      });
      return;
    }
    if (drops()) here.scale_time_steps(from, frame.at(factors), in.length, in.samples * in.features, to);
    forward->run(frame, rows(), drops() ? to : from, w, b, frame.at<T>(gates));
  }

  template <class T>
  void run_backward_weights(const Frame& frame) {
    const EqualRows equal = equal_rows(frame);
    T* const from = frame.at<T>(drops() || equal.count > 0 ? read : x);
    if (equal.count == 0) return gradient->run(frame, from, frame.at<T>(gates), rows());
    T* const sums = frame.at<T>(distinct);
    kernels<RecurrentKernels<T>>().sum_rows(rows_of_gates(frame), frame.at<T>(gates), width, frame.at(sum),
                                            sums);
    gradient->run(frame, from, sums, equal.count);
  }

  template <class T>
  void run_backward_data(const Frame& frame) {
    const RecurrentKernels<T>& here = kernels<RecurrentKernels<T>>();
    const EqualRows equal = equal_rows(frame);
    const std::byte* const w = frame.address(back_weight.ref);
    T* const to = frame.at<T>(dx);
    if (equal.count == 0) {
      data->run(frame, rows(), frame.at<T>(gates), w, to);
      if (drops()) here.scale_time_steps(to, frame.at(factors), in.length, in.samples * in.features, to);
      return;
    }
    T* const rows_dx = frame.at<T>(read);
    for_each_piece(equal, frame.at<T>(distinct), width, [&](std::int64_t row) {
      data->run(frame, piece, frame.at<T>(distinct) + row * width, w, rows_dx + row * in.features);
    });
    here.scatter_rows(equal, rows_dx, frame.at(factors), in.samples, in.features, to);
  }
};

RecurrentInput::RecurrentInput(PlanBuilder& plan, const Node& node, const DirectionSpec& spec,
                               std::int64_t width)
    : product_(plan, node, spec.prefix + "weight", spec.options.bias ? spec.prefix + "bias" : "",
               spec.in.length * spec.in.samples, spec.in.features, width, plan.stored()),
      steps_(std::make_shared<Steps>(spec)) {
  Steps& s = *steps_;
  s.width = width;
  s.x.desc = product_.x();
  s.gates = plan.allocate(product_.gradient());
  s.dropout = plan.training(node) ? spec.options.dropout : 0;
  s.stream = mask_stream(node, spec.number, Mask::kInput);
  s.piece = (s.rows() + kPieces - 1) / kPieces;
  // A mask's tokens must be those of the embedding; without a mask, the padding's states must not be random.
  s.skips_padding = s.embedded && !(plan.training(node) && spec.options.recurrent_dropout > 0) &&
                    (s.tokens ? s.tokens.ref == s.embedded.ref : !s.drops());
  if (s.drops()) {
    s.factors = plan.allocate_numbers(s.in.samples * s.in.features);
    s.keep = plan.allocate_numbers(s.in.samples * s.in.features, Type::u8);
  }
  if (s.reads_copy()) s.read = plan.allocate(product_.x());
  if (!s.embedded) return;
  s.distinct = plan.allocate(product_.gradient());
  s.seen = plan.allocate_numbers(s.vocabulary, Type::s32);
  s.table = plan.allocate_numbers(s.table_size(), Type::s32);
}

const Tensor& RecurrentInput::gates() const { return steps_->gates; }

template <class T>
void RecurrentInput::set_input(const Frame& frame, std::int64_t number, std::int64_t t,
                               RecurrentStep<T>& step) const {
  const Steps& s = *steps_;
  const bool distinct = s.equal_rows(frame).count > 0;
  step.input = distinct ? frame.at<T>(s.distinct) : frame.at<T>(s.gates) + t * s.in.samples * s.width;
  if (!distinct) return;
  const Steps::Table table = s.table_of(frame);
  step.rows =
      *table.active_rows > 0 ? table.row_numbers + table.begin[number] : table.numbers + t * s.in.samples;
}
template void RecurrentInput::set_input(const Frame&, std::int64_t, std::int64_t,
                                        RecurrentStep<float>&) const;
template void RecurrentInput::set_input(const Frame&, std::int64_t, std::int64_t, RecurrentStep<Bf16>&) const;

ActiveRows RecurrentInput::active_rows(const Frame& frame) const {
  if (!steps_->skips_padding) return {};
  const Steps::Table table = steps_->table_of(frame);
  return *table.active_rows > 0 ? ActiveRows{table.begin, table.active, table.order, *table.ends > 0}
                                : ActiveRows{};
}

std::vector<Ref> RecurrentInput::uses() const { return {steps_->distinct.ref, steps_->table}; }

std::int64_t RecurrentInput::piece() const { return steps_->skips_padding ? steps_->piece : 0; }

void RecurrentInput::add_forward(PlanBuilder& plan, const Node& node) {
  Steps& s = *steps_;
  std::vector<Ref> used = s.memory();
  s.forward.emplace(plan, product_, s.sizes(),
                    [](const RecurrentProduct& product) { return product.forward(); });
  used.push_back(s.forward->scratch);
  s.weight = plan.working(node, product_.weight(), product_.forward().weights_desc());
  used.push_back(s.weight.ref);
  if (product_.has_bias()) used.push_back((s.bias = plan.parameter(node, product_.bias())).ref);
  used.insert(used.end(), {s.x.ref, s.embedded.ref, s.seen});
  plan.add_typed_kernel(
      s.gates.desc, node, "forward input",
      [steps = steps_]<class T>(const Frame& frame) { steps->run_forward<T>(frame); }, used, {},
      product_.flops(), {}, s.forward->implementation);
}

void RecurrentInput::add_backward(PlanBuilder& plan, const Node& node) {
  Steps& s = *steps_;
  std::vector<Ref> used = s.memory();
  s.gradient.emplace(plan, node, product_, s.embedded ? s.piece : 0);
  used.insert(used.end(), s.gradient->uses().begin(), s.gradient->uses().end());
  if (!s.drops()) used.push_back(s.x.ref);
  if (s.embedded) used.push_back(s.sum = plan.allocate_numbers(s.width));
  plan.add_typed_kernel(
      s.gates.desc, node, "backward weights",
      [steps = steps_]<class T>(const Frame& frame) { steps->run_backward_weights<T>(frame); }, used,
      s.gradient->weights(), product_.flops(), s.gradient->completes(), s.gradient->implementation());

  const std::size_t from = node.inputs[0];
  if (!plan.needs_gradient(from)) return;
  const Type type = plan.stored();
  const auto back = product_.backward_data(plan, node, type);
  used = s.memory();
  s.data.emplace(plan, product_, s.sizes(), [&](const RecurrentProduct& product) {
    return product.backward_data(plan, node, type, back.weights_desc());
  });
  used.push_back(s.data->scratch);
  s.back_weight = plan.working(node, product_.weight(), back.weights_desc());
  s.dx = plan.allocate(product_.x());
  used.insert(used.end(), {s.back_weight.ref, s.dx.ref});
  plan.add_typed_kernel(
      s.gates.desc, node, "backward data",
      [steps = steps_]<class T>(const Frame& frame) { steps->run_backward_data<T>(frame); }, used, s.dx,
      product_.flops(), {}, s.data->implementation);
  Tensor dx = s.dx;
  dx.desc = time_major_desc(s.in, type);
  plan.add_gradient(from, dx, node);
}

}  // namespace convoke::nn
