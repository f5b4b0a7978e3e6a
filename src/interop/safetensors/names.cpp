#include "interop/safetensors/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"
#include "interop/layer_settings.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop {
namespace {

bool has_node(const nn::Graph& graph, std::string_view name) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [&](const nn::Node& node) { return node.name == name; });
}

// PyTorch's names of our parameters; those of recurrent layers, which PyTorch stores in other pieces, stay.
std::string_view state_name(std::string_view parameter) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOther{
      {{"gamma", "weight"}, {"beta", "bias"}, {"running_variance", "running_var"}}};
  for (const auto& [ours, theirs] : kOther) {
    if (parameter == ours) return theirs;
  }
  return parameter;
}

// A network of torchvision, recognized by one of its nodes, and its name for the head, our "predictions".
struct Head {
  std::string_view node, head;
};
constexpr std::array kHeads{
    Head{"layer1.0.conv1", "fc"},                      // ResNet
    Head{"stage2.0.branch1.0", "fc"},                  // ShuffleNet
    Head{"features.conv0", "classifier"},              // DenseNet
    Head{"features.3.squeeze", "classifier.1"},        // SqueezeNet
    Head{"features.1.0.layer_scale", "classifier.2"},  // ConvNeXt
    Head{"classifier.4", "classifier.6"},              // AlexNet
    Head{"classifier.3", "classifier.6"},              // VGG
    Head{"features.0.0", "classifier.1"},              // MobileNetV2, EfficientNet
};

// MobileNetV3 has a hidden layer before the head.
std::optional<std::string> torchvision_head(const nn::Graph& graph) {
  const auto found = std::find_if(kHeads.begin(), kHeads.end(),
                                  [&](const Head& head) { return has_node(graph, head.node); });
  if (found == kHeads.end()) return std::nullopt;
  if (found->head == "classifier.1" && has_node(graph, "classifier.0")) return "classifier.3";
  return std::string(found->head);
}

StateEntry entry_in(std::string_view module, const nn::ParameterSpec& parameter) {
  return {fmt::format("{}.{}", module, state_name(parameter.name)), parameter.shape};
}

// The same weights as those of a 1 x 1 convolution (out, in, 1, 1), or of a linear layer (out, in).
StateEntry as_convolution(StateEntry entry) {
  if (entry.shape.rank() == 2) entry.shape = {entry.shape[0], entry.shape[1], 1, 1};
  return entry;
}
StateEntry as_linear(StateEntry entry) {
  if (entry.shape.rank() == 4) entry.shape = {entry.shape[0], entry.shape[1]};
  return entry;
}

StateEntry by_node(const nn::Graph&, const nn::Node& node, const nn::ParameterSpec& parameter) {
  return entry_in(node.name, parameter);
}

// Squeeze-and-excitation has convolutions, ConvNeXt's blocks have linear layers, and its layer scale is a
// tensor without a module, "features.1.0.layer_scale" (C, 1, 1).
StateEntry by_torchvision(const nn::Graph& graph, const nn::Node& node, const nn::ParameterSpec& parameter) {
  if (node.name == "predictions") return entry_in(*torchvision_head(graph), parameter);
  const StateEntry entry = entry_in(node.name, parameter);
  if (node.name.ends_with(".layer_scale")) return {node.name, {parameter.shape[0], 1, 1}};
  if (node.name.ends_with(".fc1") || node.name.ends_with(".fc2")) return as_convolution(entry);
  if (node.name.ends_with(".block.3") || node.name.ends_with(".block.5")) return as_linear(entry);
  return entry;
}

