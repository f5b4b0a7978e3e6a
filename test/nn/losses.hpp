#pragma once
#include "convoke/nn/losses/loss.hpp"
#include "support/catch.hpp"

// Two samples of three outputs, and four samples of one.
inline const std::vector<float> kThree{0.5F, -1.25F, 2.0F, 1.5F, 0.25F, -0.75F};
inline const std::vector<std::int32_t> kThreeLabels{2, 1};
inline const std::vector<float> kOne{-2.0F, -0.25F, 0.75F, 3.0F};
inline const std::vector<std::int32_t> kOneLabels{0, 1, 1, 0};

struct MeanAndGradient {
  double mean;
  std::vector<float> gradient;
};

inline MeanAndGradient computed(const convoke::nn::Loss& loss, const std::vector<float>& outputs,
                                const std::vector<std::int32_t>& labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto each = static_cast<std::int64_t>(outputs.size()) / n;
  std::vector<float> gradient(outputs.size());
  const double sum = loss.compute({outputs.data(), each, labels, {}, n}, gradient.data()).loss;
  return {sum / static_cast<double>(n), gradient};
}

/// The mean loss alone, without a gradient.
inline double mean_loss(const convoke::Settings& settings, const std::vector<float>& outputs,
                        const std::vector<std::int32_t>& labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto each = static_cast<std::int64_t>(outputs.size()) / n;
  return convoke::nn::make_loss(settings)->compute({outputs.data(), each, labels, {}, n}, nullptr).loss /
         static_cast<double>(n);
}
