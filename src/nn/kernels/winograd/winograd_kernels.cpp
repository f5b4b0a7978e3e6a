#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/winograd/winograd.hpp"

#ifdef CONVOKE_INSTRUCTION_SET
#include "nn/kernels/winograd/passes.hpp"
#endif

namespace convoke::nn {

template <>
WinogradKernels kernels_for<kThisSet>() {
#ifdef CONVOKE_INSTRUCTION_SET
  return {kLanes,
          kThisSet == InstructionSet::kAvx512 ? "convoke:winograd_avx512" : "convoke:winograd_avx2",
          scratch_floats,
          gradient_scratch_floats,
          transform_weights,
          transform_weights_transposed,
          joins_gradients,
          {forward<float>, data_gradient<float>, weight_gradient<float>},
          {forward<Bf16>, data_gradient<Bf16>, weight_gradient<Bf16>}};
#else
  return {};  // oneDNN's direct convolution is as fast without fused multiply-adds
#endif
}

}  // namespace convoke::nn
