#include "convoke/nn/zoo.hpp"

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "nn/zoo/alexnet.hpp"
#include "nn/zoo/lenet.hpp"
#include "nn/zoo/resnet.hpp"
#include "nn/zoo/resnet_cifar.hpp"
#include "nn/zoo/resnet_keras.hpp"
#include "nn/zoo/squeezenet.hpp"
#include "nn/zoo/vgg.hpp"

namespace convoke::nn {
namespace {

using ZooMaker = Graph (*)(const ZooOptions&);

struct Entry {
  std::string_view name;
  ZooMaker make;
  std::array<std::int64_t, 3> input;  ///< of one sample; a shape of fewer axes ends in zeroes
};

// In alphabetical order, one to a line.
// clang-format off
constexpr std::array kZoo{
    Entry{"alexnet", alexnet, {3, 224, 224}},
    Entry{"lenet5", lenet5, {1, 28, 28}},
    Entry{"resnet101", resnet101, {3, 224, 224}},
    Entry{"resnet152", resnet152, {3, 224, 224}},
    Entry{"resnet18", resnet18, {3, 224, 224}},
    Entry{"resnet20", resnet20, {3, 32, 32}},
    Entry{"resnet34", resnet34, {3, 224, 224}},
    Entry{"resnet50", resnet50, {3, 224, 224}},
    Entry{"resnet50-keras", resnet50_keras, {3, 224, 224}},
    Entry{"resnet56", resnet56, {3, 32, 32}},
    Entry{"squeezenet1.0", squeezenet1_0, {3, 224, 224}},
    Entry{"squeezenet1.1", squeezenet1_1, {3, 224, 224}},
    Entry{"vgg11", vgg11, {3, 224, 224}},
    Entry{"vgg11-bn", vgg11_bn, {3, 224, 224}},
    Entry{"vgg13", vgg13, {3, 224, 224}},
    Entry{"vgg13-bn", vgg13_bn, {3, 224, 224}},
    Entry{"vgg16", vgg16, {3, 224, 224}},
    Entry{"vgg16-bn", vgg16_bn, {3, 224, 224}},
    Entry{"vgg19", vgg19, {3, 224, 224}},
    Entry{"vgg19-bn", vgg19_bn, {3, 224, 224}},
    Entry{"wide-resnet-28-10", wide_resnet_28_10, {3, 32, 32}},
};
// clang-format on

const Entry& entry_of(const std::string& name) { return find_in(kZoo, name, "zoo model"); }

Shape input_of(const Entry& entry) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t extent : entry.input) {
    if (extent > 0) extents.push_back(extent);
  }
  return Shape(extents);
}

}  // namespace

Graph make_zoo_model(const std::string& name, const ZooOptions& options) {
  const Entry& entry = entry_of(name);
  if (options.classes < 1) throw Error(name + ": classes must be at least 1");
  ZooOptions own = options;
  if (own.input.rank() == 0) own.input = input_of(entry);
  return entry.make(own);
}

std::vector<std::string> zoo_names() { return names_in(kZoo); }

Shape zoo_input(const std::string& name) { return input_of(entry_of(name)); }

}  // namespace convoke::nn
