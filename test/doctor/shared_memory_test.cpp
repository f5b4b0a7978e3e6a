#include "convoke/doctor/shared_memory.hpp"

#include "support/catch.hpp"

namespace doctor = convoke::doctor;
using doctor::Severity;
using doctor::SharedMemorySpace;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

SharedMemorySpace space(std::uint64_t total, int ranks = 2) {
  return {.host = "alpha", .ranks = ranks, .total = total, .folder = "/dev/shm", .copies = "none"};
}

}  // namespace

TEST_CASE("a /dev/shm that is too small is found, with commands that enlarge it") {
  const auto fine = doctor::check_shared_memory({space(1024 * kMiB)});
  REQUIRE(fine.size() == 1);
  CHECK(fine[0].severity == Severity::kOk);

  const auto tiny = doctor::check_shared_memory({space(1 * kMiB)});
  REQUIRE(tiny.size() == 1);
  CHECK(tiny[0].severity == Severity::kWarning);
  CHECK(tiny[0].evidence.find("alpha: /dev/shm has only 1.0 MiB for 2 ranks") == 0);
  CHECK(tiny[0].fix == "mount -o remount,size=11m /dev/shm (as root), docker run --shm-size=11m");
  CHECK(doctor::check_shared_memory({space(1 * kMiB, 1)})[0].severity == Severity::kOk);  // one rank
}

TEST_CASE("ranks that cannot share memory are found") {
  SharedMemorySpace apart = space(1024 * kMiB);
  apart.unshared = "the 2 ranks of host alpha cannot share 1 B of memory: they are in different containers";
  const auto found = doctor::check_shared_memory({apart});
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK(found[0].evidence.find(apart.unshared + "; each keeps its own copy") == 0);
}

TEST_CASE("ranks that cannot read each other's memory give a warning only if MPI is set to do so") {
  SharedMemorySpace blocked = space(1024 * kMiB);
  blocked.reading_refused = "Operation not permitted";
  const auto noted = doctor::check_shared_memory({blocked});
  REQUIRE(noted.size() == 1);
  CHECK(noted[0].severity == Severity::kNote);
  CHECK(noted[0].subject == "cma");
  blocked.copies = "cma";
  const auto warned = doctor::check_shared_memory({blocked});
  CHECK(warned[0].severity == Severity::kWarning);
  CHECK(warned[0].fix.find("unset OMPI_MCA_btl_vader_single_copy_mechanism") == 0);
}
