#include "convoke/run/model_exchange.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/run/collective.hpp"

namespace convoke::run {
namespace {

template <class T>
Value::Array array_of(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

std::string facts_of(const InitialWeights& weights) {
  Value::Array given;
  for (const bool one : weights.given) given.emplace_back(one);
  return metrics::to_json({{"values", static_cast<std::int64_t>(weights.values.size())},
                           {"given", std::move(given)},
                           {"initialised", array_of(weights.initialised)},
                           {"unused", array_of(weights.unused)},
                           {"prefix", weights.prefix},
                           {"converted", weights.converted},
                           {"scale", array_of(weights.normalization.scale)},
                           {"shift", array_of(weights.normalization.shift)},
                           {"reversed", weights.normalization.reversed}});
}

std::vector<float> floats_at(const Settings& facts, std::string_view path) {
  const std::vector<double> numbers = numbers_at(facts, path);
  return {numbers.begin(), numbers.end()};
}

InitialWeights with_facts(const std::string& json) {
  const Settings facts = metrics::settings_from_json(json, "weights");
  InitialWeights weights{.values = std::vector<float>(static_cast<std::size_t>(*count_at(facts, "values"))),
                         .given = {},
                         .initialised = texts_at(facts, "initialised"),
                         .unused = texts_at(facts, "unused"),
                         .prefix = text_at(facts, "prefix"),
                         .converted = text_at(facts, "converted"),
                         .normalization = {.scale = floats_at(facts, "scale"),
                                           .shift = floats_at(facts, "shift"),
                                           .reversed = value_at(facts, "reversed") != nullptr &&
                                                       *value_at(facts, "reversed") == Value(true)}};
  for (const Value& given : list_at(facts, "given")) weights.given.push_back(given == Value(true));
  return weights;
}

}  // namespace

ModelSet models_from_root(const mpi::Communicator& group, const std::function<ModelSet()>& read) {
  ModelSet models = ModelSet{.description = {.graph = nn::Graph({1}), .normalization = {}, .class_names = {}},
                             .members = {}};
  const std::string bytes = on_root(group, [&] {
    models = read();
    return group.size() == 1 ? std::string() : bytes_of(models);
  });
  return group.root() ? std::move(models) : models_in(bytes);
}

InitialWeights weights_from_root(const mpi::Communicator& group,
                                 const std::function<InitialWeights()>& read) {
  InitialWeights weights;
  const std::string facts = on_root(group, [&] {
    weights = read();
    return facts_of(weights);
  });
  if (!group.root()) weights = with_facts(facts);
  group.broadcast(std::as_writable_bytes(std::span(weights.values)));
  return weights;
}

}  // namespace convoke::run
