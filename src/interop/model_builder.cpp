#include "interop/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::interop {

Settings reshape_to(const Shape& to) {
  return {{"layer", "reshape"}, {"shape", Value::Array(to.extents().begin(), to.extents().end())}};
}
Settings permute_by(const std::vector<std::int64_t>& dims) {
  return {{"layer", "permute"}, {"dims", Value::Array(dims.begin(), dims.end())}};
}
Statistics statistics_of(const std::vector<double>& scale, const std::vector<double>& shift) {
  Statistics statistics;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    statistics.mean.push_back(-shift[i] / scale[i]);
    statistics.variance.push_back(1 / (scale[i] * scale[i]));
  }
  return statistics;
}
Settings standardize_by(const Statistics& statistics) {
  const auto& [mean, variance] = statistics;
  return {{"layer", "standardize"},
          {"mean", Value::Array(mean.begin(), mean.end())},
          {"variance", Value::Array(variance.begin(), variance.end())}};
}

std::vector<std::int64_t> slice_indices(std::int64_t extent, std::int64_t start, std::int64_t end,
                                        std::int64_t step) {
  const auto from_start = [&](std::int64_t at) { return at < 0 ? std::max(at, -extent - 1) + extent : at; };
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  const std::int64_t last = std::clamp(from_start(end), low, high);
  std::vector<std::int64_t> indices;
  for (std::int64_t at = std::clamp(from_start(start), low, high); step > 0 ? at < last : at > last;
       at += step) {
    indices.push_back(at);
    if (step > extent || step < -extent) break;
  }
  return indices;
}

std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const std::vector<std::int64_t>& indices) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (const std::int64_t index : indices) {
    if (!runs.empty() && index == runs.back().first + runs.back().second) {
      ++runs.back().second;
    } else {
      runs.emplace_back(index, 1);
    }
  }
  return runs;
}

std::string ModelBuilder::unique(std::string_view name) {
  std::string wanted = one_line(name);
  std::replace(wanted.begin(), wanted.end(), '/', '.');
  if (wanted.empty()) return wanted;
  int& number = numbers_[wanted];
  std::string own = number == 0 ? wanted : fmt::format("{}_{}", wanted, number);
  while (graph_.has(own)) own = fmt::format("{}_{}", wanted, ++number);
  return own;
}

std::size_t ModelBuilder::add(const Settings& layer, std::vector<std::size_t> inputs, std::string_view name) {
  return added(graph_.add(nn::make_layer(layer), std::move(inputs), unique(name)));
}

std::size_t ModelBuilder::share(std::size_t of, std::vector<std::size_t> inputs, std::string_view name) {
  return added(graph_.share(of, std::move(inputs), unique(name)));
}

std::size_t ModelBuilder::added(std::size_t node) {
  if (node > kMostLayers) {
    throw Error(fmt::format("has more than {} layers", kMostLayers),
                "Convoke imports no network of so many layers");
  }
  return node;
}

void ModelBuilder::freeze(std::size_t node) {
  nn::ParameterOptions options = graph_.node(node).options;
  options.trainable = false;
  graph_.set_options(node, options);
}

void ModelBuilder::penalize(std::size_t node, double l1, double l2) {
  nn::ParameterOptions options = graph_.node(node).options;
  options.l1 = l1;
  options.l2 = l2;
  graph_.set_options(node, options);
}

void ModelBuilder::give(std::size_t node, std::string_view parameter, Fill fill) {
  fills_[{node, std::string(parameter)}] = std::move(fill);
}

void ModelBuilder::give(std::size_t node, std::string_view parameter, std::vector<float> values) {
  give(
      node, parameter,
      [kept = std::make_shared<const std::vector<float>>(std::move(values)),
       name = graph_.node(node).name](std::span<float> out) {
        if (kept->size() != out.size()) {
          throw Error(fmt::format("{}: has {} values for a parameter of {}", name, kept->size(), out.size()));
        }
        std::copy(kept->begin(), kept->end(), out.begin());
      });
}

void ModelBuilder::note(const std::string& sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) notes_.push_back(sentence);
}

// Builds the graph again from the nodes that the last one needs.
void ModelBuilder::prune() {
  const std::vector<nn::Node>& nodes = graph_.nodes();
  std::vector<bool> needed(nodes.size(), false);
  needed.front() = needed.back() = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const std::size_t input : nodes[i].inputs) needed[input] = true;
    needed[nodes[i].parameters_of] = true;
  }
  if (std::find(needed.begin(), needed.end(), false) == needed.end()) return;
  nn::Graph kept(graph_.input_shape());
  std::vector<std::size_t> place(nodes.size(), 0);
  std::map<std::pair<std::size_t, std::string>, Fill> fills;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    const nn::Node& node = nodes[i];
    std::vector<std::size_t> inputs;
    for (const std::size_t input : node.inputs) inputs.push_back(place[input]);
    const bool own = node.parameters_of == i;
    place[i] = own ? kept.add(node.layer, inputs, node.name)
                   : kept.share(place[node.parameters_of], inputs, node.name);
    if (own) kept.set_options(place[i], node.options);
    for (const nn::ParameterSpec& parameter : node.parameters) {
      const auto fill = fills_.find({i, parameter.name});
      if (fill != fills_.end()) fills[{place[i], parameter.name}] = std::move(fill->second);
    }
  }
  graph_ = std::move(kept);
  fills_ = std::move(fills);
}

Imported ModelBuilder::finish(const std::function<void()>& after_each) && {
  prune();
  run::Member member;
  const std::vector<engine::CanonicalParameter> parameters = engine::canonical_parameters(graph_);
  member.parameters.resize(engine::canonical_values(parameters));
  std::span<float> left(member.parameters);
  for (const nn::Node& node : graph_.nodes()) {
    if (node.parameters_of != node.index) continue;
    for (const nn::ParameterSpec& parameter : node.parameters) {
      const auto fill = fills_.find({node.index, parameter.name});
      if (fill == fills_.end())
        throw Error(fmt::format("{}: its {} has no values", node.name, parameter.name));
      const auto size = static_cast<std::size_t>(parameter.shape.elements());
      fill->second(left.first(size));
      left = left.subspan(size);
      fills_.erase(fill);  // releases what it holds
      if (after_each) after_each();
    }
  }
  Imported imported{
      .models = {.description = {.graph = std::move(graph_), .normalization = {}, .class_names = {}},
                 .members = {}},
      .notes = std::move(notes_)};
  imported.models.members.push_back(std::move(member));
  return imported;
}

}  // namespace convoke::interop
