#pragma once
#include "convoke/nn/plan/parameters.hpp"
#include "nn/dnnl.hpp"
#include "nn/kernels/winograd/winograd.hpp"

namespace convoke::nn {

/// The form in which a primitive reads a parameter. It is made from the parameter alone, once per update if
/// plans share it (WorkingWeights).
struct WeightForm {
  enum class Kind {
    kReordered,           ///< in the layout and type `desc`
    kWinograd,            ///< a 3 x 3 convolution, transformed for WinogradKernels: desc is (floats)
    kWinogradTransposed,  ///< the same for the gradient of its data
    kFlipped,             ///< a depthwise convolution, each kernel backwards: in the layout of the weights
  };
  Kind kind = Kind::kReordered;
  Desc desc;

  WeightForm(const Desc& reordered) : desc(reordered) {}  // NOLINT: most primitives need this form
  WeightForm(Kind transformed, const Desc& weight);

  /// Transforms weights (K, C, 3, 3) in blocks of the Winograd kernels, which must exist, or the weights of a
  /// depthwise convolution in blocks of channels. `shared`: other cores read them next. Allocates nothing.
  void transform(const float* from, float* to, bool shared = false) const;

  friend bool operator==(const WeightForm& a, const WeightForm& b) {
    return a.kind == b.kind && a.desc == b.desc;
  }

 private:
  void flip(const float* from, float* to) const;
  std::int64_t in_channels_ = 0, out_channels_ = 0;
  std::int64_t block_ = 0, taps_ = 0;  ///< of flipped weights: channels kept together, elements of a kernel
};

/// Returns the channels that a layout of depthwise weights keeps together: 16 or 8, 0 for other layouts.
std::int64_t depthwise_block(const Desc& weight);

enum class Pass { kForward, kBackwardData, kBackwardWeights };

/// True if this pass should use the Winograd kernels, which must support the shape, instead of oneDNN's
/// direct ones, for images that are stored as `type`. A function of its arguments and the instruction set,
/// never of a timing, so that equal runs give equal results.
bool prefers_winograd(Pass pass, const WinogradShape& shape, Type type, ConvolutionChoice choice);

}  // namespace convoke::nn
