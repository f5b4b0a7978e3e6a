#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convoke::os {

/// Returns the resident set of this process, in bytes (VmRSS), including shared memory.
std::uint64_t resident_bytes();
/// Returns its peak so far (VmHWM).
std::uint64_t peak_resident_bytes();

/// Returns the memory that processes of this node may still use, in bytes: what the system can give without
/// swapping (MemAvailable), or less if the process's control group or one above it allows less (cgroup v1 and
/// v2; pages that only cache files count as free), or if its address space is limited (ulimit -v).
std::uint64_t available_bytes(const std::filesystem::path& meminfo = "/proc/meminfo",
                              const std::filesystem::path& membership = "/proc/self/cgroup",
                              const std::filesystem::path& mount = "/sys/fs/cgroup");

/// Lets blocks of 4 MiB and more be mapped, so that the system has them back when they are freed. glibc would
/// otherwise raise this limit up to 32 MiB and keep such blocks (mallopt(3)): a process took 22 MiB more than
/// predicted.
void map_large_blocks();

/// Memory of at least kHugeFrom bytes is worth huge pages, of kHugePage bytes each.
constexpr std::size_t kHugePage = std::size_t{2} << 20, kHugeFrom = 2 * kHugePage;

/// Asks the kernel for huge pages, where it gives them on request
/// (/sys/kernel/mm/transparent_hugepage/enabled: madvise); nothing is asked for smaller memory. A core of Zen
/// 4 knows the places of 12 MiB of small pages; beyond, it read 64 MiB at 27 GB/s, and at 47 GB/s in huge
/// pages.
void prefer_huge_pages(std::span<std::byte> memory);

/// Takes the memory for all pages of a mapping now, as touching them would, but returns false if there is not
/// enough: a full file system would otherwise end the process when it touches them (SIGBUS). Does nothing
/// before Linux 5.14.
bool take_pages(std::span<std::byte> mapping);

/// Memory of this process, filled with zeros. A page is taken when it is first written, from the NUMA node of
/// the thread that does so.
class UntouchedMemory {
 public:
  /// Throws std::bad_alloc.
  explicit UntouchedMemory(std::size_t bytes);
  ~UntouchedMemory();
  UntouchedMemory(const UntouchedMemory&) = delete;
  UntouchedMemory& operator=(const UntouchedMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// A control group of this process, or one above it, whose limits also apply.
struct ControlGroup {
  std::filesystem::path folder;  ///< in a container it may exist only outside
  bool unified = false;          ///< cgroup v2
};

/// Returns the groups that limit the resource of `controller` ("cpu", "memory"). `membership`:
/// /proc/self/cgroup; then the folder where control groups are mounted.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::filesystem::path& membership = "/proc/self/cgroup",
                                         const std::filesystem::path& mount = "/sys/fs/cgroup");

/// Returns the number of CPUs that the process's control group and those above it grant (cgroup v1 and v2);
/// 0: no limit.
double cpu_quota(const std::filesystem::path& membership = "/proc/self/cgroup",
                 const std::filesystem::path& mount = "/sys/fs/cgroup");

}  // namespace convoke::os
