#include "convoke/nn/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/freeze.hpp"
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

namespace {

/// The node names of a family, and the samples that its published weights expect.
struct Parts {
  std::string_view name;  ///< names of the models; `*` stands for any text
  /// start of the names of a block's nodes; `#` stands for a number, `@` for a small letter; empty: no blocks
  std::string_view block;
  std::string_view head;       ///< the first node of the head
  std::string_view normalize;  ///< zoo_normalization()
};

// The first line that matches a model's name counts.
// clang-format off
constexpr std::array kParts{
    Parts{"alexnet", "features.#", "classifier.1", "imagenet"},
    Parts{"birds", "block#@_", "head.dense1", "none"},  // on efficientnet-b5-keras
    Parts{"convnext*", "features.#.#.layer_scale", "classifier.0", "imagenet"},
    Parts{"densenet*", "features.denseblock#", "predictions", "imagenet"},
    Parts{"efficientnet*-keras", "block#@_", "predictions", "none"},  // begins with its own standardization
    Parts{"efficientnet-lite*", "block#@_", "predictions", "keras-tf"},
    Parts{"efficientnet*", "features.#.#.block", "predictions", "imagenet"},
    Parts{"imdb-lstm", "", "dense_1", ""},
    Parts{"inception-v3", "mixed#", "predictions", "keras-tf"},
    Parts{"leaf-cnn", "max_pool_#", "dense_1", ""},
    Parts{"lenet5", "average_pool_#", "c5", ""},
    Parts{"mobilenet-v1", "conv_pw_#", "predictions", "keras-tf"},
    Parts{"mobilenet-v2", "features.#.conv", "predictions", "imagenet"},
    Parts{"mobilenet-v3*", "features.#.block", "classifier.0", "imagenet"},
    Parts{"nn-twins", "", "predictions", ""},
    Parts{"resnet*-keras", "conv#_block#", "predictions", "keras-caffe"},
    Parts{"resnet20", "layer#.#", "predictions", ""},
    Parts{"resnet56", "layer#.#", "predictions", ""},
    Parts{"resnet*", "layer#.#", "predictions", "imagenet"},
    Parts{"retina", "mixed#", "head.dense1", "keras-tf"},  // on inception-v3
    Parts{"shufflenet*", "stage#.#", "predictions", "imagenet"},
    Parts{"squeezenet*", "features.#.expand3x3", "predictions", "imagenet"},
    Parts{"tf-efficientnet*", "block#@_", "predictions", "imagenet"},
    Parts{"vgg*", "max_pool_#", "classifier.0", "imagenet"},
    Parts{"wide-resnet*", "layer#.#", "predictions", ""},
    Parts{"xception", "block#_", "predictions", "keras-tf"},
};
// clang-format on

const Parts& parts_of(const std::string& name) {
  zoo_input(name);  // throws Error for an unknown name
  const auto it = std::find_if(kParts.begin(), kParts.end(),
                               [&](const Parts& parts) { return matches(parts.name, name); });
  if (it == kParts.end()) throw Error(name + ": its parts are not in src/nn/zoo/zoo.cpp");
  return *it;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the start of `name` that matches `pattern`: "layer1.0" of "layer1.0.conv1"; empty if there is
/// none.
std::string_view beginning(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  for (const char c : pattern) {
    const std::size_t from = at;
    if (c == '#') {
      while (at < name.size() && is_digit(name[at])) ++at;
    } else if (at < name.size() && (name[at] == c || (c == '@' && name[at] >= 'a' && name[at] <= 'z'))) {
      ++at;
    }
    if (at == from) return {};
  }
  return name.substr(0, at);
}

// "blocks:3" -> 3
std::int64_t count_in(std::string_view pattern) {
  const std::string_view digits = pattern.substr(pattern.find(':') + 1);
  const std::int64_t count = parse_number<std::int64_t>(digits).value_or(0);
  if (count < 1) {
    throw Error(fmt::format("freeze: \"{}\" needs a whole number of at least 1 after the colon", pattern),
                "for example \"blocks:3\"");
  }
  return count;
}

std::string before(const std::string& node) { return "before:" + node; }

// Returns the first node of the head, which is the published one or another; "" if there is no head.
std::string head_in(const std::string& zoo, const Graph& graph) {
  const Graph features = make_zoo_model(zoo, {.input = graph.input_shape(), .head = false});
  auto left =
      std::ranges::count_if(features.nodes(), [](const Node& node) { return !node.parameters.empty(); });
  const std::string published = zoo_head(zoo);
  for (const Node& node : graph.nodes()) {
    if (node.name == published || (!node.parameters.empty() && left-- == 0)) return node.name;
  }
  return "";
}

std::string before_rest(const std::string& zoo, const Graph& graph, const std::string& pattern) {
  const std::int64_t count = count_in(pattern);
  if (zoo.empty()) {
    throw Error(fmt::format("freeze: \"{}\": only models of the zoo have blocks", pattern),
                "name the first node to train: \"before:NAME\"");
  }
  const std::vector<std::string> blocks = zoo_blocks(zoo, graph);
  if (blocks.empty()) {
    throw Error(fmt::format("freeze: \"{}\": {} has no blocks", pattern, zoo),
                "name the first node to train: \"before:NAME\"");
  }
  if (count > static_cast<std::int64_t>(blocks.size())) {
    throw Error(fmt::format("freeze: \"{}\": {} has only {} blocks", pattern, zoo, blocks.size()),
                fmt::format("\"blocks:{}\" freezes all of them, \"backbone\" all nodes before the head",
                            blocks.size()));
  }
  const auto last = graph.nodes().begin() +
                    static_cast<std::ptrdiff_t>(graph.find(blocks[static_cast<std::size_t>(count - 1)]));
  const auto next =
      std::find_if(last + 1, graph.nodes().end(), [](const Node& node) { return !node.parameters.empty(); });
  return next == graph.nodes().end() ? "*" : before(next->name);
}

}  // namespace

std::string zoo_head(const std::string& name) { return std::string(parts_of(name).head); }

std::string zoo_normalization(const std::string& name) { return std::string(parts_of(name).normalize); }

std::vector<std::string> zoo_blocks(const std::string& name, const Graph& graph) {
  const std::string_view pattern = parts_of(name).block;
  std::vector<std::string> ends;
  std::string_view block;  // the block to which the last end belongs
  for (const Node& node : graph.nodes()) {
    const std::string_view found = beginning(pattern, node.name);
    if (found.empty()) continue;
    if (found == block) ends.pop_back();
    block = found;
    ends.push_back(node.name);
  }
  return ends;
}

std::vector<std::string> resolve_parts(const std::string& zoo, const Graph& graph,
                                       std::vector<std::string> patterns) {
  for (std::string& pattern : patterns) {
    if (pattern.starts_with("blocks:")) {
      pattern = before_rest(zoo, graph, pattern);
    } else if (pattern == "backbone" && !zoo.empty()) {
      const std::string head = head_in(zoo, graph);
      pattern = head.empty() ? "*" : before(head);  // a network without a head is all backbone
    }
  }
  return patterns;
}

}  // namespace convoke::nn
