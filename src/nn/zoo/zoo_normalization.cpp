#include <algorithm>
#include <array>

#include "convoke/nn/freeze.hpp"
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {
namespace {

struct Expected {
  std::string_view name;  ///< names of the models; `*` stands for any text
  std::string_view normalize;
};

// The first line that matches a model's name counts. All others have torchvision's or timm's weights.
constexpr std::array kExpected{
    Expected{"birds", "none"},                // on efficientnet-b5-keras
    Expected{"efficientnet*-keras", "none"},  // begins with its own standardization
    Expected{"efficientnet-lite*", "keras-tf"},
    Expected{"imdb-lstm", ""},
    Expected{"inception-v3", "keras-tf"},
    Expected{"leaf-cnn", ""},
    Expected{"lenet5", ""},
    Expected{"mobilenet-v1", "keras-tf"},
    Expected{"nn-twins", ""},
    Expected{"resnet*-keras", "keras-caffe"},
    Expected{"resnet20", ""},
    Expected{"resnet56", ""},
    Expected{"retina", "keras-tf"},  // on inception-v3
    Expected{"wide-resnet*", ""},
    Expected{"xception", "keras-tf"},
};

}  // namespace

std::string zoo_normalization(const std::string& name) {
  zoo_input(name);  // throws Error for an unknown name
  const auto it = std::find_if(kExpected.begin(), kExpected.end(),
                               [&](const Expected& expected) { return matches(expected.name, name); });
  return std::string(it == kExpected.end() ? "imagenet" : it->normalize);
}

}  // namespace convoke::nn
