#include "convoke/doctor/shared_memory.hpp"

#include "doctor/told.hpp"

namespace doctor = convoke::doctor;
using doctor::SharedMemorySpace;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

SharedMemorySpace space(std::uint64_t total, int ranks = 2) {
  return {.host = "alpha", .ranks = ranks, .total = total, .folder = "/dev/shm", .copies = "none"};
}

}  // namespace

TEST_CASE("a /dev/shm that is too small is found, with commands that enlarge it") {
  CHECK_THAT(told(doctor::check_shared_memory({space(1024 * kMiB)})), StartsWith("ok: "));
  const std::string tiny = told(doctor::check_shared_memory({space(1 * kMiB)}));
  CHECK_THAT(tiny, StartsWith("warning: alpha: /dev/shm has only 1.0 MiB for 2 ranks"));
  CHECK_THAT(tiny, EndsWith(" | mount -o remount,size=11m /dev/shm (as root), docker run --shm-size=11m"));
  CHECK_THAT(told(doctor::check_shared_memory({space(1 * kMiB, 1)})[0]), StartsWith("ok: "));  // one rank
}

TEST_CASE("ranks that cannot share memory are found") {
  SharedMemorySpace apart = space(1024 * kMiB);
  apart.unshared = "the 2 ranks of host alpha cannot share 1 B of memory: they are in different containers";
  CHECK_THAT(told(doctor::check_shared_memory({apart})),
             StartsWith("warning: " + apart.unshared + "; each keeps its own copy"));
}

TEST_CASE("ranks that cannot read each other's memory give a warning only if MPI is set to do so") {
  SharedMemorySpace blocked = space(1024 * kMiB);
  blocked.reading_refused = "Operation not permitted";
  const auto noted = doctor::check_shared_memory({blocked});
  CHECK_THAT(told(noted), StartsWith("note: "));
  CHECK(noted[0].subject == "cma");
  blocked.copies = "cma";
  CHECK_THAT(told(doctor::check_shared_memory({blocked})[0]),
             StartsWith("warning: ") && Contains(" | unset OMPI_MCA_btl_vader_single_copy_mechanism"));
}
