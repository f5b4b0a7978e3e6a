#pragma once
#include <cassert>
#include <initializer_list>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "nn/dnnl.hpp"

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

}  // namespace convoke::nn
