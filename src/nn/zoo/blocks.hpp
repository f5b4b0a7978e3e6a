#pragma once
#include <string>

#include "convoke/nn/layers/batch_norm.hpp"
#include "nn/zoo/head.hpp"

// Building blocks of ResNet, VGG, MobileNet and EfficientNet. Names and initial values are torchvision's.
namespace convoke::nn {

using Function = Symbol (*)(Symbol x);

/// Returns the nearest multiple of 8 that is at least nine tenths of `channels`: "make divisible" of all
/// papers but that of ResNet.
std::int64_t multiple_of_8(double channels);

/// Returns He's initial values from the fan out, as torchvision's `kaiming_normal_(mode="fan_out")`.
Initializers kaiming_fan_out();

/// A convolution without bias, with kernel k and padding (k - 1) / 2; batch norm; activation, if any.
struct ConvNorm {
  std::int64_t filters = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  bool depthwise = false;
  Function activation = nullptr;
  BatchNormOptions norm{.momentum = 0.9, .epsilon = 1e-5};
};
/// Adds the nodes "<conv>" and "<norm>".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& conv, const std::string& norm);
/// Adds the nodes "<name>.0" and "<name>.1".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& name);

/// J. Hu, L. Shen, G. Sun, "Squeeze-and-excitation networks", CVPR 2018: two dense layers compute a factor
/// for each channel of `x` from the channels' means. The nodes are "<reduce>" and "<expand>".
struct SqueezeExcite {
  std::int64_t squeezed = 0;  ///< channels in between; 0: no squeeze-excite
  Function activation = nullptr;
  Function gate = nullptr;
};
Symbol squeeze_excite(Symbol x, const SqueezeExcite& options, const std::string& reduce,
                      const std::string& expand);

/// 1x1 to `expanded` channels (left out if the input has as many), depthwise, squeeze-excite, and 1x1 to
/// `filters` without an activation. The input is added if it has the shape of the result.
struct InvertedResidual {
  std::int64_t kernel = 3, expanded = 0, filters = 0, stride = 1;
  Function activation = nullptr;
  SqueezeExcite excite{};
  double drop = 0;  ///< rate of stochastic depth
  BatchNormOptions norm{.momentum = 0.9, .epsilon = 1e-5};
  bool flat = false;  ///< the last two nodes are "<name>.2", "<name>.3" instead of "<name>.2.0", "<name>.2.1"
};
Symbol inverted_residual(Symbol x, const InvertedResidual& block, const std::string& name);

}  // namespace convoke::nn
