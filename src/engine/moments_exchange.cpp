#include "convoke/engine/moments_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/os/waiting.hpp"

namespace convoke::engine {
namespace {

template <class T>
void add_to(const std::vector<T>& values, std::vector<T>& sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += values[i];
}

}  // namespace

MomentsExchange::MomentsExchange(const mpi::Communicator& group, int workers, std::int64_t micro_batches,
                                 bool exact)
    : group_(group.split(0, group.rank())), exact_(exact) {
  if (exact && micro_batches > kWideFixedPointTerms) {
    throw Error(
        fmt::format("a step has {} micro-batches, but synchronized batch norms can sum at most {} exactly",
                    micro_batches, kWideFixedPointTerms),
        "choose a larger train.micro_batch, or train.reduction = \"fast\"");
  }
  for (int i = 0; i < workers; ++i) parts_.push_back(std::make_unique<Part>());
}

void MomentsExchange::begin_step() {
  for (const auto& part : parts_) {
    part->count = 0;
    part->round = 0;
    part->arrived.store(0, std::memory_order_relaxed);
  }
  done_.store(0, std::memory_order_relaxed);
}

void MomentsExchange::start(Part& part, std::size_t count) const {
  assert(part.count == 0 || part.count == count);
  if (part.count == count) return;
  part.count = count;
  if (exact_) {
    part.fixed.assign(2 * count + 1, 0);
  } else {
    part.floats.assign(count, 0);
  }
}

bool MomentsExchange::add(int worker, std::span<const double> moments) {
  Part& part = *parts_[static_cast<std::size_t>(worker)];
  const std::size_t n = moments.size();
  start(part, n);
  if (!exact_) {
    for (std::size_t i = 0; i < n; ++i) part.floats[i] += moments[i];
  } else if (!wide_fixed_point_add(moments, std::span(part.fixed).first(2 * n))) {
    ++part.fixed[2 * n];
    return false;
  }
  return true;
}

// Sums over this rank's workers, always in the same order, then over the ranks.
void MomentsExchange::sum_parts(std::size_t count) {
  Part& first = *parts_.front();
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (exact_) {
      add_to(parts_[i]->fixed, first.fixed, 2 * count + 1);
    } else {
      add_to(parts_[i]->floats, first.floats, count);
    }
  }
  if (group_.size() > 1) {
    const Span span(Activity::kExchange, "moments of batch norms");
    if (exact_) {
      group_.sum(std::span(first.fixed));
    } else {
      group_.sum(std::span(first.floats));
    }
  }
  total_.resize(count);
  if (!exact_) {
    std::copy(first.floats.begin(), first.floats.end(), total_.begin());
  } else if (first.fixed[2 * count] == 0) {
    wide_fixed_point_to_double(std::span(first.fixed).first(2 * count), total_);
  } else {
    std::fill(total_.begin(), total_.end(), std::numeric_limits<double>::quiet_NaN());
  }
}

void MomentsExchange::sum(int worker, std::size_t count, const std::function<void()>& progress) {
  Part& part = *parts_[static_cast<std::size_t>(worker)];
  start(part, count);
  const std::uint64_t round = ++part.round;
  part.arrived.store(round, std::memory_order_release);
  if (worker == 0) {
    os::poll_until([&] {
      progress();
      return std::all_of(parts_.begin(), parts_.end(), [&](const auto& other) {
        return other->arrived.load(std::memory_order_acquire) >= round;
      });
    });
    sum_parts(count);
    done_.store(round, std::memory_order_release);
  } else {
    os::poll_until([&] { return done_.load(std::memory_order_acquire) >= round; });
  }
  part.count = 0;
}

void MomentsExchange::read(std::span<double> moments) const {
  std::copy_n(total_.begin(), moments.size(), moments.begin());
}

}  // namespace convoke::engine
