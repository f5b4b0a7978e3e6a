#pragma once
#include <chrono>
#include <thread>

#include "support/other_loss.hpp"

namespace tiny {

/// A loss like another one that takes a millisecond for each sample: a rank that trains with it is slow.
class SlowLoss final : public OtherLoss {
 public:
  using OtherLoss::OtherLoss;

  convoke::nn::LossTally judge(const convoke::nn::Judged& samples, float* gradient) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1) * samples.labels.size());
    return OtherLoss::judge(samples, gradient);
  }
};

}  // namespace tiny
