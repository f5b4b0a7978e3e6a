#include "sample_models.hpp"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "convoke/core/table.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers/per_channel.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "weights.hpp"

using namespace convoke;

namespace {

nn::Graph graph_of(const SampleModel& sample) {
  const Settings settings = metrics::settings_from_json(sample.json, sample.name);
  SettingsReader read(settings, "sample");
  const Shape input(read.get("input", std::vector<std::int64_t>{}));
  const std::vector<Settings> layers = read.tables("layers");
  nn::Graph graph = nn::build_graph(nn::input_of(input, layers), layers);
  if (graph.parameter_count() == 0) nn::channel_scale({&graph, graph.nodes().size() - 1});
  if (graph.output_shape().rank() != 1) nn::flatten({&graph, graph.nodes().size() - 1});
  return graph;
}

}  // namespace

std::span<const SampleModel> sample_models() {
  static const std::vector<SampleModel> all = [] {
    std::vector<SampleModel> list;
    std::ifstream file(CONVOKE_SAMPLE_MODELS);
    for (std::string name, json; file >> name && std::getline(file, json);) list.push_back({name, json});
    return list;
  }();
  return all;
}
const SampleModel& sample_model(std::string_view name) { return find_in(sample_models(), name, "sample"); }

run::ModelSet make_sample(const SampleModel& sample, int members) {
  run::ModelSet models{.description = {.graph = graph_of(sample), .normalization = {}, .class_names = {}},
                       .members = {}};
  run::ModelDescription& description = models.description;
  const nn::ValueSpec& input = description.graph.input_shape();
  if (input.type == nn::ValueType::kReal) {
    const std::int64_t channels = input.rank() == 3 ? input[0] : input[input.rank() - 1];
    for (std::int64_t c = 0; c < channels; ++c) {
      description.normalization.scale.push_back(0.02F + 0.01F * static_cast<float>(c));
      description.normalization.shift.push_back(-1.0F + 0.25F * static_cast<float>(c));
    }
  }
  for (std::int64_t c = 0; c < description.classes(); ++c) {
    description.class_names.push_back(fmt::format("class \"{}\"", c));
  }
  models.ensemble = members > 1;
  for (int m = 0; m < members; ++m) {
    run::Member member;
    member.index = m;
    for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(description.graph)) {
      const std::string name = m == 0 ? parameter.name : fmt::format("member{}.{}", m, parameter.name);
      const std::vector<float> own = comparison_weights(name, parameter.shape);
      member.parameters.insert(member.parameters.end(), own.begin(), own.end());
    }
    models.members.push_back(std::move(member));
  }
  return models;
}
