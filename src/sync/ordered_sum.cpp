#include "convoke/sync/ordered_sum.hpp"

#include <algorithm>
#include <type_traits>

#include "convoke/core/multiversion.hpp"
#include "convoke/sync/bucket.hpp"

namespace convoke::sync {
namespace {

//   t = value + lost,  wire = round(t),  lost = t - wire
CONVOKE_MULTIVERSION
void encode(const float* values, float* lost, Bfloat16* wire, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float exact = values[i] + lost[i];
    wire[i] = Bfloat16(exact);
    lost[i] = exact - static_cast<float>(wire[i]);
  }
}
CONVOKE_MULTIVERSION
void decode(const Bfloat16* wire, float* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(wire[i]);
}
CONVOKE_MULTIVERSION
void add(const Bfloat16* wire, float* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += static_cast<float>(wire[i]);
}

void encode(const float* values, float*, float* wire, std::size_t n) { std::copy_n(values, n, wire); }
void decode(const float* wire, float* values, std::size_t n) { std::copy_n(wire, n, values); }
CONVOKE_MULTIVERSION
void add(const float* wire, float* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += wire[i];
}

}  // namespace

template <class Wire>
OrderedSum<Wire>::OrderedSum(const SumChannels& channels, std::span<float> values)
    : channels_(channels),
      values_(values),
      slice_(slice_elements(values.size(), channels.scatter.size())),
      outgoing_(slice_ * static_cast<std::size_t>(channels.scatter.size())),
      incoming_(outgoing_.size()),
      total_(slice_) {
  if constexpr (!std::is_same_v<Wire, float>) {
    lost_ = AlignedBuffer<float>(values.size());
    lost_total_ = AlignedBuffer<float>(slice_);
  }
}

template <class Wire>
std::size_t OrderedSum<Wire>::predict_bytes(std::size_t values, int ranks) {
  const std::size_t slice = slice_elements(values, ranks), sent = slice * static_cast<std::size_t>(ranks);
  const std::size_t lost = std::is_same_v<Wire, float> ? 0 : values + slice;
  return 2 * sent * sizeof(Wire) + (slice + lost) * sizeof(float);
}

template <class Wire>
std::size_t OrderedSum<Wire>::bytes() const {
  return (outgoing_.size() + incoming_.size()) * sizeof(Wire) +
         (total_.size() + lost_.size() + lost_total_.size()) * sizeof(float);
}

template <class Wire>
void OrderedSum<Wire>::start() {
  encode(values_.data(), lost_.data(), outgoing_.data(), values_.size());
  request_ = channels_.scatter.start_all_to_all(std::as_bytes(outgoing_.span()),
                                                std::as_writable_bytes(incoming_.span()));
}

template <class Wire>
bool OrderedSum<Wire>::combine(bool wait) {
  if (!request_.over(wait)) return false;
  decode(incoming_.data(), total_.data(), slice_);
  for (std::size_t at = slice_; at < incoming_.size(); at += slice_)
    add(incoming_.data() + at, total_.data(), slice_);
  const std::size_t mine = slice_ * static_cast<std::size_t>(channels_.gather.rank());
  encode(total_.data(), lost_total_.data(), outgoing_.data() + mine, slice_);
  request_ = channels_.gather.start_all_gather(std::as_writable_bytes(outgoing_.span()));
  return true;
}

template <class Wire>
bool OrderedSum<Wire>::finish(bool wait) {
  if (!request_.over(wait)) return false;
  decode(outgoing_.data(), values_.data(), values_.size());
  return true;
}

template class OrderedSum<float>;
template class OrderedSum<Bfloat16>;

}  // namespace convoke::sync
