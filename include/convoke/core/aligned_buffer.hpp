#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "convoke/os/memory.hpp"

namespace convoke {

/// Memory for n values of T, 64-byte aligned (a cache line, a vector register) and zeroed; large memory is in
/// huge pages. Move only; a moved-from buffer is empty.
template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (size > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = size * sizeof(T);
    const std::align_val_t alignment{bytes < os::kHugeFrom ? kAlignment : os::kHugePage};
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, alignment));
    os::prefer_huge_pages({memory, bytes});
    data_ = {new (memory) T[size](), Free{alignment}};
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Free {
    std::align_val_t alignment{kAlignment};
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace convoke
