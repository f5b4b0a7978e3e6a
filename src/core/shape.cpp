#include "convoke/core/shape.hpp"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace convoke {

std::int64_t Shape::elements() const {
  return std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>());
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(extents_, ", ")); }

std::string Shape::with_batch() const {
  return extents_.empty() ? "(N)" : fmt::format("(N, {})", fmt::join(extents_, ", "));
}

}  // namespace convoke
