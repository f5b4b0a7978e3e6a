#include "convoke/sync/bucket.hpp"

#include <algorithm>
#include <array>

#include "convoke/sync/ordered_sum.hpp"

namespace convoke::sync {

namespace {

// A cache line of floats. Buckets share no cache line if the arena begins on one.
constexpr std::size_t kAlignElements = 16;
constexpr std::size_t kMostElements = OrderedSum<float>::kMostElements;

std::size_t divide_rounding_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Makes all buckets the same size, instead of a small rest at the end.
std::size_t bucket_elements(std::size_t elements, std::size_t element_bytes, const ExchangeOptions& options) {
  const std::size_t bytes = elements * element_bytes;
  const std::size_t wanted = options.bucket_bytes == 0 ? bucket_bytes_for(bytes) : options.bucket_bytes;
  const std::size_t even = divide_rounding_up(elements, divide_rounding_up(bytes, wanted));
  return divide_rounding_up(even, kAlignElements) * kAlignElements;
}

// Cuts elements [begin, end) into buckets of `elements`.
void cut(std::size_t begin, std::size_t end, std::size_t elements, Number wire, Algorithm algorithm,
         std::vector<Bucket>& buckets) {
  for (; begin < end; begin = buckets.back().end) {
    buckets.push_back({begin, std::min(end, begin + elements), wire, algorithm});
  }
}

}  // namespace

std::size_t bytes_of(Number number) {
  constexpr std::array<std::size_t, 3> kBytes{4, 2, 8};  // by Number
  return kBytes[static_cast<std::size_t>(number)];
}

double message_bytes(Number number) {
  return number == Number::kFixed64 ? 4.25 : static_cast<double>(bytes_of(number));
}

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
//   ranks, Mbit/s    2, 1000      4, 1000       3, 100      8, 100      12, 100     16, 100
//   in slices     17,700  0.8   10,400  2.3   4,579  37   3,470  48   3,282  45   3,055  39
//   by the library 9,300  3.9   10,100  3.0   4,579  37   3,494  51   3,274  52   3,254  54
//
// In slices a rank sends a message to each other rank, so there is a limit.
bool sums_in_slices(int ranks) { return ranks <= 16; }

std::size_t slice_elements(std::size_t elements, int ranks) {
  return divide_rounding_up(elements, static_cast<std::size_t>(ranks));
}

std::vector<Bucket> cut_buckets(const ExchangeShape& shape, const ExchangeOptions& options, int ranks) {
  std::vector<Bucket> buckets;
  if (ranks == 1 || shape.elements == 0) return buckets;
  const Number number = shape.fixed ? Number::kFixed64 : Number::kFloat32;
  const Algorithm algorithm = sums_in_slices(ranks) ? Algorithm::kSlices : Algorithm::kLibrary;
  const std::size_t elements =
      std::min(bucket_elements(shape.elements, bytes_of(number), options), kMostElements);
  const std::size_t rounded = !shape.fixed && options.wire == Wire::kBfloat16 ? shape.bf16_elements : 0;
  cut(0, rounded, elements, Number::kBfloat16, Algorithm::kSlices, buckets);
  cut(rounded, shape.elements, elements, number, algorithm, buckets);
  return buckets;
}

}  // namespace convoke::sync
