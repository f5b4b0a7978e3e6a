#include "training/network_diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::app {
namespace {

using Families = std::map<std::string, std::string, std::less<>>;

Families families() {
  Families all;
  for (const nn::LayerHelp& layer : nn::layer_guide()) all[layer.name] = layer.family;
  return all;
}

std::string family_of(const nn::Node& node, const Families& families) {
  if (node.layer == nullptr) return "input";
  const auto found = families.find(node.layer->type());
  return found == families.end() ? std::string() : found->second;
}

std::size_t color_of(const std::string& family) {
  constexpr std::array<std::string_view, 7> kColors{"input",     "convolution", "pooling",      "merging",
                                                    "recurrent", "activation",  "normalization"};
  const auto found = std::find(kColors.begin(), kColors.end(), family);
  return found == kColors.end() ? 0 : static_cast<std::size_t>(found - kColors.begin());
}

bool may_share_a_box(const std::string& family) {
  return family == "normalization" || family == "activation" || family == "regularization";
}

// "3×2", or "3" if height and width are equal or there is only a length.
std::optional<std::string> extent(const Settings& settings, const char* key) {
  const std::vector<double> sides = numbers_at(settings, key);
  if (sides.size() == 2) return fmt::format("{:g}×{:g}", sides[0], sides[1]);
  const std::optional<std::int64_t> side = count_at(settings, key);
  return side ? std::optional(std::to_string(*side)) : std::nullopt;
}

// "3×3"; "3" along a sequence.
std::optional<std::string> window(const Settings& settings, const char* key) {
  const std::optional<std::string> sides = extent(settings, key);
  const bool square = sides && sides->find("×") == std::string::npos;
  return square && !text_at(settings, "layer").ends_with("1d") ? *sides + "×" + *sides : sides;
}

// "conv2d 3×3, 64, stride 2"
std::string title_of(const nn::Node& node) {
  if (node.layer == nullptr) return "input";
  const Settings settings = node.layer->settings();
  std::vector<std::string> facts;
  for (const char* key : {"kernel", "size"}) {
    if (const auto sides = window(settings, key)) facts.push_back(*sides);
  }
  for (const char* key : {"vocabulary", "filters", "units"}) {
    if (const auto count = count_at(settings, key)) facts.push_back(format_count(*count));
  }
  if (const auto groups = count_at(settings, "groups"); groups.value_or(1) > 1)
    facts.push_back(format_count(*groups) + " groups");
  const std::optional<std::string> stride = extent(settings, "stride");
  if (stride && *stride != "1" && stride != extent(settings, "size")) facts.push_back("stride " + *stride);
  // A rate of stochastic depth rises from block to block, which are otherwise equal.
  if (const double rate = number_at(settings, "rate"); rate > 0 && !node.layer->traits().ends_branch)
    facts.push_back(fmt::format("{:g}", rate));
  return std::string(node.layer->type()) + (facts.empty() ? "" : " " + join(facts));
}

// "64 × 56 × 56", "128 values", "300 tokens"
std::string shape_of(const nn::ValueSpec& value) {
  if (value.rank() == 1 && value.type == nn::ValueType::kReal) return counted(value[0], "value");
  std::string text;
  for (const std::int64_t extent : value.extents())
    text += (text.empty() ? "" : " × ") + std::to_string(extent);
  return text + (value.type == nn::ValueType::kToken ? " tokens" : "");
}

/// The nodes that one box shows.
struct Contents {
  std::vector<const nn::Node*> nodes;

  report::DiagramBox box(const nn::Graph& graph, const Families& families) const {
    report::DiagramBox box{.title = title_of(*nodes.front()),
                           .color = color_of(family_of(*nodes.front(), families))};
    std::vector<std::string> further;
    std::int64_t parameters = 0;
    bool shared = false;
    for (const nn::Node* node : nodes) {
      if (node != nodes.front()) further.push_back(title_of(*node));
      for (const nn::ParameterSpec& parameter : node->parameters) parameters += parameter.shape.elements();
      shared = shared || node->parameters_of != node->index;
    }
    if (!further.empty()) box.lines.push_back(join(further));
    box.lines.push_back(shape_of(nodes.back()->shape));
    if (shared) {
      box.lines.push_back("parameters of " + graph.owner(*nodes.front()).name);
    } else if (parameters > 0) {
      box.lines.push_back(counted(parameters, "parameter"));
    }
    return box;
  }
};

}  // namespace

report::Diagram network_diagram(const nn::Graph& graph, const std::string& title) {
  const Families all = families();
  const std::vector<nn::Node>& nodes = graph.nodes();
  std::vector<std::size_t> readers(nodes.size());
  for (const nn::Node& node : nodes) {
    for (const std::size_t input : node.inputs) ++readers[input];
  }

  // 1. The nodes of each box, and the box of each node.
  std::vector<Contents> boxes;
  std::vector<std::size_t> box_of(nodes.size());
  for (const nn::Node& node : nodes) {
    const bool joins = may_share_a_box(family_of(node, all)) && node.inputs.size() == 1 &&
                       node.inputs.front() != 0 && readers[node.inputs.front()] == 1;
    box_of[node.index] = joins ? box_of[node.inputs.front()] : boxes.size();
    if (!joins) boxes.emplace_back();
    boxes[box_of[node.index]].nodes.push_back(&node);
  }

  // 2. Their texts and arrows.
  report::Diagram diagram{title, {}};
  for (const Contents& contents : boxes) {
    report::DiagramBox& box = diagram.boxes.emplace_back(contents.box(graph, all));
    for (const std::size_t input : contents.nodes.front()->inputs) box.inputs.push_back(box_of[input]);
  }
  return diagram;
}

}  // namespace convoke::app
