#include "convoke/run/model_exchange.hpp"
#include "convoke/core/keys.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::run {
namespace {

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

ModelSet models_from_root(const mpi::Communicator& group, const std::function<ModelSet()>& read) {
  ModelSet models = ModelSet{.description = {.graph = nn::Graph({1}), .normalization = {}, .class_names = {}},
                             .members = {}};
  const std::string bytes = mpi::on_root(group, [&] {
    models = read();
    return group.size() == 1 ? std::string() : bytes_of(models);
  });
  return group.root() ? std::move(models) : models_in(bytes);
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
