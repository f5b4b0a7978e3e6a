#include "convoke/doctor/storage.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "doctor/told.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

namespace doctor = convoke::doctor;
using doctor::Storage;

namespace {

Storage runs(std::uint64_t free_mib = 1000) {
  return {.host = "alpha", .role = "runs", .path = "/scratch/runs", .type = "ext4", .free = free_mib << 20};
}

std::string check(const Storage& storage, std::uint64_t checkpoint = 0, bool must_lock = false) {
  return told(doctor::check_storage({storage}, checkpoint, must_lock));
}

}  // namespace

TEST_CASE("folders of runs are measured, and no file is left in them") {
  const TemporaryFolder folder;
  const Storage seen = doctor::probe_runs(folder / "runs/first", true);  // neither folder exists yet
  CHECK(seen.path == folder.path().string());
  CHECK(seen.failure.empty());
  CHECK(seen.locking_refused.empty());
  CHECK(seen.free > 0);
  CHECK(seen.write_rate > 0);
  CHECK(seen.read_rate > 0);
  CHECK(fs::is_empty(folder.path()));
  const Storage quick = doctor::probe_runs(folder.path(), false);
  CHECK(quick.write_rate == 0);
  CHECK_THAT(check(quick), StartsWith("ok: "));
}

TEST_CASE("an unwritable folder or unreadable file is an error") {
  const Storage file = doctor::probe_runs("/proc/self", true);
  CHECK_FALSE(file.failure.empty());
  CHECK_THAT(check(file), StartsWith("error: ") && Contains("/proc/self: cannot be written: ") &&
                              EndsWith(" | choose another folder with --output"));
  CHECK_THAT(check(doctor::probe_dataset("/no/such/data.h5", false)),
             StartsWith("error: ") && Contains("/no/such/data.h5: cannot be opened: No such file"));
}

TEST_CASE("a dataset is read, even if another process has locked it") {
  const TemporaryFolder folder;
  const auto path = folder / "data.h5";
  std::ofstream(path) << std::string(std::size_t{1} << 20, 'x');
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  const Storage seen = doctor::probe_dataset(path, true);
  ::close(other);
  CHECK(seen.failure.empty());
  CHECK(seen.locking_refused.empty());  // a lock of another process shows that locks work
  CHECK(seen.read_rate > 0);
  std::filesystem::resize_file(path, 4096);  // one access is no rate
  CHECK(doctor::probe_dataset(path, true).read_rate == 0);
}

TEST_CASE("files that cannot be locked give a warning only if HDF5 is set to lock them") {
  Storage storage = runs();
  storage.type = "Lustre";
  CHECK_THAT(check(storage), StartsWith("ok: "));
  storage.locking_refused = "Function not implemented";
  CHECK_THAT(check(storage),
             StartsWith("note: ") && Contains("files cannot be locked (Function not implemented)"));
  CHECK_THAT(check(storage, 0, true), StartsWith("warning: ") && Contains(" | unset HDF5_USE_FILE_LOCKING"));
  {
    const Variable locked("HDF5_USE_FILE_LOCKING", "TRUE");
    CHECK(doctor::hdf5_must_lock());
  }
  const Variable unlocked("HDF5_USE_FILE_LOCKING", "FALSE");
  CHECK_FALSE(doctor::hdf5_must_lock());
}

TEST_CASE("free space and disk speed are compared with the checkpoints") {
  CHECK_THAT(check(runs(1000), std::uint64_t{100} << 20), StartsWith("ok: "));
  CHECK_THAT(check(runs(300), std::uint64_t{100} << 20), StartsWith("warning: "));
  CHECK_THAT(check(runs(30)), StartsWith("warning: "));
  Storage slow = runs();
  slow.write_rate = 5e6;
  CHECK_THAT(check(slow, 50'000'000),
             StartsWith("warning: ") && Contains("a checkpoint of 47.7 MiB takes 10.0 s"));
  Storage samples{.host = "beta", .role = "dataset", .path = "data.h5", .read_rate = 5e6};
  CHECK_THAT(check(samples), StartsWith("warning: "));
}
