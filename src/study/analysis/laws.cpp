#include "convoke/study/analysis/laws.hpp"

namespace convoke::study {

std::optional<AmdahlFit> AmdahlFit::of(std::span<const TimesAt> times) {
  std::vector<ValuesAt> points;
  for (const TimesAt& at : times) points.push_back({1 / at.workers, at.seconds});
  const auto line = LineFit::of(points);
  if (!line) return {};
  return AmdahlFit(*line);
}

Prediction AmdahlFit::at(std::int64_t workers) const {
  const double inverse = 1 / static_cast<double>(workers), seconds = line_.y(inverse);
  return {.workers = workers,
          .seconds = seconds,
          .seconds_interval = line_.interval_of_one(inverse),
          .speedup = line_.y(1) / seconds};
}

std::optional<Estimate> gustafson_serial_fraction(std::span<const TimesAt> times) {
  std::vector<ValuesAt> rates;
  for (const TimesAt& at : times) {
    rates.push_back({at.workers, {}});
    for (const double seconds : at.seconds) {
      if (seconds <= 0) return {};
      rates.back().values.push_back(1 / seconds);
    }
  }
  const auto line = LineFit::of(rates);
  if (!line) return {};
  return line->share_of_constant();
}

}  // namespace convoke::study
