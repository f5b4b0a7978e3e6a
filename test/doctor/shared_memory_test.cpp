#include "convoke/doctor/shared_memory.hpp"

#include "support/catch.hpp"

namespace doctor = convoke::doctor;
using doctor::Severity;
using doctor::SharedMemoryRoom;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

SharedMemoryRoom room(std::uint64_t total, std::uint64_t free, int ranks = 2) {
  return {
      .host = "alpha", .ranks = ranks, .total = total, .folder = "/dev/shm", .free = free, .copies = "none"};
}

}  // namespace

TEST_CASE("a /dev/shm that is too small is found, with commands that enlarge it") {
  const auto fine = doctor::judge_shared_memory({room(1024 * kMiB, 900 * kMiB)}, 100 * kMiB);
  REQUIRE(fine.size() == 1);
  CHECK(fine[0].severity == Severity::kOk);

  const auto window = doctor::judge_shared_memory({room(64 * kMiB, 60 * kMiB)}, 100 * kMiB);
  REQUIRE(window.size() == 1);
  CHECK(window[0].severity == Severity::kError);
  CHECK(window[0].evidence ==
        "alpha: the 2 ranks will share 100.0 MiB of samples, but /dev/shm has only 60.0 MiB left");
  CHECK(window[0].remedy.find(
            "mount -o remount,size=117m /dev/shm (as root), docker run --shm-size=117m, use a disk") == 0);

  const auto tiny = doctor::judge_shared_memory({room(1 * kMiB, kMiB / 2)}, 0);
  REQUIRE(tiny.size() == 1);
  CHECK(tiny[0].severity == Severity::kWarning);
  CHECK(tiny[0].evidence.find("alpha: /dev/shm has only 1.0 MiB for 2 ranks") == 0);
  CHECK(doctor::judge_shared_memory({room(1 * kMiB, 0, 1)}, kMiB)[0].severity == Severity::kOk);  // one rank
}

TEST_CASE("ranks that cannot read each other's memory give a warning only if MPI is set to do so") {
  SharedMemoryRoom blocked = room(1024 * kMiB, 900 * kMiB);
  blocked.reading_refused = "Operation not permitted";
  const auto noted = doctor::judge_shared_memory({blocked}, 0);
  REQUIRE(noted.size() == 1);
  CHECK(noted[0].severity == Severity::kNote);
  CHECK(noted[0].subject == "cma");
  blocked.copies = "cma";
  const auto warned = doctor::judge_shared_memory({blocked}, 0);
  CHECK(warned[0].severity == Severity::kWarning);
  CHECK(warned[0].remedy.find("unset OMPI_MCA_btl_vader_single_copy_mechanism") == 0);
}
