#pragma once
#include <string>

#include "convoke/nn/layers/batch_norm.hpp"
#include "nn/zoo/head.hpp"

// What MobileNetV2, MobileNetV3 and EfficientNet are made of; names and initial values are torchvision's.
namespace convoke::nn {

using Function = Symbol (*)(Symbol x);

/// Nearest multiple of 8 that is not below nine tenths of `channels`: "make divisible" of all three.
std::int64_t multiple_of_8(double channels);

/// He's initial values by what a value feeds, as torchvision's `kaiming_normal_(mode="fan_out")`.
Initializers kaiming_fan_out();

/// Convolution without bias, kernel k padded by (k - 1) / 2; batch norm; activation, if any.
struct ConvNorm {
  std::int64_t filters = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  bool depthwise = false;
  Function activation = nullptr;
  BatchNormOptions norm{.momentum = 0.9, .epsilon = 1e-5};
};
/// The nodes "<conv>" and "<norm>".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& conv, const std::string& norm);
/// The nodes "<name>.0" and "<name>.1".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& name);

/// J. Hu, L. Shen, G. Sun, "Squeeze-and-excitation networks", CVPR 2018: channels of `x` scaled by what two
/// dense layers make of their means. The nodes "<name>.fc1" and "<name>.fc2".
struct SqueezeExcite {
  std::int64_t squeezed = 0;  ///< channels in between; 0: none of it
  Function activation = nullptr;
  Function gate = nullptr;
};
Symbol squeeze_excite(Symbol x, const SqueezeExcite& options, const std::string& name);

/// 1x1 to `expanded` channels (left out where they are that many already), depthwise, squeeze-excite, and 1x1
/// to `filters` without an activation; the input is added where the shape is the same.
struct InvertedResidual {
  std::int64_t kernel = 3, expanded = 0, filters = 0, stride = 1;
  Function activation = nullptr;
  SqueezeExcite excite{};
  double drop = 0;  ///< of stochastic depth
  BatchNormOptions norm{.momentum = 0.9, .epsilon = 1e-5};
  bool flat =
      false;  ///< the last two nodes are "<name>.2", "<name>.3" rather than "<name>.2.0", "<name>.2.1"
};
Symbol inverted_residual(Symbol x, const InvertedResidual& block, const std::string& name);

}  // namespace convoke::nn
