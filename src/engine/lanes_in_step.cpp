#include "engine/lanes_in_step.hpp"

#include "convoke/engine/moments_exchange.hpp"

namespace convoke::engine {

void LaneWorker::InStep::start(const StepInput& step, const std::vector<Stretch>& stretches) {
  count_ = stretches.size();
  std::size_t instance = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (i == members_.size()) {
      Member& made = *members_.emplace_back(std::make_unique<Member>());
      made.place = i;
      made.ready = [this, &made](std::size_t end) { ready(made, end); };
      if (i > 0) made.own = AlignedBuffer<float>(worker_.floats_.size());
    }
    Member& member = *members_[i];
    const Stretch& stretch = stretches[i];
    const bool alike =
        i > 0 && stretch.lane == stretches[i - 1].lane && stretch.lanes == stretches[i - 1].lanes;
    instance = alike ? instance + 1 : 0;
    member.network = &worker_.load(step, stretch, member.targets, instance);
    member.key = key_of(step, stretch);
    member.gradients = i == 0 ? worker_.floats_.data() : member.own.data();
    member.taken = 0;
    member.network->bind(worker_.parameters_, member.gradients, worker_.working_);
  }
}

// Between two segments: this worker's moments into the sum, and the sum into all of its plans.
bool LaneWorker::InStep::exchange(std::size_t moments, const std::function<void()>& progress) {
  MomentsExchange& sums = *worker_.options_.moments;
  const int worker = worker_.options_.worker;
  for (std::size_t i = 0; i < count_; ++i) sums.add(worker, members_[i]->moments);
  if (!sums.sum(worker, moments, progress)) return false;
  for (std::size_t i = 0; i < count_; ++i) sums.read(members_[i]->moments);
  return true;
}

void LaneWorker::InStep::judge(const StepInput& step) {
  for (std::size_t i = 0; i < count_; ++i) {
    Member& member = *members_[i];
    worker_.judge(*member.network, step, member.targets, member.gradients);
  }
}

// As soon as the last of the plans has completed a part of the gradient, the worker's sum is final there.
void LaneWorker::InStep::ready(Member& member, std::size_t end) {
  worker_.take(member.gradients, member.taken, end, member.place == 0);
  member.taken = end;
  if (member.place + 1 < count_) return;
  worker_.publish(end);
  (*progress_)();
}

bool LaneWorker::InStep::run(const StepInput& step, const std::vector<Stretch>& stretches,
                             const std::function<void()>& progress) {
  progress_ = &progress;
  start(step, stretches);
  // Without a lane there is still every sum to take part in; any plan says which there are.
  const nn::Network& any = count_ > 0 ? *members_.front()->network : worker_.plan(step.lane, 1);
  const std::span<const std::size_t> forward = any.forward_stops(), backward = any.backward_stops();

  for (std::size_t segment = 0; segment <= forward.size(); ++segment) {
    for (std::size_t i = 0; i < count_; ++i)
      members_[i]->moments = members_[i]->network->forward(members_[i]->key, segment);
    if (segment < forward.size() && !exchange(forward[segment], progress)) return false;
  }
  judge(step);
  for (std::size_t segment = 0; segment <= backward.size(); ++segment) {
    for (std::size_t i = 0; i < count_; ++i)
      members_[i]->moments = members_[i]->network->backward(members_[i]->ready, segment);
    if (segment < backward.size() && !exchange(backward[segment], progress)) return false;
  }
  for (std::size_t i = 0; i < count_; ++i)
    worker_.take(members_[i]->gradients, worker_.layout_->gradient_size(), worker_.floats_.size(), i == 0);
  return true;
}

}  // namespace convoke::engine
