#include "convoke/train/checkpoint_storage.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace convoke::train {

void CheckpointStorage::save(const run::CheckpointState& state) {
  std::string failure;
  try {
    checkpoints_.save(state);
    return note(State::kWorks,
                fmt::format("checkpoints can be written into {} again", checkpoints_.folder().string()));
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (checkpoints_.fallback().empty())
    return note(State::kLost, failure + "; training goes on, earlier checkpoints are unchanged");
  try {
    checkpoints_.save_in_fallback(state);
    note(State::kInFallback, fmt::format("{}; training goes on, and checkpoints go to {}", failure,
                                         checkpoints_.fallback().string()));
  } catch (const std::exception& error) {
    note(State::kLost,
         fmt::format("{}; {}; training goes on, earlier checkpoints are unchanged", failure, error.what()));
  }
}

void CheckpointStorage::note(State state, std::string message) {
  const std::lock_guard lock(mutex_);
  if (state != State::kWorks) {
    ++counts_.failed;
    failure_ = message;
  }
  if (state == State::kInFallback) ++counts_.in_fallback;
  if (std::exchange(state_, state) != state) news_ = std::move(message);
}

CheckpointStorage::Counts CheckpointStorage::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool CheckpointStorage::lost() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kLost;
}

std::string CheckpointStorage::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<std::string> CheckpointStorage::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

}  // namespace convoke::train
