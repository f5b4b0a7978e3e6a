#include "convoke/nn/zoo.hpp"

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "nn/zoo/zoo.hpp"

namespace convoke::nn {
namespace {

/// Makes a member of a family whose function takes more arguments.
template <auto kFamily, auto... kWhich>
Symbol member(Symbol x, const ZooOptions& options) {
  return kFamily(x, options, kWhich...);
}

using ZooMaker = Symbol (*)(Symbol x, const ZooOptions& options);

struct Entry {
  std::string_view name;
  ZooMaker make;
  std::array<std::int64_t, 3> input;  ///< shape of one sample; a shape with fewer axes ends in zeroes
  ValueType type = ValueType::kReal;
};

// In alphabetical order, one per line.
// clang-format off
constexpr std::array kZoo{
    Entry{"alexnet", alexnet, {3, 224, 224}},
    Entry{"birds", birds, {3, 224, 224}},
    Entry{"convnext-tiny", convnext_tiny, {3, 224, 224}},
    Entry{"densenet121", member<densenet, 121>, {3, 224, 224}},
    Entry{"densenet169", member<densenet, 169>, {3, 224, 224}},
    Entry{"densenet201", member<densenet, 201>, {3, 224, 224}},
    Entry{"efficientnet-b0", member<efficientnet, 0>, {3, 224, 224}},
    Entry{"efficientnet-b0-keras", member<efficientnet_keras, 0>, {3, 224, 224}},
    Entry{"efficientnet-b1", member<efficientnet, 1>, {3, 240, 240}},
    Entry{"efficientnet-b1-keras", member<efficientnet_keras, 1>, {3, 240, 240}},
    Entry{"efficientnet-b2", member<efficientnet, 2>, {3, 288, 288}},
    Entry{"efficientnet-b2-keras", member<efficientnet_keras, 2>, {3, 260, 260}},
    Entry{"efficientnet-b3", member<efficientnet, 3>, {3, 300, 300}},
    Entry{"efficientnet-b3-keras", member<efficientnet_keras, 3>, {3, 300, 300}},
    Entry{"efficientnet-b4", member<efficientnet, 4>, {3, 380, 380}},
    Entry{"efficientnet-b4-keras", member<efficientnet_keras, 4>, {3, 380, 380}},
    Entry{"efficientnet-b5", member<efficientnet, 5>, {3, 456, 456}},
    Entry{"efficientnet-b5-keras", member<efficientnet_keras, 5>, {3, 456, 456}},
    Entry{"efficientnet-b6", member<efficientnet, 6>, {3, 528, 528}},
    Entry{"efficientnet-b6-keras", member<efficientnet_keras, 6>, {3, 528, 528}},
    Entry{"efficientnet-b7", member<efficientnet, 7>, {3, 600, 600}},
    Entry{"efficientnet-b7-keras", member<efficientnet_keras, 7>, {3, 600, 600}},
    Entry{"efficientnet-lite0", member<efficientnet_lite, 0>, {3, 224, 224}},
    Entry{"efficientnet-lite1", member<efficientnet_lite, 1>, {3, 240, 240}},
    Entry{"efficientnet-lite2", member<efficientnet_lite, 2>, {3, 260, 260}},
    Entry{"efficientnet-lite3", member<efficientnet_lite, 3>, {3, 280, 280}},
    Entry{"efficientnet-lite4", member<efficientnet_lite, 4>, {3, 300, 300}},
    Entry{"imdb-lstm", imdb_lstm, {300}, ValueType::kToken},
    Entry{"inception-v3", inception_v3, {3, 299, 299}},
    Entry{"leaf-cnn", leaf_cnn, {3, 128, 128}},
    Entry{"lenet5", lenet5, {1, 28, 28}},
    Entry{"mobilenet-v1", mobilenet_v1, {3, 224, 224}},
    Entry{"mobilenet-v2", mobilenet_v2, {3, 224, 224}},
    Entry{"mobilenet-v3-large", mobilenet_v3_large, {3, 224, 224}},
    Entry{"mobilenet-v3-small", mobilenet_v3_small, {3, 224, 224}},
    Entry{"nn-twins", nn_twins, {5}},
    Entry{"resnet101", member<resnet, 101>, {3, 224, 224}},
    Entry{"resnet101-keras", member<resnet_keras, 101>, {3, 224, 224}},
    Entry{"resnet152", member<resnet, 152>, {3, 224, 224}},
    Entry{"resnet152-keras", member<resnet_keras, 152>, {3, 224, 224}},
    Entry{"resnet18", member<resnet, 18>, {3, 224, 224}},
    Entry{"resnet20", member<resnet_cifar, 20>, {3, 32, 32}},
    Entry{"resnet34", member<resnet, 34>, {3, 224, 224}},
    Entry{"resnet50", member<resnet, 50>, {3, 224, 224}},
    Entry{"resnet50-keras", member<resnet_keras, 50>, {3, 224, 224}},
    Entry{"resnet56", member<resnet_cifar, 56>, {3, 32, 32}},
    Entry{"retina", retina, {3, 256, 256}},
    Entry{"shufflenet-v2", shufflenet_v2, {3, 224, 224}},
    Entry{"squeezenet1.0", squeezenet1_0, {3, 224, 224}},
    Entry{"squeezenet1.1", squeezenet1_1, {3, 224, 224}},
    Entry{"tf-efficientnet-b0", member<efficientnet_tf, 0>, {3, 224, 224}},
    Entry{"tf-efficientnet-b1", member<efficientnet_tf, 1>, {3, 240, 240}},
    Entry{"tf-efficientnet-b2", member<efficientnet_tf, 2>, {3, 260, 260}},
    Entry{"tf-efficientnet-b3", member<efficientnet_tf, 3>, {3, 300, 300}},
    Entry{"tf-efficientnet-b4", member<efficientnet_tf, 4>, {3, 380, 380}},
    Entry{"tf-efficientnet-b5", member<efficientnet_tf, 5>, {3, 456, 456}},
    Entry{"tf-efficientnet-b6", member<efficientnet_tf, 6>, {3, 528, 528}},
    Entry{"tf-efficientnet-b7", member<efficientnet_tf, 7>, {3, 600, 600}},
    Entry{"vgg11", member<vgg, 11, false>, {3, 224, 224}},
    Entry{"vgg11-bn", member<vgg, 11, true>, {3, 224, 224}},
    Entry{"vgg13", member<vgg, 13, false>, {3, 224, 224}},
    Entry{"vgg13-bn", member<vgg, 13, true>, {3, 224, 224}},
    Entry{"vgg16", member<vgg, 16, false>, {3, 224, 224}},
    Entry{"vgg16-bn", member<vgg, 16, true>, {3, 224, 224}},
    Entry{"vgg19", member<vgg, 19, false>, {3, 224, 224}},
    Entry{"vgg19-bn", member<vgg, 19, true>, {3, 224, 224}},
    Entry{"wide-resnet-28-10", wide_resnet_28_10, {3, 32, 32}},
    Entry{"xception", xception, {3, 299, 299}},
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
  Graph graph(ValueSpec(options.input.rank() == 0 ? input_of(entry) : options.input, entry.type));
  entry.make(input(graph), options);
  return graph;
}

std::vector<std::string> zoo_names() { return names_in(kZoo); }

Shape zoo_input(const std::string& name) { return input_of(entry_of(name)); }

}  // namespace convoke::nn
