#include "convoke/sync/allreduce.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

namespace convoke::sync {
namespace {

// A cache line of floats. Buckets share no cache line if the arena begins on one.
constexpr std::size_t kAlignElements = 16;
constexpr std::size_t kMostElements = OrderedSum<std::int64_t>::kMostElements;

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
// gradients are the last ones; each additional bucket costs some microseconds of calls. Measured (mnist-sync,
// 93k parameters, 373 KB, 64 samples on two hosts with one thread each, AMD EPYC; medians of two runs):
// images/s for
//
//   buckets of             16      32      64      96     192     400   KiB
//   1 Gbit/s           15,600  17,300  17,400  17,300  12,000  10,900
//   TCP without limit          18,200  18,000  18,800  17,800  19,900
std::size_t bucket_bytes_for(std::size_t exchange_bytes) {
  return std::clamp(exchange_bytes / 16, std::size_t{96} << 10, std::size_t{1} << 20);
}

// Measured on hosts with links of 100 Mbit/s and 1 Gbit/s, one thread a rank, Open MPI 4.1: images/s of
// mnist-sync (apps/bench/exchange_over_links.sh; from 6 ranks on a batch of 192), and exposed time in ms. The
// library used a tree for two ranks, Rabenseifner's algorithm for 4, 8 and 16, a ring for the others:
//
//     ranks            2, 1 Gbit/s    4, 1 Gbit/s    2            3            8            12           16
//     in slices        17,700  0.8    10,400  2.3    2,037  28    4,579  37    3,470  48    3,282  45 3,055
//     39 by the library    9,300  3.9    10,100  3.0    1,950  30    4,579  37    3,494  51    3,274  52
//     3,254  54
//
// In slices a rank sends a message to each other rank, so there is a limit.
bool sums_in_slices(int ranks) { return ranks <= 16; }

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
  const std::size_t elements =
      std::min(bucket_elements(exchange.size(), bytes / exchange.size(), options), kMostElements);
  channels_.emplace(group);
  add_buckets(group, exchange.fixed, elements);
  const std::size_t rounded = options.wire == Wire::kBfloat16 ? exchange.roundable : 0;
  add_buckets<float, Bfloat16>(group, exchange.floats.first(rounded), elements);
  add_buckets(group, exchange.floats.subspan(rounded), elements);
}

// Cuts `values`, which follow those of the buckets so far, into buckets of `elements`.
template <class Value, class Wire>
void AllReduce::add_buckets(const mpi::Communicator& group, std::span<Value> values, std::size_t elements) {
  while (!values.empty()) {
    const std::span<Value> bucket = values.first(std::min(elements, values.size()));
    if (sums_in_slices(group.size()) || !std::is_same_v<Value, Wire>) {
      sums_.push_back(std::make_unique<OrderedSum<Value, Wire>>(*channels_, bucket));
    } else {
      sums_.push_back(std::make_unique<InPlaceSum<Value>>(group, bucket));
    }
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + bucket.size());
    values = values.subspan(bucket.size());
  }
}

void AllReduce::start_next() {
  flights_.start(started_);
  sums_[started_++]->start();
}

// Open MPI makes progress only inside its calls, but then on all operations, so testing the oldest is enough.
void AllReduce::poll() {
  while (combined_ < started_ && sums_[combined_]->combine(false)) ++combined_;
  while (done_ < combined_ && sums_[done_]->finish(false)) flights_.end(done_++);
}

void AllReduce::begin_step() {
  assert(done_ == started_);
  started_ = combined_ = done_ = 0;
}

// Every rank starts its buckets in the same order, from the first to the last, when they are complete. MPI
// requires only this order, so ranks may be any number of buckets apart.
void AllReduce::gradients_ready(std::size_t end) {
  while (started_ < buckets() && ends_[started_] <= end) start_next();
  poll();
}

void AllReduce::finish_gradients() {
  while (started_ < buckets()) start_next();
  for (; combined_ < started_; ++combined_) {
    const Span span(Activity::kWait, nullptr, static_cast<std::int64_t>(combined_));
    sums_[combined_]->combine(true);
  }
  for (; done_ < combined_; flights_.end(done_++)) {
    const Span span(Activity::kWait, nullptr, static_cast<std::int64_t>(done_));
    sums_[done_]->finish(true);
  }
}

}  // namespace convoke::sync
