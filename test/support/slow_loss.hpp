#pragma once
#include <chrono>
#include <thread>

#include "support/other_loss.hpp"

namespace tiny {

/// A loss like another one that takes a millisecond for each sample: a rank that trains with it is slow.
class SlowLoss final : public OtherLoss {
 public:
  using OtherLoss::OtherLoss;

  convoke::nn::LossSums compute(const convoke::nn::LossInputs& samples, float* gradient) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1) * samples.labels.size());
    return OtherLoss::compute(samples, gradient);
  }
};

}  // namespace tiny