// ConvNeXt: "features.1.0.block.3" is "stages.0.blocks.0.mlp.fc1".
StateEntry timm_convnext(const nn::Graph&, const nn::Node& node, const nn::ParameterSpec& parameter) {
  static const Pattern kBlock(R"(features\.([1357])\.(\d+)\.(?:block\.)?(\w+))");
  static const Pattern kDownsample(R"(features\.([246])\.([01]))");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kParts{
      {{"0", "conv_dw"}, {"2", "norm"}, {"3", "mlp.fc1"}, {"5", "mlp.fc2"}}};
  if (const Match match = whole_match(node.name, kBlock); !match.empty()) {
    const std::string block = fmt::format("stages.{}.blocks.{}", std::stoi(match[1]) / 2, match[2]);
    if (match[3] == "layer_scale") return {block + ".gamma", parameter.shape};
    const std::string part = match[3];
    const auto known =
        std::find_if(kParts.begin(), kParts.end(), [&](const auto& p) { return p.first == part; });
    const StateEntry entry = entry_in(fmt::format("{}.{}", block, known->second), parameter);
    return part == "0" ? entry : as_linear(entry);
  }
  if (const Match match = whole_match(node.name, kDownsample); !match.empty())
    return entry_in(fmt::format("stages.{}.downsample.{}", std::stoi(match[1]) / 2, match[2]), parameter);
  if (node.name == "classifier.0") return entry_in("head.norm", parameter);
  if (node.name == "predictions") return entry_in("head.fc", parameter);
  return entry_in("stem" + node.name.substr(node.name.rfind('.')), parameter);
}

// The names of EfficientNet's parts. The blocks of stage 1 have no expansion, so that timm numbers their
// parts differently.
struct EfficientNetPart {
  std::string_view keras, timm, timm_plain, pytorch;
};
constexpr std::array kEfficientNetParts{
    EfficientNetPart{"expand_conv", "conv_pw", "", "_expand_conv"},
    EfficientNetPart{"expand_bn", "bn1", "", "_bn0"},
    EfficientNetPart{"dwconv", "conv_dw", "conv_dw", "_depthwise_conv"},
    EfficientNetPart{"bn", "bn2", "bn1", "_bn1"},
    EfficientNetPart{"se_reduce", "se.conv_reduce", "se.conv_reduce", "_se_reduce"},
    EfficientNetPart{"se_expand", "se.conv_expand", "se.conv_expand", "_se_expand"},
    EfficientNetPart{"project_conv", "conv_pwl", "conv_pw", "_project_conv"},
    EfficientNetPart{"project_bn", "bn3", "bn2", "_bn2"},
};
constexpr std::array kEfficientNetOthers{
    EfficientNetPart{"stem_conv", "conv_stem", "", "_conv_stem"},
    EfficientNetPart{"stem_bn", "bn1", "", "_bn0"},
    EfficientNetPart{"top_conv", "conv_head", "", "_conv_head"},
    EfficientNetPart{"top_bn", "bn2", "", "_bn1"},
    EfficientNetPart{"predictions", "classifier", "", "_fc"},
};

// The number of blocks before the one whose nodes begin with `block`.
std::int64_t blocks_before(const nn::Graph& graph, const std::string& block) {
  std::int64_t count = 0;
  for (const nn::Node& node : graph.nodes()) {
    if (node.name == block + "_dwconv") break;
    if (node.name.ends_with("_dwconv")) ++count;
  }
  return count;
}

// EfficientNet under Keras' names: "block2a_expand_conv" is "blocks.1.0.conv_pw" in timm, and
// "_blocks.1._expand_conv" in efficientnet_pytorch.
template <bool timm>
StateEntry by_efficientnet(const nn::Graph& graph, const nn::Node& node, const nn::ParameterSpec& parameter) {
  static const Pattern kBlock(R"((block(\d)([a-z]))_(\w+))");
  const auto named = [](const auto& parts, std::string_view name) {
    return std::ranges::find(parts, name, &EfficientNetPart::keras);
  };
  if (const auto other = named(kEfficientNetOthers, node.name); other != kEfficientNetOthers.end())
    return entry_in(timm ? other->timm : other->pytorch, parameter);
  const Match match = whole_match(node.name, kBlock);
  if (match.empty()) return entry_in(node.name, parameter);
  const std::string block = match[1], part = match[4];
  const auto known = named(kEfficientNetParts, part);
  if (known == kEfficientNetParts.end()) return entry_in(node.name, parameter);
  std::string module = fmt::format("_blocks.{}.{}", blocks_before(graph, block), known->pytorch);
  if (timm) {
    const bool expanded = has_node(graph, block + "_expand_conv");
    module = fmt::format("blocks.{}.{}.{}", std::stoi(match[2]) - 1, match[3][0] - 'a',
                         expanded ? known->timm : known->timm_plain);
  }
  return as_convolution(entry_in(module, parameter));
}

