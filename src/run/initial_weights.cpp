#include "convoke/run/initial_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"

namespace convoke::run {
namespace {

// Returns the beginning of a long list.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  if (names.size() <= kShown) return join(names);
  return fmt::format("{} and {} more", join({names.begin(), names.begin() + kShown}), names.size() - kShown);
}

}  // namespace

std::string InitialWeights::describe() const {
  const auto taken = std::count(given.begin(), given.end(), true);
  std::string text = fmt::format("{} of {} parameters", taken, given.size());
  if (!initialised.empty()) text += "; initialised: " + some_of(initialised);
  if (!unused.empty()) text += "; not used: " + some_of(unused);
  return text;
}

InitialWeights take_weights(const ModelSet& models, const nn::Graph& graph, const std::string& file) {
  const std::vector<engine::CanonicalParameter> theirs =
      engine::canonical_parameters(models.description.graph);
  const std::vector<engine::CanonicalParameter> ours = engine::canonical_parameters(graph);
  const std::vector<float>& source = models.members.front().parameters;
  InitialWeights weights{.values = std::vector<float>(engine::canonical_values(ours)),
                         .given = std::vector<bool>(ours.size()),
                         .initialised = {},
                         .unused = {}};
  const auto named = [](const auto& list, const std::string& name) {
    return std::find_if(list.begin(), list.end(), [&](const auto& p) { return p.name == name; });
  };
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const engine::CanonicalParameter& parameter = ours[i];
    const auto other = named(theirs, parameter.name);
    if (other == theirs.end()) {
      weights.initialised.push_back(parameter.name);
    } else if (other->shape != parameter.shape) {
      weights.initialised.push_back(fmt::format("{} {}, in the file {}", parameter.name,
                                                parameter.shape.to_string(), other->shape.to_string()));
    } else {
      weights.given[i] = true;
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(other->offset), parameter.size(),
                  weights.values.begin() + static_cast<std::ptrdiff_t>(parameter.offset));
    }
  }
  for (const engine::CanonicalParameter& parameter : theirs) {
    if (named(ours, parameter.name) == ours.end()) weights.unused.push_back(parameter.name);
  }
  if (std::find(weights.given.begin(), weights.given.end(), true) == weights.given.end()) {
    throw Error(fmt::format("{}: no parameter of the file fits this model", file),
                fmt::format("names and shapes must agree. In the file: {}. In the model: {}",
                            some_of(weights.unused), some_of(weights.initialised)));
  }
  return weights;
}

}  // namespace convoke::run
