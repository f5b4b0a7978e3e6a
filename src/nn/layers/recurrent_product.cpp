#include "nn/layers/recurrent_product.hpp"

#include <utility>

#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"

namespace convoke::nn {

using dnnl::prop_kind;

RecurrentProduct::RecurrentProduct(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                                   std::int64_t rows, std::int64_t in, std::int64_t out, Type y)
    : weight_name_(std::move(weight)),
      bias_name_(std::move(bias)),
      type_(plan.stored()),
      x_({rows, in}, type_, Format::nc),
      y_({rows, out}, y, Format::nc),
      gradient_({rows, out}, type_, Format::nc),
      flops_(2.0 * static_cast<double>(rows * in * out)),
      weighted_(plan, node, weight_name_, bias_name_, {out, in}, out, flops_) {
  const Desc layout = plan.arena_layout(node, weight_name_);
  const bool dry_run = layout.get_size() == 0;
  const auto kind = plan.training() ? prop_kind::forward_training : prop_kind::forward_inference;
  forward_ = forward_desc<Forward>(
      attributes(), kind, x_, type_ == kFloat && !dry_run ? layout : weighted_.any_weight(), bias_desc(), y_);
  if (!dry_run) return;
  weighted_.prefer(forward_.weights_desc(), [&](const Desc& as_read, const Desc& gradient) {
    return backward_weights(as_read, gradient);
  });
}

RecurrentProduct RecurrentProduct::with_rows(std::int64_t rows) const {
  RecurrentProduct other = *this;
  const auto resized = [&](const Desc& all) {
    return Desc({rows, dims_of(all)[1]}, type_of(all), Format::nc);
  };
  other.x_ = resized(x_);
  other.y_ = resized(y_);
  other.gradient_ = resized(gradient_);
  other.flops_ = flops_ / static_cast<double>(dims_of(x_)[0]) * static_cast<double>(rows);
  other.forward_ = forward_desc<Forward>(attributes(), prop_kind::forward_training, other.x_,
                                         forward_.weights_desc(), bias_desc(), other.y_);
  return other;
}

RecurrentProduct::Forward::primitive_desc RecurrentProduct::hint(const Desc& weight) const {
  return forward_desc<Forward>(attributes(), prop_kind::forward_training, x_, weight, bias_desc(), gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(
    const Desc& weight, const Desc& gradient) const {
  return backward_desc<BackwardWeights>(attributes(), hint(weight), x_, gradient, bias_desc(), gradient_);
}

RecurrentProduct::BackwardWeights::primitive_desc RecurrentProduct::backward_weights(const PlanBuilder& plan,
                                                                                     const Node& node) const {
  const Desc layout = plan.parameter(node, weight_name_).desc;
  return backward_weights(type_ == kFloat ? layout : forward_.weights_desc(), layout);
}

RecurrentProduct::BackwardData::primitive_desc RecurrentProduct::backward_data(const PlanBuilder& plan,
                                                                               const Node& node, Type type,
                                                                               const Desc& weights) const {
  const Desc layout = plan.parameter(node, weight_name_).desc;
  const Desc dx(dims_of(x_), type, Format::nc);
  return backward_desc<BackwardData>(attributes(), hint(type_ == kFloat ? layout : forward_.weights_desc()),
                                     dx, weights.get_size() == 0 ? weighted_.any_weight() : weights,
                                     gradient_);
}

MovingPrimitive RecurrentProduct::moving(const Forward::primitive_desc& forward) {
  return {Forward(forward),
          {{DNNL_ARG_SRC, forward.src_desc()},
           {DNNL_ARG_WEIGHTS, forward.weights_desc()},
           {DNNL_ARG_BIAS, forward.bias_desc()},
           {DNNL_ARG_DST, forward.dst_desc()}},
          forward.scratchpad_desc()};
}

MovingPrimitive RecurrentProduct::moving(const BackwardWeights::primitive_desc& backward) {
  return {BackwardWeights(backward),
          {{DNNL_ARG_SRC, backward.src_desc()},
           {DNNL_ARG_DIFF_DST, backward.diff_dst_desc()},
           {DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc()},
           {DNNL_ARG_DIFF_WEIGHTS, backward.diff_weights_desc()}},
          backward.scratchpad_desc()};
}

MovingPrimitive RecurrentProduct::moving(const BackwardData::primitive_desc& backward) {
  return {BackwardData(backward),
          {{DNNL_ARG_DIFF_DST, backward.diff_dst_desc()},
           {DNNL_ARG_WEIGHTS, backward.weights_desc()},
           {DNNL_ARG_DIFF_SRC, backward.diff_src_desc()}},
          backward.scratchpad_desc()};
}

RowsGradient::RowsGradient(PlanBuilder& plan, const Node& node, const RecurrentProduct& product,
                           std::int64_t piece)
    : all_(dims_of(product.x())[0]),
      piece_(piece),
      in_(dims_of(product.x())[1]),
      out_(dims_of(product.gradient())[1]),
      products_(plan, product, piece > 0 ? std::vector{piece, all_} : std::vector{all_},
                [&](const RecurrentProduct& rows) { return rows.backward_weights(plan, node); }),
      dweight_(plan.gradient_of(node, product.weight())),
      uses_({products_.scratch, dweight_.ref}),
      completes_({plan.slot(node, product.weight())}) {
  if (product.has_bias()) {
    uses_.push_back((dbias_ = plan.gradient_of(node, product.bias())).ref);
    completes_.push_back(plan.slot(node, product.bias()));
  }
  if (piece == 0) return;
  of_piece_ = plan.allocate_bytes(dweight_.desc.get_size() + static_cast<std::size_t>(out_) * sizeof(float));
  uses_.push_back(of_piece_);
}

template <class T>
void RowsGradient::run(const Frame& frame, T* x, T* dy, std::int64_t rows) {
  float *const dw = frame.at(dweight_), *const db = frame.at(dbias_);
  if (rows == all_) return products_.run(frame, rows, x, dy, db, dw);
  const std::int64_t end = (rows + piece_ - 1) / piece_ * piece_;
  std::fill(x + rows * in_, x + end * in_, T(0.0F));
  std::fill(dy + rows * out_, dy + end * out_, T(0.0F));
  float* const piece_dw = frame.at(of_piece_);
  float* const piece_db = piece_dw + elements_of(dweight_.desc);
  const auto add = [](const float* a, float* sum, std::size_t n) {
    kernels<ElementwiseKernels<float>>().add(a, sum, sum, n, false);
  };
  std::fill_n(dw, elements_of(dweight_.desc), 0.0F);
  if (db != nullptr) std::fill_n(db, out_, 0.0F);
  for (std::int64_t row = 0; row < end; row += piece_) {
    products_.run(frame, piece_, x + row * in_, dy + row * out_, piece_db, piece_dw);
    add(piece_dw, dw, elements_of(dweight_.desc));
    if (db != nullptr) add(piece_db, db, static_cast<std::size_t>(out_));
  }
}
template void RowsGradient::run(const Frame&, float*, float*, std::int64_t);
template void RowsGradient::run(const Frame&, Bf16*, Bf16*, std::int64_t);

}  // namespace convoke::nn
