#include "convoke/run/initial_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::run {
namespace {

constexpr std::size_t kShown = 6;  // of a list of names

constexpr std::array kWeightFields{
    field<&InitialWeights::given>("given"),
    field<&InitialWeights::initialized>("initialized"),
    field<&InitialWeights::unused>("unused"),
    field<&InitialWeights::prefix>("prefix"),
    field<&InitialWeights::converted>("converted"),
    field<&InitialWeights::normalization, &data::Normalization::scale>("scale"),
    field<&InitialWeights::normalization, &data::Normalization::shift>("shift"),
    field<&InitialWeights::normalization, &data::Normalization::reversed>("reversed"),
};

std::string facts_of(const InitialWeights& weights) {
  Settings facts = to_settings(kWeightFields, weights);
  facts.set("values", std::ssize(weights.values));
  return metrics::to_json(facts);
}

InitialWeights with_facts(const std::string& json) {
  const Settings facts = metrics::settings_from_json(json, "weights");
  InitialWeights weights = from_settings(kWeightFields, facts, "weights");
  weights.values.resize(static_cast<std::size_t>(*count_at(facts, "values")));
  return weights;
}

}  // namespace

std::string InitialWeights::describe() const {
  const auto taken = std::count(given.begin(), given.end(), true);
  std::string text = fmt::format("{} of {} parameters", taken, given.size());
  if (!prefix.empty()) text += fmt::format(", whose names begin with \"{}\" in the file", one_line(prefix));
  if (!converted.empty()) text += ", converted from " + converted;
  if (!initialized.empty()) text += "; initialized: " + listing(initialized, kShown);
  if (!unused.empty()) text += "; not used: " + listing(unused, kShown);
  return text;
}

WeightMatch::WeightMatch(const nn::Graph& graph)
    : parameters_(engine::canonical_parameters(graph)),
      misfits_(parameters_.size()),
      weights_{.values = std::vector<float>(engine::canonical_values(parameters_)),
               .given = std::vector<bool>(parameters_.size()),
               .initialized = {},
               .unused = {},
               .prefix = {},
               .converted = {},
               .normalization = {}} {}

std::span<float> WeightMatch::take(std::size_t i) {
  weights_.given[i] = true;
  return std::span(weights_.values).subspan(parameters_[i].offset, parameters_[i].size());
}

void WeightMatch::misfit(std::size_t i, const Shape& in_file, const Shape& wanted) {
  misfits_[i] = {in_file, wanted.rank() == 0 ? parameters_[i].shape : wanted};
}

InitialWeights WeightMatch::finish(const std::string& file) && {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (weights_.given[i]) continue;
    const std::string& name = parameters_[i].name;
    const auto& [in_file, wanted] = misfits_[i];
    weights_.initialized.push_back(
        in_file.rank() == 0
            ? name
            : fmt::format("{} {}, in the file {}", name, wanted.to_string(), in_file.to_string()));
  }
  if (weights_.initialized.size() == parameters_.size()) {
    throw Error(
        fmt::format("{}: no parameter of the file fits this model", file),
        fmt::format("names and shapes must agree; if the network is that of another library, export "
                    "it there as ONNX, which [model] file takes with its weights. In the file: {}. In "
                    "the model: {}",
                    listing(weights_.unused, kShown), listing(weights_.initialized, kShown)));
  }
  return std::move(weights_);
}

InitialWeights take_weights(const ModelSet& models, const nn::Graph& graph, const std::string& file) {
  const std::vector<engine::CanonicalParameter> theirs =
      engine::canonical_parameters(models.description.graph);
  const std::vector<float>& source = models.members.front().parameters;
  WeightMatch match(graph);
  const std::vector<engine::CanonicalParameter>& ours = match.parameters();
  const auto index_in = [](const auto& list, const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(list.begin(), list.end(), [&](const auto& p) { return p.name == name; }) - list.begin());
  };
  for (const engine::CanonicalParameter& parameter : theirs) {
    const std::size_t i = index_in(ours, parameter.name);
    if (i == ours.size()) {
      match.unused(parameter.name);
    } else if (ours[i].shape != parameter.shape) {
      match.misfit(i, parameter.shape);
    } else {
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(parameter.offset), parameter.size(),
                  match.take(i).begin());
    }
  }
  InitialWeights weights = std::move(match).finish(file);
  weights.normalization = models.description.normalization;
  return weights;
}

InitialWeights weights_from_root(const mpi::Communicator& group,
                                 const std::function<InitialWeights()>& read) {
  InitialWeights weights;
  const std::string facts = mpi::on_root(group, [&] {
    weights = read();
    return facts_of(weights);
  });
  if (!group.root()) weights = with_facts(facts);
  group.broadcast(std::as_writable_bytes(std::span(weights.values)));
  return weights;
}

}  // namespace convoke::run
