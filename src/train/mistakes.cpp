#include "convoke/train/mistakes.hpp"
#include "convoke/core/fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/metrics/json.hpp"

namespace convoke::train {
namespace {

bool is_worse(const Mistake& a, const Mistake& b) {
  return a.probability != b.probability ? a.probability < b.probability : a.sample < b.sample;
}

constexpr std::array kMistakeFields{
    field<&Mistake::sample>("sample"),
    field<&Mistake::truth>("truth"),
    field<&Mistake::probability>("probability"),
    field<&Mistake::votes>("votes"),
    field<&Mistake::probabilities>("probabilities"),
    field<&Mistake::elected>("elected"),
};

std::string to_json(const std::vector<Mistake>& mistakes) {
  std::vector<Settings> list;
  for (const Mistake& mistake : mistakes) list.push_back(to_settings(mistake));
  return metrics::list_to_json(std::move(list));
}

std::vector<Mistake> mistakes_from_json(const std::string& json) {
  std::vector<Mistake> mistakes;
  for (const Settings& entry : metrics::list_from_json(json))
    mistakes.push_back(from_settings(kMistakeFields, entry, "mistake"));
  return mistakes;
}

// Adds the votes to samples that were selected as mistakes.
void add_votes(std::vector<Mistake>& mistakes, const std::vector<std::size_t>& places, const Votes& votes,
               std::size_t samples) {
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    for (std::size_t vote = places[i]; vote < votes.labels.size(); vote += samples) {
      mistakes[i].votes.push_back(votes.labels[vote]);
      mistakes[i].probabilities.push_back(static_cast<double>(votes.probabilities[vote]));
    }
    for (const std::vector<std::int32_t>& elected : votes.elected)
      mistakes[i].elected.push_back(elected[places[i]]);
  }
}

}  // namespace

void Votes::add(std::span<const float> predictions, std::span<const std::int32_t> chosen) {
  labels.insert(labels.end(), chosen.begin(), chosen.end());
  const std::size_t classes = chosen.empty() ? 0 : predictions.size() / chosen.size();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    probabilities.push_back(predictions[i * classes + static_cast<std::size_t>(chosen[i])]);
  }
}

std::vector<Mistake> worst_mistakes(const Votes& votes, std::size_t rule, std::span<const double> mean,
                                    std::span<const std::int32_t> truth, std::span<const std::uint32_t> ids,
                                    std::size_t most, const mpi::Communicator& group) {
  const std::size_t classes = ids.empty() ? 0 : mean.size() / ids.size();
  const auto probability_of_truth = [&](std::size_t i) {
    const double probability = mean[i * classes + static_cast<std::size_t>(truth[i])];
    return std::isnan(probability) ? 0 : probability;
  };
  std::vector<std::size_t> wrong;  // indices into `ids`, worst first
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (votes.elected[rule][i] != truth[i]) wrong.push_back(i);
  }
  std::sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(probability_of_truth(a), ids[a]) < std::pair(probability_of_truth(b), ids[b]);
  });
  wrong.resize(std::min(wrong.size(), most));
  std::vector<Mistake> mine;
  for (const std::size_t i : wrong) {
    mine.push_back({.sample = ids[i], .truth = truth[i], .probability = probability_of_truth(i)});
  }
  add_votes(mine, wrong, votes, ids.size());

  std::vector<Mistake> all;
  for (const std::string& json : group.gather(to_json(mine))) {
    const std::vector<Mistake> theirs = mistakes_from_json(json);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::sort(all.begin(), all.end(), is_worse);
  all.resize(std::min(all.size(), most));
  return mistakes_from_json(group.broadcast(to_json(all)));
}

Settings to_settings(const Mistake& mistake) { return convoke::to_settings(kMistakeFields, mistake); }

}  // namespace convoke::train
