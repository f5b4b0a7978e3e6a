#pragma once
#include "convoke/interop/model_io.hpp"
#include "interop/onnx/source.hpp"
#include "interop/onnx/view.hpp"

namespace convoke::interop::onnx {

/// The input of a model, and how its axes are those of our graph's input.
struct Input {
  std::string name;
  nn::ValueSpec sample;        ///< our input: (C, H, W), (L, F), (F), or tokens (L)
  std::vector<int> roles;      ///< for View::of
  std::int64_t batch = 1;      ///< with which the file was exported
  bool open_batch = false;     ///< the file leaves it open
  bool channels_last = false;  ///< the file's input is (N, H, W, C), ours (C, H, W)
};

/// Chooses the input that the nodes in `order` read. Throws Error if they read none or several, or if a size
/// is neither in the file nor in `options`.
Input choose_input(const Source& source, const std::vector<std::size_t>& order, const ImportOptions& options);

}  // namespace convoke::interop::onnx
