#include "convoke/sync/allreduce.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

namespace convoke::sync {
namespace {

// A cache line of floats. Buckets share no cache line if the arena begins on one.
constexpr std::size_t kAlignElements = 16;
// Limit of OrderedSum.
constexpr std::size_t kMostRounded = std::size_t{1} << 28;

// The sum of a bucket in place, by the algorithm of the MPI library; its first phase is empty.
template <class T>
class InPlaceSum final : public BucketSum {
 public:
  InPlaceSum(const mpi::Communicator& group, std::span<T> values) : group_(group), values_(values) {}

  void start() override { request_ = group_.start_sum(values_); }
  bool combine(bool) override { return true; }
  bool finish(bool wait) override {
    if (!wait) return request_.test();
    request_.wait();
    return true;
  }

 private:
  mpi::Communicator group_;
  std::span<T> values_;
  mpi::Request request_;
};

std::size_t divide_rounding_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

// A sixteenth of the exchange, between 96 KiB and 1 MiB. Only the last bucket cannot be hidden, because its
// gradients are the last ones; each additional bucket costs some microseconds of calls. Measured (mnist-sync
// with 64 samples and mnist-ddp with 64 samples a rank, 2 ranks on 2 cores, Open MPI 4.1 through shared
// memory): the time from the slower rank's last gradient until both have the sums, microseconds, median of
// the steps,
//
//   buckets of                     64    96   128   192   256   384   512  1024   KiB
//   93k parameters,  373 KB        23    28    38    62           135                 of a step of 2,700
//   905k parameters, 3.6 MB                    60          80         146   266       of a step of 44,000
std::size_t bucket_bytes_for(std::size_t exchange_bytes) {
  return std::clamp(exchange_bytes / 16, std::size_t{96} << 10, std::size_t{1} << 20);
}

// Makes all buckets the same size, instead of a small rest at the end.
std::size_t bucket_elements(std::size_t elements, std::size_t element_bytes, const ExchangeOptions& options) {
  const std::size_t bytes = elements * element_bytes;
  const std::size_t wanted = options.bucket_bytes == 0 ? bucket_bytes_for(bytes) : options.bucket_bytes;
  const std::size_t even = divide_rounding_up(elements, divide_rounding_up(bytes, wanted));
  return divide_rounding_up(even, kAlignElements) * kAlignElements;
}

AllReduce::AllReduce(const mpi::Communicator& group, const Exchange& exchange,
                     const ExchangeOptions& options) {
  assert(exchange.floats.empty() || exchange.fixed.empty());
  if (group.size() == 1 || exchange.size() == 0) return;
  const std::size_t bytes = exchange.floats.size_bytes() + exchange.fixed.size_bytes();
  const std::size_t elements = bucket_elements(exchange.size(), bytes / exchange.size(), options);
  if (!exchange.fixed.empty()) {
    add_buckets(0, exchange.size(), elements, [&](std::size_t first, std::size_t count) {
      return std::make_unique<InPlaceSum<std::int64_t>>(group, exchange.fixed.subspan(first, count));
    });
    return;
  }
  const std::size_t rounded = options.wire == Wire::kBfloat16 ? exchange.roundable : 0;
  if (rounded > 0) {
    channels_.emplace(group);
    add_buckets(0, rounded, std::min(elements, kMostRounded), [&](std::size_t first, std::size_t count) {
      return std::make_unique<OrderedSum<Bfloat16>>(*channels_, exchange.floats.subspan(first, count));
    });
  }
  add_buckets(rounded, exchange.size(), elements, [&](std::size_t first, std::size_t count) {
    return std::make_unique<InPlaceSum<float>>(group, exchange.floats.subspan(first, count));
  });
}

// Cuts [begin, end) into buckets of `elements`, and makes their sums: make(first, count).
template <class Make>
void AllReduce::add_buckets(std::size_t begin, std::size_t end, std::size_t elements, Make make) {
  for (std::size_t first = begin; first < end; first = ends_.back()) {
    ends_.push_back(std::min(first + elements, end));
    sums_.push_back(make(first, ends_.back() - first));
  }
}

// Open MPI makes progress only inside its calls, but then on all operations, so testing the oldest is enough.
void AllReduce::poll(bool wait) {
  while (combined_ < started_ && sums_[combined_]->combine(wait)) ++combined_;
  while (done_ < combined_ && sums_[done_]->finish(wait)) ++done_;
}

void AllReduce::begin_step() {
  assert(done_ == started_);
  started_ = combined_ = done_ = 0;
  exposed_seconds_ = 0;
}

// Every rank starts its buckets in the same order, from the first to the last, when they are complete. MPI
// requires only this order, so ranks may be any number of buckets apart.
void AllReduce::gradients_ready(std::size_t end) {
  while (started_ < buckets() && ends_[started_] <= end) sums_[started_++]->start();
  poll(false);
}

void AllReduce::finish_gradients() {
  const auto begin = std::chrono::steady_clock::now();
  while (started_ < buckets()) sums_[started_++]->start();
  poll(true);
  exposed_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace convoke::sync
