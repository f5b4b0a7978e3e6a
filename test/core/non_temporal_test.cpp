#include "convoke/core/non_temporal.hpp"

#include <numeric>

#include "convoke/core/aligned_buffer.hpp"
#include "support/catch.hpp"

TEST_CASE("a non-temporal copy writes its values and no others, whatever its place on the cache lines") {
  convoke::AlignedBuffer<float> from(100), to(100);
  std::iota(from.data(), from.data() + from.size(), 1.0F);
  for (const std::size_t begin : {0, 1, 15, 16, 17}) {
    for (const std::size_t size : {0, 1, 15, 16, 17, 31, 48, 70}) {
      CAPTURE(begin, size);
      std::ranges::fill(to.span(), 0.0F);
      convoke::copy_non_temporal(from.span().subspan(3, size), to.span().subspan(begin, size));
      convoke::fence_non_temporal();
      for (std::size_t i = 0; i < to.size(); ++i)
        REQUIRE(to[i] == (i >= begin && i < begin + size ? from[3 + i - begin] : 0));
    }
  }
}
