#include "convoke/data/read_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "convoke/os/thread.hpp"
#include "sample_reader.hpp"

namespace convoke::data {
namespace {

// Size of a block if the order has no windows.
constexpr std::size_t kBlockBytes = std::size_t{64} << 20;
// Neighbors are read together, up to this size, including the gap between two of them if reading it costs
// less than a call.
constexpr std::size_t kRunBytes = std::size_t{1} << 20;
constexpr std::size_t kGapBytes = std::size_t{4} << 10;
// The system is told which samples will be read so many bytes ahead.
constexpr std::size_t kAnnounceBytes = std::size_t{8} << 20;

}  // namespace

ReadAhead::ReadAhead(SampleStream& stream, const EpochPlan& plan, std::int64_t first_step, Share share)
    : stream_(stream),
      plan_(plan),
      first_step_(first_step),
      share_(std::move(share)),
      size_(stream.samples_->sample_bytes()) {
  step_samples_ = share_(std::min(plan.batch(), static_cast<std::int64_t>(plan.order().size()))).count;
  const std::size_t step_bytes = static_cast<std::size_t>(step_samples_) * size_;
  if (step_bytes == 0 || 2 * step_bytes > stream.memory() || !stream.samples_->direct()) return;
  const std::int64_t window =
      plan.window() > 0 ? (plan.window() + plan.batch() - 1) / plan.batch()
                        : static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / step_bytes));
  block_steps_ = std::min({window, static_cast<std::int64_t>(stream.memory() / 2 / step_bytes),
                           std::max<std::int64_t>(1, plan.steps() - first_step)});
  // The last step is smaller but may still have more samples for this process.
  const std::int64_t last = share_(static_cast<std::int64_t>(plan.step(plan.steps() - 1).size())).count;
  const auto room = static_cast<std::size_t>(block_steps_ * step_samples_ + last) * size_;
  for (auto& buffer : buffers_) buffer.reset(new std::byte[room]);  // not zeroed
  thread_ = os::start_thread([this] { serve(); });
  stream_.ahead_ = this;
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  stream_.ahead_ = nullptr;
}

std::int64_t ReadAhead::blocks() const {
  return (plan_.steps() - first_step_ + block_steps_ - 1) / block_steps_;
}

void ReadAhead::step_done() {
  if (block_steps_ == 0) return;
  {
    const std::lock_guard lock(mutex_);
    ++steps_done_;
  }
  if (steps_done_ % block_steps_ == 0) changed_.notify_all();
}

// Block b lies in buffer b % 2, so it can be read after block b - 2 has been used.
void ReadAhead::serve() {
  try {
    for (std::int64_t block = 0; block < blocks(); ++block) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || steps_done_ >= (block - 1) * block_steps_; });
        if (stopping_) return;
      }
      fill(block);
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      filled_.store(block + 1, std::memory_order_release);
      changed_.notify_all();
    }
  } catch (...) {  // rethrown to the threads that need the samples
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

// Places within a block follow the steps; all steps except the last of the epoch have equally many samples.
void ReadAhead::fill(std::int64_t block) {
  wanted_.clear();
  const std::int64_t first = first_step_ + block * block_steps_;
  for (std::int64_t s = first; s < std::min(first + block_steps_, plan_.steps()); ++s) {
    const std::span<const std::uint32_t> ids = plan_.step(s);
    const SampleRange mine = share_(static_cast<std::int64_t>(ids.size()));
    const auto place = static_cast<std::uint32_t>((s - first) * step_samples_);
    for (std::int64_t i = 0; i < mine.count; ++i) {
      wanted_.push_back(
          {ids[static_cast<std::size_t>(mine.first + i)], place + static_cast<std::uint32_t>(i)});
    }
  }
  std::sort(wanted_.begin(), wanted_.end(), [](const Wanted& a, const Wanted& b) { return a.id < b.id; });

  std::byte* const to = buffers_[static_cast<std::size_t>(block % 2)].get();
  // Reading an encoded sample that is not needed would cost its decoding.
  const std::size_t gap = stream_.samples_->encoded() ? 1 : std::max<std::size_t>(1, kGapBytes / size_);
  const std::size_t most = std::max<std::size_t>(1, kRunBytes / size_);
  const std::size_t announce_samples = std::max<std::size_t>(1, kAnnounceBytes / size_);
  std::size_t announced = 0;  // index in wanted_
  for (std::size_t i = 0, end = 0; i < wanted_.size(); i = end) {
    // Announces the samples from here on that lie close together to the system's read-ahead.
    while (announced < wanted_.size() && announced < i + announce_samples) {
      std::size_t last = announced + 1;
      while (last < wanted_.size() && wanted_[last].id - wanted_[last - 1].id <= 16 * gap &&
             wanted_[last].id - wanted_[announced].id < most) {
        ++last;
      }
      stream_.samples_->will_need(wanted_[announced].id, wanted_[last - 1].id - wanted_[announced].id + 1);
      announced = last;
    }
    end = i + 1;
    while (end < wanted_.size() && wanted_[end].id - wanted_[end - 1].id <= gap &&
           wanted_[end].id - wanted_[i].id < most) {
      ++end;
    }
    read_run(std::span(wanted_).subspan(i, end - i), to);
  }
}

void ReadAhead::read_run(std::span<const Wanted> run, std::byte* to) {
  const std::uint32_t first = run.front().id;
  if (run.size() == 1) {
    return stream_.samples_->read(first, {to + run.front().place * size_, size_});
  }
  const std::size_t bytes = (run.back().id - first + std::size_t{1}) * size_;
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  stream_.samples_->read(first, std::span(scratch_).first(bytes));
  for (const Wanted& sample : run) {
    std::memcpy(to + sample.place * size_, scratch_.data() + (sample.id - first) * size_, size_);
  }
}

// A micro-batch's ids are a piece of the plan's own array, so their address gives their step and their place.
const std::byte* ReadAhead::find(std::span<const std::uint32_t> ids) const {
  const std::span<const std::uint32_t> order = plan_.order();
  const std::less<> before;
  if (before(ids.data(), order.data()) || !before(ids.data(), order.data() + order.size())) return nullptr;
  const std::int64_t at = ids.data() - order.data();
  const std::int64_t step = at / plan_.batch();
  const SampleRange mine = share_(static_cast<std::int64_t>(plan_.step(step).size()));
  const std::int64_t offset = at - step * plan_.batch() - mine.first;
  if (step < first_step_ || offset < 0 || offset + static_cast<std::int64_t>(ids.size()) > mine.count) {
    return nullptr;
  }
  const std::int64_t block = (step - first_step_) / block_steps_;
  if (filled_.load(std::memory_order_acquire) <= block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || filled_.load(std::memory_order_relaxed) > block; });
    if (filled_.load(std::memory_order_relaxed) <= block) std::rethrow_exception(failure_);
  }
  const std::int64_t place = (step - first_step_ - block * block_steps_) * step_samples_ + offset;
  return buffers_[static_cast<std::size_t>(block % 2)].get() + static_cast<std::size_t>(place) * size_;
}

}  // namespace convoke::data
