#include "convoke/doctor/storage.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/file.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

namespace fs = std::filesystem;

struct FileSystem {
  std::uint32_t magic;  ///< from statfs(2), or the sources of the file system
  const char* name;
};

constexpr std::array kFileSystems{
    FileSystem{0x6969, "NFS"},          FileSystem{0x0BD00BD0, "Lustre"}, FileSystem{0x47504653, "GPFS"},
    FileSystem{0x19830326, "BeeGFS"},   FileSystem{0x00C36400, "CephFS"}, FileSystem{0xFF534D42, "CIFS"},
    FileSystem{0xFE534D42, "SMB"},      FileSystem{0x01021997, "9P"},     FileSystem{0x5346414F, "AFS"},
    FileSystem{0x20030528, "OrangeFS"}, FileSystem{0x65735546, "FUSE"},   FileSystem{0xEF53, "ext4"},
    FileSystem{0x58465342, "XFS"},      FileSystem{0x9123683E, "btrfs"},  FileSystem{0x01021994, "tmpfs"},
    FileSystem{0x794C7630, "overlay"},  FileSystem{0x2FC12FC1, "ZFS"},    FileSystem{0xF2F52010, "f2fs"},
};

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kBlocks = 8;

Storage describe(const std::string& role, const fs::path& path) {
  Storage storage;
  storage.host = os::host_name();
  storage.role = role;
  storage.path = path.string();
  if (struct statfs system{}; ::statfs(path.c_str(), &system) == 0) {
    const auto magic = static_cast<std::uint32_t>(system.f_type);
    const auto it =
        std::ranges::find_if(kFileSystems, [&](const FileSystem& known) { return known.magic == magic; });
    storage.type = it == kFileSystems.end() ? "" : it->name;
    storage.free = static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  } else {
    storage.failure = std::strerror(errno);
  }
  return storage;
}

// Why the file cannot be locked; empty if it can. A lock of another process proves that locks work.
std::string why_not_locked(os::File& file, bool shared) try {
  file.try_lock(shared);
  return {};
} catch (const Error& error) {
  return error.what();
}

// Bytes per second; 0 for less than a block, whose time is that of one access.
double read_rate(const os::File& file) {
  file.forget(0, kBlock * kBlocks);
  std::vector<std::byte> block(kBlock);
  std::size_t bytes = 0;
  const os::Stopwatch watch;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const std::size_t got = file.read_some_at(i * kBlock, block);
    if (got == 0) break;
    bytes += got;
  }
  return bytes < kBlock ? 0 : static_cast<double>(bytes) / watch.seconds();
}

void measure_writing(os::File& file, Storage& storage) {
  const std::vector<std::byte> block(kBlock, std::byte{'c'});
  const os::Stopwatch watch;
  for (std::size_t i = 0; i < kBlocks; ++i) file.write_at(i * kBlock, block);
  file.sync();
  storage.write_rate = static_cast<double>(kBlock * kBlocks) / watch.seconds();
  storage.read_rate = read_rate(file);
}

std::string describe(const Storage& place) {
  std::string text = fmt::format("{}: {} {}", place.host,
                                 place.role == "runs" ? "runs are written to" : "samples are in", place.path);
  text += fmt::format(" ({}{} free", place.type.empty() ? "" : place.type + ", ", format_bytes(place.free));
  if (place.write_rate > 0) text += fmt::format(", written at {}", rate_text(place.write_rate));
  if (place.read_rate > 0) text += fmt::format(", read at {}", rate_text(place.read_rate));
  return text + ")";
}

}  // namespace

Storage probe_runs(const fs::path& folder, bool measure) {
  std::error_code unknown;
  fs::path there = fs::absolute(folder).lexically_normal();
  while (!fs::exists(there, unknown) && there.has_relative_path()) there = there.parent_path();
  Storage storage = describe("runs", there);
  try {
    os::File file = os::File::unnamed(there);
    storage.locking_refused = why_not_locked(file, false);
    if (measure) measure_writing(file, storage);
  } catch (const Error& error) {
    storage.failure = error.what();
    storage.path = folder.string();
  }
  return storage;
}

Storage probe_dataset(const fs::path& path, bool measure) {
  Storage storage = describe("dataset", path);
  try {
    os::File file(path, os::Access::kRead);
    storage.locking_refused = why_not_locked(file, true);
    if (measure) storage.read_rate = read_rate(file);
  } catch (const Error& error) {
    storage.failure = error.what();
  }
  return storage;
}

bool hdf5_must_lock() {
  const std::string value = os::variable("HDF5_USE_FILE_LOCKING").value_or("");
  return value == "TRUE" || value == "1";
}

std::vector<Finding> check_storage(const std::vector<Storage>& places, std::uint64_t checkpoint,
                                   bool must_lock) {
  constexpr double kSlow = 20e6;                             // bytes per second
  constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;  // for logs, the summary and a small model
  constexpr std::uint64_t kCheckpoints = 4;  // the newest two, the best, and the one being written
  std::vector<Finding> found;
  for (const Storage& place : places) {
    Finding finding = ok("storage", describe(place));
    const bool runs = place.role == "runs";
    const std::uint64_t wanted = std::max(kLeast, kCheckpoints * checkpoint);
    if (!place.failure.empty()) {
      finding.severity = Severity::kError;
      finding.evidence =
          runs ? fmt::format("{}: {}: cannot be written: {}", place.host, place.path, place.failure)
               : fmt::format("{}: {}", place.host, place.failure);  // which names the file
      finding.fix = runs ? "choose another folder with --output"
                         : "put the dataset into a folder that every host sees under the same name";
    } else if (!place.locking_refused.empty() && must_lock) {
      finding.severity = Severity::kWarning;
      finding.evidence += fmt::format(
          ": files cannot be locked ({}), but HDF5_USE_FILE_LOCKING requires locks", place.locking_refused);
      finding.fix = "unset HDF5_USE_FILE_LOCKING; Convoke needs no locks";
    } else if (runs && place.free < wanted) {
      finding.severity = Severity::kWarning;
      finding.evidence += checkpoint > 0 ? fmt::format(": a checkpoint takes {}, and several are kept",
                                                       format_bytes(checkpoint))
                                         : ": this is little for checkpoints";
      finding.fix = "free some space, or choose another folder with --output";
    } else if (runs && place.write_rate > 0 && place.write_rate < kSlow) {
      finding.severity = Severity::kWarning;
      finding.evidence +=
          checkpoint > 0 ? fmt::format(": a checkpoint of {} takes {}", format_bytes(checkpoint),
                                       format_duration(static_cast<double>(checkpoint) / place.write_rate))
                         : ": checkpoints take long";
      finding.fix = "choose a faster folder with --output, or a larger run.checkpoint_every";
    } else if (!runs && place.read_rate > 0 && place.read_rate < kSlow) {
      finding.severity = Severity::kWarning;
      finding.evidence += ": loading takes long, and streaming may slow down training";
      finding.fix = "copy the dataset to a local disk (sbcast, or cp to $TMPDIR) and set data.path";
    } else if (!place.locking_refused.empty()) {
      finding.severity = Severity::kNote;
      finding.evidence +=
          fmt::format(": files cannot be locked ({}); Convoke needs no locks, but h5py and h5dump do",
                      place.locking_refused);
      finding.fix = "for h5py and h5dump: export HDF5_USE_FILE_LOCKING=FALSE";
    }
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace convoke::doctor
