#include "convoke/sync/allreduce.hpp"

#include <cassert>
#include <utility>

#include "convoke/sync/packed_sum.hpp"

namespace convoke::sync {
namespace {

// The sum of a bucket in place, by the algorithm of the MPI library; its first phase is empty.
template <class T>
class InPlaceSum final : public BucketSum {
 public:
  InPlaceSum(const mpi::Communicator& group, std::span<T> values) : group_(group), values_(values) {}

  void start() override { request_ = group_.start_sum(values_); }
  bool combine(bool) override { return true; }
  bool finish(bool wait) override { return request_.over(wait); }

 private:
  mpi::Communicator group_;
  std::span<T> values_;
  mpi::Request request_;
};

template <class T>
std::span<T> part_of(std::span<T> values, const Bucket& bucket) {
  return values.subspan(bucket.begin, bucket.size());
}

// A sum in slices is a Sliced.
template <class Sliced, class T>
std::unique_ptr<BucketSum> make_sum(const mpi::Communicator& group, const SumChannels& channels,
                                    std::span<T> values, const Bucket& bucket) {
  if (bucket.algorithm == Algorithm::kSlices)
    return std::make_unique<Sliced>(channels, part_of(values, bucket));
  return std::make_unique<InPlaceSum<T>>(group, part_of(values, bucket));
}

}  // namespace

AllReduce::AllReduce(const mpi::Communicator& group, const Exchange& exchange,
                     const ExchangeOptions& options) {
  assert(exchange.floats.empty() || exchange.fixed.empty());
  buckets_ =
      cut_buckets({exchange.size(), exchange.floats.empty(), exchange.bf16_elements}, options, group.size());
  if (buckets_.empty()) return;
  channels_.emplace(group);
  for (const Bucket& bucket : buckets_) {
    if (bucket.wire == Number::kFixed64) {
      sums_.push_back(make_sum<PackedSum>(group, *channels_, exchange.fixed, bucket));
    } else if (bucket.wire == Number::kBfloat16) {
      sums_.push_back(make_sum<OrderedSum<Bfloat16>>(group, *channels_, exchange.floats, bucket));
    } else {
      sums_.push_back(make_sum<OrderedSum<float>>(group, *channels_, exchange.floats, bucket));
    }
  }
}

AllReduce::AllReduce(std::vector<Bucket> buckets, std::vector<std::unique_ptr<BucketSum>> sums)
    : buckets_(std::move(buckets)), sums_(std::move(sums)) {
  assert(buckets_.size() == sums_.size());
}

std::size_t AllReduce::predict_bytes(const ExchangeShape& shape, const ExchangeOptions& options, int ranks) {
  std::size_t bytes = 0;
  for (const Bucket& bucket : cut_buckets(shape, options, ranks)) {
    if (bucket.algorithm != Algorithm::kSlices) continue;
    bytes += bucket.wire == Number::kFixed64    ? PackedSum::predict_bytes(bucket.size(), ranks)
             : bucket.wire == Number::kBfloat16 ? OrderedSum<Bfloat16>::predict_bytes(bucket.size(), ranks)
                                                : OrderedSum<float>::predict_bytes(bucket.size(), ranks);
  }
  return bytes;
}

std::size_t AllReduce::bytes() const {
  std::size_t bytes = 0;
  for (const auto& sum : sums_) bytes += sum->bytes();
  return bytes;
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
  while (started_ < buckets() && buckets_[started_].end <= end) start_next();
  poll();
}

bool AllReduce::finish_gradients(bool wait) {
  while (started_ < buckets()) start_next();
  for (; combined_ < started_; ++combined_) {
    const Span span(Activity::kWait, nullptr, static_cast<std::int64_t>(combined_));
    if (!sums_[combined_]->combine(wait)) return false;
  }
  for (; done_ < combined_; flights_.end(done_++)) {
    const Span span(Activity::kWait, nullptr, static_cast<std::int64_t>(done_));
    if (!sums_[done_]->finish(wait)) return false;
  }
  return true;
}

}  // namespace convoke::sync
