#include "convoke/nn/zoo_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/zoo.hpp"

namespace convoke::nn {
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
  if (it == kParts.end()) throw Error(name + ": its parts are not in src/nn/zoo/zoo_parts.cpp");
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