struct Scheme {
  std::string_view name;
  bool (*fits)(const nn::Graph& graph);
  StateEntry (*entry_of)(const nn::Graph& graph, const nn::Node& node, const nn::ParameterSpec& parameter);
};
constexpr std::array kSchemes{
    Scheme{"torchvision",
           [](const nn::Graph& graph) {
             return has_node(graph, "predictions") && torchvision_head(graph).has_value();
           },
           by_torchvision},
    Scheme{"timm", [](const nn::Graph& graph) { return has_node(graph, "features.1.0.layer_scale"); },
           timm_convnext},
    Scheme{"timm", [](const nn::Graph& graph) { return has_node(graph, "block1a_dwconv"); },
           by_efficientnet<true>},
    Scheme{"efficientnet_pytorch", [](const nn::Graph& graph) { return has_node(graph, "block1a_dwconv"); },
           by_efficientnet<false>},
    Scheme{"node names", [](const nn::Graph&) { return true; }, by_node},
};

}  // namespace

std::vector<Naming> state_dict_names(const nn::Graph& graph) {
  std::vector<Naming> namings;
  for (const Scheme& scheme : kSchemes) {
    if (!scheme.fits(graph)) continue;
    Naming& naming = namings.emplace_back(Naming{std::string(scheme.name), {}});
    for (const nn::Node& node : graph.nodes()) {
      for (const nn::ParameterSpec& parameter : node.parameters) {
        StateEntry& entry = naming.entries.emplace_back(scheme.entry_of(graph, node, parameter));
        if (node.layer->type() != "conv2d_transpose" || parameter.name != "weight") continue;
        entry.groups = LayerSettings(*node.layer).integer("groups");
        entry.shape = swapped_channels(parameter.shape, entry.groups);
      }
    }
  }
  return namings;
}

namespace {

/// For each prefix, how many names it makes names of the naming.
using Counts = std::map<std::string, std::size_t>;

Counts count_prefixes(const Naming& naming, const std::vector<std::string>& names) {
  std::set<std::string_view> entries;
  for (const StateEntry& entry : naming.entries) entries.insert(entry.name);
  Counts counts;
  for (const std::string& name : names) {
    for (std::size_t start = 0; start < name.size(); ++start) {
      if (start > 0 && name[start - 1] != '.') continue;
      if (entries.contains(std::string_view(name).substr(start))) ++counts[name.substr(0, start)];
    }
  }
  return counts;
}

std::string shown(const std::string& prefix) { return fmt::format("\"{}\"", one_line(prefix)); }

}  // namespace

FoundNames find_names(const std::vector<Naming>& namings, const std::vector<std::string>& names,
                      std::optional<std::string> prefix, const std::string& file) {
  if (prefix && !prefix->empty() && !prefix->ends_with('.')) *prefix += '.';
  FoundNames found{.naming = &namings.front(), .prefix = prefix.value_or("")};
  std::size_t most = 0;
  std::vector<std::string> equals;
  for (const Naming& naming : namings) {
    for (const auto& [candidate, count] : count_prefixes(naming, names)) {
      if (prefix && candidate != *prefix) continue;
      if (count < most || (count == most && found.naming != &naming)) continue;
      if (count > most) equals.clear();
      most = count;
      equals.push_back(candidate);
      found.naming = &naming;
    }
  }
  if (prefix && equals.empty()) {
    throw Error(
        fmt::format("{}: has no names of this network behind the prefix {}", file, shown(*prefix)),
        fmt::format("leave --prefix out, or give what stands before them; one name in the file is \"{}\"",
                    names.empty() ? "" : shortened(one_line(names.front()), 80)));
  }
  if (equals.size() > 1) {
    std::vector<std::string> list;
    std::ranges::transform(equals, std::back_inserter(list), shown);
    throw Error(fmt::format("{}: has {} copies of these weights, under the prefixes {}", file, equals.size(),
                            join(list)),
                fmt::format("choose one, for example convoke import {} --zoo NETWORK --prefix {} --output "
                            "model.h5; \"model.ema\" and similar names are averages, which predict better",
                            file, shown(equals.back())));
  }
  if (!equals.empty()) found.prefix = equals.front();
  return found;
}

}  // namespace convoke::interop
