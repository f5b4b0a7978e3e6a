// Compiled with -march=x86-64-v3: see CMakeLists.txt.
#if defined(__x86_64__)
#include "nn/kernels/winograd/passes.hpp"

namespace convoke::nn {

const WinogradKernels kWinogradAvx2{kLanes,
                                    "convoke:winograd_avx2",
                                    scratch_floats,
                                    gradient_scratch_floats,
                                    transform_weights,
                                    transform_weights_transposed,
                                    forward,
                                    data_gradient,
                                    weight_gradient,
                                    joins_gradients};

}  // namespace convoke::nn

#endif
