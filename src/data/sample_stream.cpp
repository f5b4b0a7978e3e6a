#include "convoke/data/sample_stream.hpp"

#include <vector>

#include "convoke/data/read_ahead.hpp"
#include "sample_reader.hpp"

namespace convoke::data {

SampleStream::SampleStream(std::unique_ptr<SampleReader> samples, std::size_t memory)
    : samples_(std::move(samples)), memory_(memory) {}
SampleStream::~SampleStream() = default;

// Samples that have not been read ahead are read now, neighbors together. Evaluations take samples in order,
// so the system's own read-ahead helps them.
const std::byte* SampleStream::fetch(std::span<const std::uint32_t> ids) const {
  if (ahead_ != nullptr) {
    if (const std::byte* found = ahead_->find(ids)) return found;
  }
  thread_local std::vector<std::byte> samples;  // of this thread's last call; only grows
  const std::size_t size = samples_->sample_bytes();
  if (samples.size() < ids.size() * size) samples.resize(ids.size() * size);
  for (std::size_t first = 0, last = 0; first < ids.size(); first = last) {
    for (last = first + 1; last < ids.size() && ids[last] == ids[last - 1] + 1;) ++last;
    samples_->read(ids[first], std::span(samples).subspan(first * size, (last - first) * size));
  }
  return samples.data();
}

}  // namespace convoke::data
