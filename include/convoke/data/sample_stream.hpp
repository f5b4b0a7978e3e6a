#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace convoke::data {

class ReadAhead;
class SampleReader;

/// The samples of a split that are not held in memory but read from its files when needed. Any number of
/// threads may fetch.
class SampleStream {
 public:
  /// `memory`: bytes that this process may use to read ahead.
  SampleStream(std::unique_ptr<SampleReader> samples, std::size_t memory);
  ~SampleStream();
  SampleStream(const SampleStream&) = delete;
  SampleStream& operator=(const SampleStream&) = delete;

  /// Returns the samples `ids`, one after the other, as they are in memory; encoded pictures are decoded. The
  /// bytes are valid until this thread fetches again. Throws Error naming the file if reading fails or the
  /// file has become shorter, and naming the sample if it cannot be decoded.
  const std::byte* fetch(std::span<const std::uint32_t> ids) const;

  std::size_t memory() const { return memory_; }

 private:
  friend class ReadAhead;

  std::unique_ptr<SampleReader> samples_;
  std::size_t memory_;
  const ReadAhead* ahead_ = nullptr;  // has the samples of the current epoch, or null
};

}  // namespace convoke::data
