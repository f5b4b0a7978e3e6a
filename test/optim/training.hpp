#pragma once
#include "convoke/optim/optimizer.hpp"
#include "support/catch.hpp"

// The weights of one parameter, with the optimizer and its state.
class Training {
 public:
  Training(const convoke::optim::Optimizer& optimizer, std::vector<float> weights, bool is_vector = false)
      : optimizer_(optimizer),
        weights_(std::move(weights)),
        states_(optimizer.state_slots()),
        is_vector_(is_vector) {
    for (auto& state : states_) state.resize(weights_.size());
  }

  // Makes one step over the whole arrays, or over the parts that end at `cuts` (the last cut is the size).
  void step(const std::vector<float>& gradients, double rate, std::vector<std::size_t> cuts = {}) {
    if (cuts.empty()) cuts = {weights_.size()};
    ++step_;
    std::size_t begin = 0;
    for (const std::size_t end : cuts) {
      std::vector<float*> states;
      for (auto& state : states_) states.push_back(state.data() + begin);
      optimizer_.step({std::span(weights_).subspan(begin, end - begin),
                       std::span(gradients).subspan(begin, end - begin), states, step_, is_vector_},
                      rate);
      begin = end;
    }
  }

  const std::vector<float>& weights() const { return weights_; }
  const std::vector<std::vector<float>>& states() const { return states_; }

 private:
  const convoke::optim::Optimizer& optimizer_;
  std::vector<float> weights_;
  std::vector<std::vector<float>> states_;
  bool is_vector_;
  std::int64_t step_ = 0;
};

// Five weights after fifty steps at rate 0.01. The golden values are from Keras 3.15:
//   w = keras.Variable(np.array([0.5 - 0.2 * i for i in range(5)], "float32"))
//   for t in range(1, 51):
//       g = [math.cos(0.7 * t + 1.3 * i) * 10.0 ** (i - 3) for i in range(5)]
//       optimizer.apply([np.array(g, "float32")], [w])
// PyTorch used the same gradients as w.grad of w = torch.nn.Parameter(...).
inline std::vector<float> gradients_of_step(int t) {
  std::vector<float> gradients;
  for (int i = 0; i < 5; ++i)
    gradients.push_back(static_cast<float>(std::cos(0.7 * t + 1.3 * i) * std::pow(10.0, i - 3)));
  return gradients;
}

/// Returns the one weight after each of the steps with these gradients.
inline std::vector<float> weight_after_each(const convoke::optim::Optimizer& optimizer, float weight,
                                            const std::vector<float>& gradients, double rate = 1) {
  Training training(optimizer, {weight});
  std::vector<float> weights;
  for (const float gradient : gradients) {
    training.step({gradient}, rate);
    weights.push_back(training.weights()[0]);
  }
  return weights;
}

inline std::vector<float> fifty_steps(const convoke::optim::Optimizer& optimizer, bool is_vector = false,
                                      double rate = 0.01) {
  Training training(optimizer, {0.5F, 0.3F, 0.1F, -0.1F, -0.3F}, is_vector);
  for (int t = 1; t <= 50; ++t) training.step(gradients_of_step(t), rate);
  return training.weights();
}

inline void check_near(const std::vector<float>& weights, const std::vector<float>& expected,
                       double margin = 2e-6) {
  REQUIRE(weights.size() == expected.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK(weights[i] == Approx(expected[i]).epsilon(0).margin(margin));
}
