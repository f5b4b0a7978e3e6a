#include "convoke/core/aligned_buffer.hpp"

#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"

using convoke::AlignedBuffer;

TEST_CASE("an aligned buffer starts on a cache line, zeroed") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{17}, std::size_t{100003}}) {
    const AlignedBuffer<float> buffer(size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.span().size() == size);
    CHECK(std::all_of(buffer.data(), buffer.data() + size, [](float x) { return x == 0; }));
  }
}

TEST_CASE("a large aligned buffer is in huge pages") {
  const AlignedBuffer<std::byte> buffer(std::size_t{8} << 20);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % (std::size_t{2} << 20) == 0);
  if (!fs::exists("/sys/kernel/mm/transparent_hugepage")) return skip("a kernel without huge pages");
  CHECK_THAT(bytes_of("/proc/self/smaps"), Contains(" hg"));  // a mapping for which they were asked for
}

TEST_CASE("a moved-from aligned buffer is empty") {
  AlignedBuffer<int> a(3);
  a[2] = 7;
  const int* const memory = a.data();
  AlignedBuffer<int> b = std::move(a);
  CHECK(b.data() == memory);
  CHECK(b[2] == 7);
  CHECK(a.size() == 0);  // NOLINT: the test is about the moved-from buffer
  CHECK(a.span().empty());

  AlignedBuffer<int> c(5);
  c = std::move(b);
  CHECK(c.data() == memory);
  CHECK(c.size() == 3);
  CHECK(b.size() == 0);  // NOLINT

  CHECK(AlignedBuffer<int>(0).data() == nullptr);
}
