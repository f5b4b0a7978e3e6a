#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "nn/zoo/blocks.hpp"

// The tables of EfficientNet, which torchvision's and Keras' forms share.
namespace convoke::nn {

/// A stage of B0: `blocks` inverted residuals with `filters` channels, the first with `stride`.
struct EfficientNetStage {
  std::int64_t expansion, kernel, stride, filters;
  int blocks;
};
inline constexpr std::array kEfficientNetStages{
    EfficientNetStage{1, 3, 1, 16, 1},  EfficientNetStage{6, 3, 2, 24, 2},
    EfficientNetStage{6, 5, 2, 40, 2},  EfficientNetStage{6, 3, 2, 80, 3},
    EfficientNetStage{6, 5, 1, 112, 3}, EfficientNetStage{6, 5, 2, 192, 4},
    EfficientNetStage{6, 3, 1, 320, 1},
};

/// The scaling to B1 .. B7: channels times `width`, blocks times `depth`. The Lite networks, whose first and
/// last stages and outer convolutions are not scaled, have ReLU6 instead of SiLU, and no squeeze-excite.
struct EfficientNetScale {
  double width, depth, dropout;
  bool lite = false;

  std::int64_t channels(std::int64_t of_b0) const {
    return multiple_of_8(static_cast<double>(of_b0) * width);
  }
  /// Returns the channels of the first or the last convolution.
  std::int64_t outer_channels(std::int64_t of_b0) const { return lite ? of_b0 : channels(of_b0); }
  int blocks(const EfficientNetStage& stage) const {
    const bool outer = &stage == &kEfficientNetStages.front() || &stage == &kEfficientNetStages.back();
    if (lite && outer) return stage.blocks;
    return static_cast<int>(std::ceil(stage.blocks * depth));
  }
  /// Returns the number of blocks of the network.
  int blocks() const {
    int all = 0;
    for (const EfficientNetStage& stage : kEfficientNetStages) all += blocks(stage);
    return all;
  }
};
inline constexpr std::array<EfficientNetScale, 8> kEfficientNetScales{{
    {1.0, 1.0, 0.2},
    {1.0, 1.1, 0.2},
    {1.1, 1.2, 0.3},
    {1.2, 1.4, 0.3},
    {1.4, 1.8, 0.4},
    {1.6, 2.2, 0.4},
    {1.8, 2.6, 0.5},
    {2.0, 3.1, 0.5},
}};
inline constexpr std::array<EfficientNetScale, 5> kEfficientNetLiteScales{{
    {1.0, 1.0, 0.2, true},
    {1.0, 1.1, 0.2, true},
    {1.1, 1.2, 0.3, true},
    {1.2, 1.4, 0.3, true},
    {1.4, 1.8, 0.3, true},
}};
inline constexpr double kEfficientNetLastDrop = 0.2;  ///< stochastic depth rises from 0 towards it

/// Adds the pooling, the dropout and the dense layer on the last feature maps.
Symbol efficientnet_top(Symbol x, const EfficientNetScale& scale, const ZooOptions& options);

}  // namespace convoke::nn
