#include "convoke/core/shape.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"

namespace convoke {

std::int64_t Shape::elements() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 44;  // their bytes, also of a batch, fit into 64 bits
  std::int64_t product = 1;
  for (const std::int64_t extent : extents_) {
    if (__builtin_mul_overflow(product, extent, &product) || product > kMost)
      throw Error(fmt::format("the shape {} has too many elements", to_string()));
  }
  return product;
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(extents_, ", ")); }

std::string Shape::with_batch() const {
  return extents_.empty() ? "(N)" : fmt::format("(N, {})", fmt::join(extents_, ", "));
}

}  // namespace convoke
