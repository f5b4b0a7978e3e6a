#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/run/checkpoint.hpp"

// The form in which the rank that reads a checkpoint sends it to the others.

namespace convoke::run {

std::string to_bytes(const CheckpointState& state) {
  std::string bytes;
  const auto put = [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  };
  const std::int64_t counts[] = {state.epochs_done,
                                 state.steps_done,
                                 state.updates,
                                 static_cast<std::int64_t>(state.parameters.size()),
                                 static_cast<std::int64_t>(state.optimizer.size()),
                                 static_cast<std::int64_t>(state.average.size()),
                                 state.feedback.wait,
                                 state.feedback.cooldown,
                                 static_cast<std::int64_t>(state.best.parameters.size()),
                                 state.best.evaluations,
                                 state.best.wait,
                                 state.best.updates,
                                 std::int64_t{state.best.stopped},
                                 std::ssize(state.change),
                                 std::ssize(state.other_optimizers),
                                 state.restores};
  const double numbers[] = {
      state.best_validation_accuracy, state.validation_accuracy, state.loss_sum,  state.correct_sum,
      state.feedback.factor,          state.feedback.best,       state.best.loss, state.best.accuracy};
  put(counts, sizeof counts);
  put(numbers, sizeof numbers);
  put(state.parameters.data(), state.parameters.size() * sizeof(float));
  for (const auto* const slots : {&state.optimizer, &state.other_optimizers}) {
    for (const std::vector<float>& slot : *slots) {
      ensure(slot.size() == state.parameters.size(),
             "the optimizer state must have a value for each parameter");
      put(slot.data(), slot.size() * sizeof(float));
    }
  }
  put(state.average.data(), state.average.size() * sizeof(float));
  put(state.change.data(), state.change.size() * sizeof(float));
  put(state.best.parameters.data(), state.best.parameters.size() * sizeof(float));
  return bytes;
}

CheckpointState checkpoint_from_bytes(const std::string& bytes) {
  std::size_t at = 0;
  const auto take = [&](void* data, std::size_t size) {
    std::copy_n(bytes.data() + at, size, static_cast<char*>(data));  // size may be 0, and data null
    at += size;
  };
  std::int64_t counts[16];
  double numbers[8];
  take(counts, sizeof counts);
  take(numbers, sizeof numbers);
  CheckpointState state{
      .epochs_done = counts[0],
      .steps_done = counts[1],
      .updates = counts[2],
      .restores = counts[15],
      .best_validation_accuracy = numbers[0],
      .validation_accuracy = numbers[1],
      .loss_sum = numbers[2],
      .correct_sum = numbers[3],
      .feedback = {.factor = numbers[4], .best = numbers[5], .wait = counts[6], .cooldown = counts[7]},
      .best = {.evaluations = counts[9],
               .wait = counts[10],
               .updates = counts[11],
               .loss = numbers[6],
               .accuracy = numbers[7],
               .stopped = counts[12] != 0,
               .parameters = std::vector<float>(static_cast<std::size_t>(counts[8]))},
      .parameters = std::vector<float>(static_cast<std::size_t>(counts[3])),
      .optimizer = {},
      .average = std::vector<float>(static_cast<std::size_t>(counts[5])),
      .change = std::vector<float>(static_cast<std::size_t>(counts[13])),
      .other_optimizers = {}};
  take(state.parameters.data(), state.parameters.size() * sizeof(float));
  state.optimizer.resize(static_cast<std::size_t>(counts[4]));
  state.other_optimizers.resize(static_cast<std::size_t>(counts[14]));
  for (auto* const slots : {&state.optimizer, &state.other_optimizers}) {
    for (std::vector<float>& slot : *slots) {
      slot.resize(state.parameters.size());
      take(slot.data(), slot.size() * sizeof(float));
    }
  }
  take(state.average.data(), state.average.size() * sizeof(float));
  take(state.change.data(), state.change.size() * sizeof(float));
  take(state.best.parameters.data(), state.best.parameters.size() * sizeof(float));
  return state;
}

}  // namespace convoke::run
