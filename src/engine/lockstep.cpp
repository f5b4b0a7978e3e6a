#include "engine/lockstep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoke/core/fixed_point.hpp"
#include "convoke/engine/moments_exchange.hpp"
#include "convoke/os/clock.hpp"

namespace convoke::engine {

void Worker::Lockstep::start(const StepInput& step,
                             const std::vector<MicroBatchSegment>& micro_batch_segments) {
  count_ = micro_batch_segments.size();
  std::size_t instance = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (i == members_.size()) {
      Member& made = *members_.emplace_back(std::make_unique<Member>());
      made.place = i;
      made.ready = [this, &made](std::size_t end) { ready(made, end); };
      if (i > 0) made.own = AlignedBuffer<float>(worker_.sums_.floats.size());
    }
    Member& member = *members_[i];
    const MicroBatchSegment& segment = micro_batch_segments[i];
    const bool alike = i > 0 && segment.micro_batch == micro_batch_segments[i - 1].micro_batch &&
                       segment.micro_batches == micro_batch_segments[i - 1].micro_batches;
    instance = alike ? instance + 1 : 0;
    member.network = &worker_.load(step, segment, member.targets, instance);
    member.key = key_of(step, segment);
    member.gradients = i == 0 ? worker_.sums_.floats.data() : member.own.data();
    member.taken = 0;
    member.network->bind(worker_.parameters_, member.gradients, worker_.working_);
  }
}

// Runs `work` unless this worker has already failed in this step.
template <class Work>
void Worker::Lockstep::attempt(const Work& work) {
  if (failure_) return;
  try {
    work();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

// In the first step, the workers of all ranks tell each other whether they have loaded their samples and
// compiled their plans. Before that, no worker knows which sums follow.
bool Worker::Lockstep::learn_stops(const StepInput& step) {
  attempt([&] {
    // A worker without micro-batches still takes part in every sum. Any plan knows which sums there are.
    const nn::Network& any = count_ > 0 ? *members_.front()->network : worker_.plan(step.micro_batch, 1);
    forward_.assign(any.forward_stops().begin(), any.forward_stops().end());
    backward_.assign(any.backward_stops().begin(), any.backward_stops().end());
  });
  MomentsExchange& sums = *worker_.options_.moments;
  double failed = failure_ ? std::numeric_limits<double>::quiet_NaN() : 0;
  sums.add(worker_.options_.worker, std::span(&failed, 1));
  sums.sum(worker_.options_.worker, 1, *progress_);
  sums.read(std::span(&failed, 1));
  return knows_stops_ = failed == 0;
}

// Runs between two segments of the plans: adds this worker's moments to the sum, and copies the sum to all of
// its plans.
void Worker::Lockstep::exchange(std::size_t moments) {
  MomentsExchange& sums = *worker_.options_.moments;
  const int worker = worker_.options_.worker;
  if (failure_) {
    sums.add(worker, std::vector<double>(moments, std::numeric_limits<double>::quiet_NaN()));
  } else {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::span<const double> terms = members_[i]->moments;
      if (sums.add(worker, terms) || worker_.bad_term_) continue;
      const auto bad = std::ranges::find_if(
          terms, [](double term) { return !(std::abs(term) < kWideFixedPointTermLimit); });
      worker_.bad_term_ = {"the moments of a synchronized batch norm", *bad, kWideFixedPointTermLimit};
    }
  }
  const os::Stopwatch watch;
  sums.sum(worker, moments, *progress_);
  worker_.waited_ += watch.seconds();
  if (failure_) return;
  for (std::size_t i = 0; i < count_; ++i) sums.read(members_[i]->moments);
}

void Worker::Lockstep::compute_losses(const StepInput& step) {
  for (std::size_t i = 0; i < count_; ++i) {
    Member& member = *members_[i];
    worker_.compute_loss(*member.network, step, member.targets, member.gradients);
  }
}

// When the last plan has completed a part of the gradient, the worker's sum of that part is final.
void Worker::Lockstep::ready(Member& member, std::size_t end) {
  worker_.take(member.gradients, member.taken, end, member.place == 0);
  member.taken = end;
  if (member.place + 1 < count_) return;
  worker_.publish(end);
  (*progress_)();
}

bool Worker::Lockstep::run(const StepInput& step, const std::vector<MicroBatchSegment>& micro_batch_segments,
                           const std::function<void()>& progress) {
  progress_ = &progress;
  failure_ = nullptr;
  attempt([&] { start(step, micro_batch_segments); });
  if (!knows_stops_ && !learn_stops(step)) {
    if (failure_) std::rethrow_exception(failure_);
    return false;
  }

  for (std::size_t segment = 0; segment <= forward_.size(); ++segment) {
    attempt([&] {
      for (std::size_t i = 0; i < count_; ++i)
        members_[i]->moments = members_[i]->network->forward(members_[i]->key, segment);
    });
    if (segment < forward_.size()) exchange(forward_[segment]);
  }
  attempt([&] { compute_losses(step); });
  for (std::size_t segment = 0; segment <= backward_.size(); ++segment) {
    attempt([&] {
      for (std::size_t i = 0; i < count_; ++i)
        members_[i]->moments = members_[i]->network->backward(members_[i]->ready, segment);
    });
    if (segment < backward_.size()) exchange(backward_[segment]);
  }
  if (failure_) std::rethrow_exception(failure_);
  for (std::size_t i = 0; i < count_; ++i)
    worker_.take(members_[i]->gradients, worker_.layout_->gradient_size(), worker_.sums_.floats.size(),
                 i == 0);
  return true;
}

}  // namespace convoke::engine
