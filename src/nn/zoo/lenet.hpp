#pragma once
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {

/// Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
/// Proceedings of the IEEE 86, 1998, figure 2, as it is taught today: C3 sees all maps of S2, subsampling
/// is a mean without coefficients, and the output is a dense layer. 61,706 parameters with 10 classes.
Graph lenet5(const ZooOptions& options);

}  // namespace convoke::nn
