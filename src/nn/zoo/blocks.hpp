#pragma once
#include <array>
#include <functional>
#include <string>

#include "convoke/nn/layers.hpp"
#include "convoke/nn/zoo.hpp"

// Blocks that several families of the zoo share. A family names the nodes with parameters as its reference
// implementation does, so that weights can be copied by name.
namespace convoke::nn {

/// Adds the end of a network, the node "predictions": a dense layer of `options.classes` units on `features`
/// (F). Returns `features` if options.head is false.
Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers = {});

/// Adds a convolution of kernel x kernel without bias, padded by (kernel - 1) / 2, with Kaiming's weights.
Symbol kaiming_conv(Symbol x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                    std::string name);

/// Averages over windows, so that the image has `size` x `size` pixels, as PyTorch's AdaptiveAvgPool2d.
/// Returns `x` itself if it has that size.
Symbol pooled_to(Symbol x, std::int64_t size);

/// Returns the shape of `x` for one sample.
inline const Shape& shape_of(Symbol x) { return x.graph->node(x.node).shape; }

using UnaryLayer = Symbol (*)(Symbol x);

/// torchvision's batch norms.
inline constexpr BatchNormOptions kTorchNorm{.momentum = 0.9, .epsilon = 1e-5};

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
  bool same = false;  ///< pads by "same" instead: with stride 2 as Keras' correct_pad
  bool depthwise = false;
  UnaryLayer activation = nullptr;
  BatchNormOptions norm = kTorchNorm;
};
/// Adds the nodes "<conv>" and "<norm>".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& conv, const std::string& norm);
/// Adds the nodes "<name>.0" and "<name>.1".
Symbol conv_norm(Symbol x, const ConvNorm& unit, const std::string& name);

/// J. Hu, L. Shen, G. Sun, "Squeeze-and-excitation networks", CVPR 2018: two dense layers compute a factor
/// for each channel of the input from the channels' means.
struct SqueezeExcite {
  std::int64_t squeezed = 0;  ///< channels in between; 0: no squeeze-excite
  UnaryLayer activation = nullptr;
  UnaryLayer gate = nullptr;
};

/// The parts of an inverted residual that have parameters, and the names of their nodes: a convolution and
/// its norm, or the two dense layers of squeeze-excite. It is called for each part that there is, in this
/// order.
enum class ResidualPart { kExpand, kDepthwise, kExcite, kProject };
using PartNames = std::function<std::array<std::string, 2>(ResidualPart part)>;

/// Returns torchvision's: "<name>.0.0", "<name>.0.1", "<name>.1.0", ... `flat`: those of kProject are
/// "<name>.2" and "<name>.3" instead of "<name>.2.0" and "<name>.2.1".
PartNames torch_names(const std::string& name, bool flat = false);

/// 1x1 to `expanded` channels (left out if the input has as many), depthwise, squeeze-excite, and 1x1 to
/// `filters` without an activation. The input is added if it has the shape of the result.
struct InvertedResidual {
  std::int64_t kernel = 3, expanded = 0, filters = 0, stride = 1;
  bool same = false;  ///< as in ConvNorm
  UnaryLayer activation = nullptr;
  SqueezeExcite excite{};
  double drop = 0;  ///< rate of stochastic depth
  BatchNormOptions norm = kTorchNorm;
};
Symbol inverted_residual(Symbol x, const InvertedResidual& block, const PartNames& names);

}  // namespace convoke::nn
