#pragma once
#include "nn/dnnl.hpp"

namespace convoke::nn {

/// A form of a parameter in which a primitive reads it. Made from the parameter alone, once per update where
/// plans share it (working_weights.hpp).
struct WeightForm {
  enum class Kind {
    kReordered,           ///< in the layout and type `desc`
    kWinograd,            ///< of a 3 x 3 convolution, transformed for WinogradKernels: desc is (floats)
    kWinogradTransposed,  ///< the same for the gradient of its data
  };
  Kind kind = Kind::kReordered;
  Desc desc;

  WeightForm(const Desc& reordered) : desc(reordered) {}  // NOLINT: what most primitives want
  WeightForm(Kind transformed, const Desc& weight);

  /// From weights (K, C, 3, 3) in blocks of the kernels, which must exist. Allocates nothing.
  void transform(const float* from, float* to) const;

  friend bool operator==(const WeightForm& a, const WeightForm& b) {
    return a.kind == b.kind && a.desc == b.desc;
  }

 private:
  std::int64_t in_channels_ = 0, out_channels_ = 0;
};

}  // namespace convoke::nn
