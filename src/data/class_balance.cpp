#include "convoke/data/class_balance.hpp"

#include <fmt/format.h>

#include <map>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"

namespace convoke::data {

std::vector<double> balanced_class_weights(std::span<const std::int32_t> labels, std::int64_t classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  std::vector<double> weights;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) {
      throw Error(fmt::format("class {} has no training sample, so no weight balances it", k),
                  "give class weights as a list, or a dataset without that class");
    }
    weights.push_back(static_cast<double>(labels.size()) / static_cast<double>(classes * counts[k]));
  }
  return weights;
}

std::vector<std::uint32_t> balanced_epoch(std::span<const std::uint32_t> ids,
                                          std::span<const std::int32_t> labels, std::uint64_t seed,
                                          std::uint32_t epoch) {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_class;
  for (const std::uint32_t id : ids) by_class[labels[id]].push_back(id);
  const std::uint64_t classes = by_class.size(), share = ids.size() / classes, rest = ids.size() % classes;
  std::vector<std::uint32_t> chosen;
  chosen.reserve(ids.size());
  std::uint64_t place = 0;  // number of the class among the classes that occur
  for (const auto& [label, members] : by_class) {
    // Earlier epochs used at most share + 1 places each; where they used fewer, a few samples are skipped
    // once.
    const std::uint64_t turn = (place + classes - (epoch * rest) % classes) % classes;
    const std::uint64_t count = share + (turn < rest ? 1 : 0);
    const std::uint64_t first = epoch * (share + (rest > 0 ? 1 : 0));
    std::vector<std::uint32_t> order;
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint64_t round = i / members.size(), at = i % members.size();
      if (order.empty() || at == 0) {
        order = members;
        shuffle(order, {seed, Purpose::kShuffle, static_cast<std::uint32_t>(round),
                        std::uint64_t{1} + static_cast<std::uint64_t>(label)});
      }
      chosen.push_back(order[at]);
    }
    ++place;
  }
  return chosen;
}

}  // namespace convoke::data
