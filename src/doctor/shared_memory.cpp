#include "convoke/doctor/shared_memory.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "convoke/core/text.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

constexpr int kSharedMemoryTag = 7302;

// Cross-memory attach (CMA): the second rank of a host reads a word of the first. Returns "" or the error.
std::string read_neighbour(const run::Machine& machine, const mpi::Communicator& world) {
  struct Word {
    std::int64_t process;
    const std::uint64_t* address;
  };
  const std::uint64_t word = 0x636f6e766f6b65;
  Word there{getpid(), &word};
  const auto bytes = std::as_writable_bytes(std::span(&there, 1));
  std::vector<int> local;
  const int node = machine.placements[static_cast<std::size_t>(machine.rank)].node;
  for (int rank = 0; rank < machine.ranks && local.size() < 2; ++rank) {
    if (machine.placements[static_cast<std::size_t>(rank)].node == node) local.push_back(rank);
  }
  std::int32_t failed = 0;
  const auto answer = std::as_writable_bytes(std::span(&failed, 1));
  if (local.size() < 2) return {};
  if (machine.local_rank == 0) {
    world.send(bytes, local[1], kSharedMemoryTag);
    world.receive(answer, local[1], kSharedMemoryTag);
  } else if (machine.local_rank == 1) {
    world.receive(bytes, local[0], kSharedMemoryTag);
    std::uint64_t read = 0;
    const iovec mine{&read, sizeof read}, theirs{const_cast<std::uint64_t*>(there.address), sizeof read};
    const bool done = process_vm_readv(static_cast<pid_t>(there.process), &mine, 1, &theirs, 1, 0) ==
                      static_cast<ssize_t>(sizeof read);
    failed =
        done ? (read == word ? 0 : ESRCH) : errno;  // another container may have a process of that number
    world.send(answer, local[0], kSharedMemoryTag);
  }
  return failed == 0 ? std::string() : std::strerror(failed);
}

SharedMemoryRoom look(const run::Machine& machine, const mpi::Communicator& world, bool ask) {
  SharedMemoryRoom room;
  room.host = machine.host;
  room.ranks = machine.local_ranks;
  room.folder = mpi_setting("osc_sm_backing_directory", "/dev/shm", ask);
  struct statvfs system {};
  if (statvfs("/dev/shm", &system) == 0) room.total = std::uint64_t{system.f_blocks} * system.f_frsize;
  if (statvfs(room.folder.c_str(), &system) == 0) {
    room.free = std::uint64_t{system.f_bavail} * system.f_frsize;
  }
  room.copies = mpi_setting("btl_vader_single_copy_mechanism", "", ask);
  room.reading_refused = read_neighbour(machine, world);
  return room;
}

Settings to_settings(const SharedMemoryRoom& room) {
  return {{"host", room.host},
          {"ranks", room.ranks},
          {"total", static_cast<std::int64_t>(room.total)},
          {"folder", room.folder},
          {"free", static_cast<std::int64_t>(room.free)},
          {"copies", room.copies},
          {"reading_refused", room.reading_refused}};
}

SharedMemoryRoom room_from(const Settings& settings) {
  SettingsReader read(settings, "shared memory");
  return {.host = read.get("host", ""),
          .ranks = static_cast<int>(read.get("ranks", 1)),
          .total = static_cast<std::uint64_t>(read.get("total", 0)),
          .folder = read.get("folder", ""),
          .free = static_cast<std::uint64_t>(read.get("free", 0)),
          .copies = read.get("copies", ""),
          .reading_refused = read.get("reading_refused", "")};
}

}  // namespace

std::vector<SharedMemoryRoom> gather_shared_memory(const run::Machine& machine,
                                                   const mpi::Communicator& world, bool ask) {
  std::vector<SharedMemoryRoom> rooms;
  for (const Settings& seen : gather_hosts(to_settings(look(machine, world, ask)), machine, world)) {
    rooms.push_back(room_from(seen));
  }
  return rooms;
}

std::vector<Finding> judge_shared_memory(const std::vector<SharedMemoryRoom>& hosts, std::uint64_t window) {
  constexpr std::uint64_t kPerRank = std::uint64_t{8} << 20;  // Open MPI's segment of 4 MiB, and its windows
  const auto remedy = [](std::uint64_t bytes) {
    return fmt::format("mount -o remount,size={0}m /dev/shm (as root), docker run --shm-size={0}m",
                       (bytes >> 20) + 1);
  };
  std::vector<Finding> found;
  for (const SharedMemoryRoom& room : hosts) {
    const std::uint64_t own = kPerRank * static_cast<std::uint64_t>(room.ranks);
    if (room.ranks > 1 && room.free < window) {
      found.push_back(
          {.severity = Severity::kError,
           .subject = "shared memory",
           .evidence =
               fmt::format("{}: the {} ranks will share {} of samples, but {} has only {} left", room.host,
                           room.ranks, format_bytes(window), room.folder, format_bytes(room.free)),
           .remedy = remedy(window + own) +
                     ", use a disk (export OMPI_MCA_osc_sm_backing_directory=/tmp), or set data.memory "
                     "to stream samples"});
    } else if (room.ranks > 1 && room.total < own) {
      const std::string instead =
          room.folder == "/dev/shm" ? "" : fmt::format("; messages and samples use files in {}", room.folder);
      found.push_back({.severity = Severity::kWarning,
                       .subject = "shared memory",
                       .evidence = fmt::format("{}: /dev/shm has only {} for {} ranks{}", room.host,
                                               format_bytes(room.total), room.ranks, instead),
                       .remedy = remedy(own)});
    }
    if (room.reading_refused.empty()) continue;
    const bool used = room.copies == "cma";
    found.push_back({.severity = used ? Severity::kWarning : Severity::kNote,
                     .subject = "cma",
                     .evidence = fmt::format(
                         "{}: ranks cannot read each other's memory ({}){}", room.host, room.reading_refused,
                         used ? ", but Open MPI is set to do so" : "; Convoke uses shared memory instead"),
                     .remedy = used ? "unset OMPI_MCA_btl_vader_single_copy_mechanism, or allow it: sysctl "
                                      "kernel.yama.ptrace_scope=0, docker run --cap-add=SYS_PTRACE"
                                    : ""});
  }
  if (found.empty() && !hosts.empty()) {
    const SharedMemoryRoom& first = hosts.front();
    found.push_back({.severity = Severity::kOk,
                     .subject = "shared memory",
                     .evidence = fmt::format("{} free in {}", format_bytes(first.free), first.folder)});
  }
  return found;
}

}  // namespace convoke::doctor
