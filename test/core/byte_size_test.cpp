#include "convoke/core/text.hpp"

#include "support/catch.hpp"

using namespace convoke;

TEST_CASE("sizes are read in binary units, and written back exactly") {
  CHECK(parse_bytes("512MiB") == std::uint64_t{512} << 20);
  CHECK(parse_bytes("1.5 GiB") == std::uint64_t{3} << 29);
  CHECK(parse_bytes("4096 B") == 4096U);
  CHECK(parse_bytes("2TiB") == std::uint64_t{2} << 40);
  for (const char* no :
       {"", "MiB", "12", "12MB", "12  MiB", "-1MiB", "0B", "0.5B", "nanMiB", "1e30TiB", "auto"}) {
    INFO(no);
    CHECK_FALSE(parse_bytes(no).has_value());
  }
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{1025}, std::uint64_t{3} << 20, std::uint64_t{5} << 50}) {
    CHECK(parse_bytes(exact_bytes(bytes)) == bytes);
  }
  CHECK(exact_bytes(std::uint64_t{256} << 20) == "256MiB");
  CHECK(exact_bytes(1536) == "1536B");
}
