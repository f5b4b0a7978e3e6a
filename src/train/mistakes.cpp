#include "convoke/train/mistakes.hpp"
#include "convoke/core/keys.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/metrics/json.hpp"

namespace convoke::train {
namespace {

// The worst mistake comes first: the one with the least probability of the true class, or with the number
// that is farthest from the label. A number that is not finite is worst.
std::pair<double, std::int64_t> order_of(const Mistake& mistake, bool numbers) {
  if (!numbers) return {mistake.probability, mistake.sample};
  const double distance = std::abs(mistake.probability - mistake.truth);
  return {std::isfinite(distance) ? -distance : -HUGE_VAL, mistake.sample};
}

constexpr auto mistake_fields(std::string_view mean, std::string_view each) {
  return std::array{
      field<&Mistake::sample>("sample"),    field<&Mistake::truth>("truth"),
      field<&Mistake::probability>(mean),   field<&Mistake::votes>("votes"),
      field<&Mistake::probabilities>(each), field<&Mistake::elected>("elected"),
  };
}
constexpr auto kMistakeFields = mistake_fields("probability", "probabilities"),
               kNumberFields = mistake_fields("output", "outputs");

std::string to_json(const std::vector<Mistake>& mistakes) {
  std::vector<Settings> list;
  for (const Mistake& mistake : mistakes) list.push_back(convoke::to_settings(kMistakeFields, mistake));
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
    probabilities.push_back(predictions[i * classes + (numbers ? 0 : static_cast<std::size_t>(chosen[i]))]);
  }
}

std::vector<Mistake> worst_mistakes(const Votes& votes, std::size_t rule, std::span<const double> mean,
                                    std::span<const std::int32_t> truth, std::span<const std::uint32_t> ids,
                                    std::size_t most, const mpi::Communicator& group) {
  const std::size_t classes = ids.empty() ? 0 : mean.size() / ids.size();
  const auto mistake = [&](std::size_t i) {
    const double of_truth = mean[i * classes + (votes.numbers ? 0 : static_cast<std::size_t>(truth[i]))];
    return Mistake{.sample = ids[i],
                   .truth = truth[i],
                   .probability = std::isnan(of_truth) && !votes.numbers ? 0 : of_truth};
  };
  std::vector<std::size_t> wrong;  // indices into `ids`, worst first
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (votes.elected[rule][i] != truth[i]) wrong.push_back(i);
  }
  std::sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    return order_of(mistake(a), votes.numbers) < order_of(mistake(b), votes.numbers);
  });
  wrong.resize(std::min(wrong.size(), most));
  std::vector<Mistake> mine;
  for (const std::size_t i : wrong) mine.push_back(mistake(i));
  add_votes(mine, wrong, votes, ids.size());

  std::vector<Mistake> all;
  for (const std::string& json : group.gather(to_json(mine))) {
    const std::vector<Mistake> theirs = mistakes_from_json(json);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(all, {}, [&](const Mistake& each) { return order_of(each, votes.numbers); });
  all.resize(std::min(all.size(), most));
  return mistakes_from_json(group.broadcast(to_json(all)));
}

Settings to_settings(const Mistake& mistake, bool numbers) {
  return convoke::to_settings(numbers ? kNumberFields : kMistakeFields, mistake);
}

}  // namespace convoke::train
