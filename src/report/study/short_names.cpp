#include "report/study/short_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/text.hpp"

namespace convoke::report {

ShortNames::ShortNames(std::span<const study::MeasuredConfiguration> configurations) {
  const auto some = [&](const auto& differ) {
    return std::any_of(
        configurations.begin(), configurations.end(), [&](const study::MeasuredConfiguration& a) {
          return std::any_of(configurations.begin(), configurations.end(),
                             [&](const study::MeasuredConfiguration& b) { return differ(a.at, b.at); });
        });
  };
  using At = const study::Coordinates&;
  systems_ = some([](At a, At b) { return a.system != b.system; });
  modes_ = some([](At a, At b) { return a.system == b.system && a.mode != b.mode; });
  batches_ = some([](At a, At b) { return a.batch != b.batch; });
  variants_ = some([](At a, At b) { return a.variant != b.variant; });
  machines_ = some([](At a, At b) { return a.machine != b.machine; });
  fractions_ = some([](At a, At b) { return a.fraction != b.fraction; });
  threads_ = some([](At a, At b) { return a.threads != b.threads; });
}

std::string ShortNames::configuration(const study::Coordinates& at) const {
  if (at.ranks == 0) return curve(at);
  const std::string ranks =
      threads_ ? fmt::format("{} x {}", at.ranks, at.threads) : counted(at.ranks, "rank");
  const std::string emulated = at.emulated ? ", emulated" : "";
  const bool alone = !(systems_ || modes_ || batches_ || variants_ || fractions_ || machines_);
  return (alone ? ranks : fmt::format("{}, {}", curve(at), ranks)) + emulated;
}

std::string ShortNames::curve(const study::Coordinates& at) const {
  std::vector<std::string> parts;
  if (systems_) parts.push_back(at.system);
  if (modes_) parts.push_back(at.mode);
  if (variants_) parts.push_back(at.variant);
  if (machines_) parts.push_back(at.machine);
  if (batches_) parts.push_back(at.batch);
  if (fractions_) parts.push_back(study::fraction_text(at.fraction));
  std::erase(parts, "");
  return parts.empty() ? std::string("all") : join(parts);
}

}  // namespace convoke::report
