#pragma once
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "nn/layers/weighted_primitive.hpp"

namespace convoke::nn {

/// A oneDNN primitive that one of our kernels runs at several addresses, as a loop over time does. Only one
/// thread may use it at a time, as with the plan that holds it.
class MovingPrimitive {
 public:
  /// `arguments`: pairs of DNNL_ARG_... and layout. An argument with an empty layout, such as that of no
  /// bias, is not passed to oneDNN.
  MovingPrimitive(dnnl::primitive primitive, const std::vector<std::pair<int, Desc>>& arguments,
                  const Desc& scratchpad)
      : primitive_(std::move(primitive)) {
    for (const auto& [name, desc] : arguments) add(name, desc);
    add(DNNL_ARG_SCRATCHPAD, scratchpad);
  }

  /// `addresses` are in the order of the arguments; the address of the scratch memory is last.
  void run(std::initializer_list<const void*> addresses) {
    assert(addresses.size() == memories_.size());
    std::size_t i = 0;
    dnnl_status_t status = dnnl_success;
    for (const void* address : addresses) {
      // Sets only changed addresses: for blocked memory, oneDNN zeroes the padding of every new address, and
      // allocates.
      if (memories_[i] && address != addresses_[i]) {
        addresses_[i] = address;
        // oneDNN's type for memory has no const, although it only reads this memory.
        const dnnl_status_t set = dnnl_memory_set_data_handle(memories_[i].get(), const_cast<void*>(address));
        if (set != dnnl_success) status = set;
      }
      ++i;
    }
    if (status == dnnl_success) {
      status = dnnl_primitive_execute(primitive_.get(), stream().get(), static_cast<int>(bound_.size()),
                                      bound_.data());
    }
    if (status != dnnl_success) throw Error("oneDNN failed in a product of a recurrent layer");
  }

 private:
  void add(int name, const Desc& desc) {
    addresses_.push_back(nullptr);
    memories_.emplace_back();
    if (desc.get_size() == 0) return;
    memories_.back() = dnnl::memory(desc, engine(), static_cast<void*>(DNNL_MEMORY_NONE));
    bound_.push_back({name, memories_.back().get()});
  }

  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;  ///< of the arguments; empty if the argument is not passed
  std::vector<const void*> addresses_;  ///< current addresses of the memories
  std::vector<dnnl_exec_arg_t> bound_;
};

/// y (rows, out) = x (rows, in) W^T + b with a parameter W (out, in), and its backward passes, as inner
/// products. In a dry run it records the layouts that it prefers.
class RecurrentProduct {
 public:
  using Forward = dnnl::inner_product_forward;
  using BackwardData = dnnl::inner_product_backward_data;
  using BackwardWeights = dnnl::inner_product_backward_weights;

  /// `bias`: the parameter's name, "" for none. `y`: type of the result. x and the gradient of y have the
  /// plan's stored type.
  RecurrentProduct(PlanBuilder& plan, const Node& node, std::string weight, std::string bias,
                   std::int64_t rows, std::int64_t in, std::int64_t out, Type y);

  /// Returns this product for another number of rows, with this one's layouts of the weights.
  RecurrentProduct with_rows(std::int64_t rows) const;

  const Forward::primitive_desc& forward() const { return forward_; }
  BackwardWeights::primitive_desc backward_weights(const PlanBuilder& plan, const Node& node) const;
  /// dx is stored as `type`. `weights`: the layout from which it reads them; by default oneDNN chooses.
  BackwardData::primitive_desc backward_data(const PlanBuilder& plan, const Node& node, Type type,
                                             const Desc& weights = {}) const;

  /// Return a primitive that runs with {x, weights, bias, y, scratch}, {x, dy, dbias, dweight, scratch} or
  /// {dy, weights, dx, scratch}. Without bias its address is not read.
  static MovingPrimitive moving(const Forward::primitive_desc& forward);
  static MovingPrimitive moving(const BackwardWeights::primitive_desc& backward);
  static MovingPrimitive moving(const BackwardData::primitive_desc& backward);

  bool has_bias() const { return weighted_.has_bias(); }
  const std::string& weight() const { return weight_name_; }
  const std::string& bias() const { return bias_name_; }
  const Desc& x() const { return x_; }
  const Desc& bias_desc() const { return weighted_.bias(); }
  const Desc& gradient() const { return gradient_; }
  double flops() const { return flops_; }

 private:
  Forward::primitive_desc hint(const Desc& weight) const;
  BackwardWeights::primitive_desc backward_weights(const Desc& weight, const Desc& gradient) const;

  std::string weight_name_, bias_name_;
  Type type_;
  Desc x_, y_, gradient_;
  Forward::primitive_desc forward_;
  double flops_;
  WeightedPrimitive weighted_;
};

/// A product for several numbers of rows, since a primitive has a fixed one.
class RowProducts {
 public:
  /// `rows`: rising, to the product's own. describe(product): a primitive's descriptor.
  template <class Describe>
  RowProducts(PlanBuilder& plan, const RecurrentProduct& product, const std::vector<std::int64_t>& rows,
              const Describe& describe) {
    std::size_t bytes = 0;
    for (const std::int64_t count : rows) {
      const auto made = describe(count < rows.back() ? product.with_rows(count) : product);
      products_.emplace_back(count, RecurrentProduct::moving(made));
      implementation = made.impl_info_str();
      bytes = std::max(bytes, made.scratchpad_desc().get_size());
    }
    scratch = plan.allocate_bytes(bytes + 1);
  }

  /// Multiplies at least so many rows. `addresses`: as RecurrentProduct::moving(), without the scratch
  /// memory.
  template <class... Addresses>
  void run(const Frame& frame, std::int64_t rows, Addresses... addresses) {
    const auto enough = [&](const auto& product) { return product.first >= rows; };
    std::ranges::find_if(products_, enough)->second.run({addresses..., frame.address(scratch)});
  }

  Ref scratch;
  std::string implementation;  ///< of all rows

 private:
  std::vector<std::pair<std::int64_t, MovingPrimitive>> products_;
};

/// The gradients of a product's weights and bias, by all of its rows or by the first ones. A primitive has a
/// fixed number of rows, so fewer rows than all are multiplied in pieces.
class RowsGradient {
 public:
  /// `piece`: rows of a piece; 0: run() always gets all rows. Memory beyond the rows must be within that of x
  /// and dy as far as the last piece reaches.
  RowsGradient(PlanBuilder& plan, const Node& node, const RecurrentProduct& product, std::int64_t piece);

  /// x (rows, in), dy (rows, out). run() sets the rows of the last piece that exceed `rows` to 0.
  template <class T>
  void run(const Frame& frame, T* x, T* dy, std::int64_t rows);

  const std::vector<Ref>& uses() const { return uses_; }
  const std::vector<std::size_t>& completes() const { return completes_; }
  const Tensor& weights() const { return dweight_; }
  const std::string& implementation() const { return products_.implementation; }

 private:
  std::int64_t all_, piece_, in_, out_;
  RowProducts products_;
  Tensor dweight_, dbias_;  // dbias_: empty without a bias
  Ref of_piece_;            // the gradients by one piece
  std::vector<Ref> uses_;
  std::vector<std::size_t> completes_;
};

}  // namespace convoke::nn
