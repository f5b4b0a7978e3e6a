#pragma once
#include <cstdint>
#include <utility>

namespace convoke::hdf5 {

/// Owns an HDF5 identifier (a hid_t) and the function that closes it. Move only; ignores errors of closing.
class Handle {
 public:
  using Id = std::int64_t;
  using Close = int (*)(Id);

  Handle() = default;
  Handle(Id id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }

  Id get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes now; returns the result of the closing function (negative: failure), or 0 if there was no
  /// identifier.
  int reset();

 private:
  Id id_ = -1;
  Close close_ = nullptr;
};

}  // namespace convoke::hdf5
