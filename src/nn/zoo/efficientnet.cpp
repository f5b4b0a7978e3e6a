#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nn/zoo/blocks.hpp"
#include "nn/zoo/zoo.hpp"

namespace convoke::nn {
namespace {

/// A stage of B0: `blocks` inverted residuals with `filters` channels, the first with `stride`.
struct EfficientNetStage {
  std::int64_t expansion, kernel, stride, filters;
  int blocks;
};
constexpr std::array kEfficientNetStages{
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
constexpr std::array<EfficientNetScale, 8> kEfficientNetScales{{
    {1.0, 1.0, 0.2},
    {1.0, 1.1, 0.2},
    {1.1, 1.2, 0.3},
    {1.2, 1.4, 0.3},
    {1.4, 1.8, 0.4},
    {1.6, 2.2, 0.4},
    {1.8, 2.6, 0.5},
    {2.0, 3.1, 0.5},
}};
constexpr std::array<EfficientNetScale, 5> kEfficientNetLiteScales{{
    {1.0, 1.0, 0.2, true},
    {1.0, 1.1, 0.2, true},
    {1.1, 1.2, 0.3, true},
    {1.2, 1.4, 0.3, true},
    {1.4, 1.8, 0.3, true},
}};
constexpr double kEfficientNetLastDrop = 0.2;  ///< stochastic depth rises from 0 towards it

/// The two forms of the network: torchvision's, and that of the authors' TensorFlow code, which Keras and
/// timm have.
struct EfficientNetForm {
  const EfficientNetScale& scale;
  bool tensorflow;
  BatchNormOptions norm{};

  /// Adds the first or the last convolution.
  Symbol outer(Symbol x, ConvNorm unit, const std::string& torch_name, const std::string& keras_name) const {
    unit.same = tensorflow;
    unit.activation = activation();
    unit.norm = norm;
    return tensorflow ? conv_norm(x, unit, keras_name + "_conv", keras_name + "_bn")
                      : conv_norm(x, unit, torch_name);
  }
  PartNames names(int stage, int block) const {
    if (!tensorflow) return torch_names(fmt::format("features.{}.{}.block", stage, block));
    return [name = fmt::format("block{}{}_", stage, static_cast<char>('a' + block))](ResidualPart part) {
      static constexpr const char* kNames[][2] = {{"expand_conv", "expand_bn"},
                                                  {"dwconv", "bn"},
                                                  {"se_reduce", "se_expand"},
                                                  {"project_conv", "project_bn"}};
      const auto& [first, second] = kNames[static_cast<std::size_t>(part)];
      return std::array{name + first, name + second};
    };
  }
  UnaryLayer activation() const { return scale.lite ? relu6 : silu; }
};

/// Adds all nodes before the pooling. Keras' 1 x 1 convolutions of one pixel, in squeeze-excite, are dense
/// layers here.
Symbol efficientnet_features(Symbol x, const EfficientNetForm& form) {
  const EfficientNetScale& scale = form.scale;
  const int all = scale.blocks();
  x = form.outer(x, {.filters = scale.outer_channels(32), .kernel = 3, .stride = 2}, "features.0", "stem");
  int done = 0, part = 1;
  for (const EfficientNetStage& stage : kEfficientNetStages) {
    for (int i = 0; i < scale.blocks(stage); ++i, ++done) {
      const std::int64_t in = shape_of(x)[0];
      const std::int64_t squeezed = scale.lite ? 0 : std::max<std::int64_t>(1, in / 4);
      x = inverted_residual(x,
                            {.kernel = stage.kernel,
                             .expanded = in * stage.expansion,
                             .filters = scale.channels(stage.filters),
                             .stride = i == 0 ? stage.stride : 1,
                             .same = form.tensorflow,
                             .activation = form.activation(),
                             .excite = {.squeezed = squeezed, .activation = silu, .gate = sigmoid},
                             .drop = kEfficientNetLastDrop * done / all,
                             .norm = form.norm},
                            form.names(part, i));
    }
    ++part;
  }
  return form.outer(x, {.filters = scale.outer_channels(1280)}, fmt::format("features.{}", part), "top");
}

/// Adds the pooling, the dropout and the dense layer on the last feature maps.
Symbol efficientnet_top(Symbol x, const EfficientNetScale& scale, const ZooOptions& options) {
  x = global_average_pool(x);
  if (options.head) x = dropout(x, scale.dropout);
  const double range = 1 / std::sqrt(static_cast<double>(options.classes));
  return head(x, options,
              {.weight = Initializer(Settings{{"name", "uniform"}, {"minval", -range}, {"maxval", range}})});
}

Symbol whole_efficientnet(Symbol x, const ZooOptions& options, const EfficientNetForm& form) {
  return efficientnet_top(efficientnet_features(x, form), form.scale, options);
}

}  // namespace

Symbol efficientnet(Symbol x, const ZooOptions& options, std::size_t which) {
  // torchvision's batch norms: from B5 on, those of the paper's authors.
  const BatchNormOptions norm = which < 5 ? kTorchNorm : BatchNormOptions{.momentum = 0.99, .epsilon = 1e-3};
  return whole_efficientnet(x, options, {kEfficientNetScales[which], false, norm});
}

Symbol efficientnet_keras_features(Symbol x, std::size_t which) {
  x = rescale(x, {.scale = 1 / 255.0});
  x = standardize(x,
                  {.mean = {0.485, 0.456, 0.406}, .variance = {0.229 * 0.229, 0.224 * 0.224, 0.225 * 0.225}});
  return efficientnet_features(x, {kEfficientNetScales[which], true});
}

Symbol efficientnet_keras(Symbol x, const ZooOptions& options, std::size_t which) {
  return efficientnet_top(efficientnet_keras_features(x, which), kEfficientNetScales[which], options);
}

Symbol efficientnet_tf(Symbol x, const ZooOptions& options, std::size_t which) {
  return whole_efficientnet(x, options, {kEfficientNetScales[which], true});
}

Symbol efficientnet_lite(Symbol x, const ZooOptions& options, std::size_t which) {
  return whole_efficientnet(x, options, {kEfficientNetLiteScales[which], true});
}

}  // namespace convoke::nn
