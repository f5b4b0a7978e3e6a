#include "convoke/doctor/shared_memory.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/shared_memory.hpp"
#include "doctor/evidence.hpp"

namespace convoke::doctor {
namespace {

// Cross-memory attach (CMA): the second rank of a host reads a word of the first. Returns "" or the error.
std::string read_neighbor(const run::Machine& machine, const mpi::Communicator& world) {
  struct Word {
    std::int64_t process;
    const std::uint64_t* address;
  };
  const std::uint64_t word = 0x636f6e766f6b65;
  Word there{getpid(), &word};
  const auto bytes = std::as_writable_bytes(std::span(&there, 1));
  const int node = of_rank(machine.placements, machine.rank).node;
  const std::vector<int> local = ranks_of(machine.placements, node);
  std::int32_t failed = 0;
  const auto answer = std::as_writable_bytes(std::span(&failed, 1));
  if (local.size() < 2) return {};
  if (machine.local_rank == 0) {
    world.send(bytes, local[1], mpi::Tag::kNeighbor);
    world.receive(answer, local[1], mpi::Tag::kNeighbor);
  } else if (machine.local_rank == 1) {
    world.receive(bytes, local[0], mpi::Tag::kNeighbor);
    std::uint64_t read = 0;
    const iovec mine{&read, sizeof read}, theirs{const_cast<std::uint64_t*>(there.address), sizeof read};
    const bool done = process_vm_readv(static_cast<pid_t>(there.process), &mine, 1, &theirs, 1, 0) ==
                      static_cast<ssize_t>(sizeof read);
    failed =
        done ? (read == word ? 0 : ESRCH) : errno;  // another container may have a process of that number
    world.send(answer, local[0], mpi::Tag::kNeighbor);
  }
  return failed == 0 ? std::string() : std::strerror(failed);
}

SharedMemorySpace probe(const run::Machine& machine, const mpi::Communicator& world, bool ask) {
  SharedMemorySpace space;
  space.host = machine.host;
  space.ranks = machine.local_ranks;
  space.folder = mpi_setting("btl_vader_backing_directory", "/dev/shm", ask);
  struct statvfs system {};
  if (statvfs("/dev/shm", &system) == 0) space.total = std::uint64_t{system.f_blocks} * system.f_frsize;
  const mpi::Communicator node = world.split_node();
  try {
    const mpi::SharedMemory memory(node, 1);
  } catch (const Error& error) {
    space.unshared = error.what();
  }
  space.copies = mpi_setting("btl_vader_single_copy_mechanism", "", ask);
  space.reading_refused = read_neighbor(machine, world);
  return space;
}

constexpr std::array kSpaceFields{
    field<&SharedMemorySpace::host>("host"),
    field<&SharedMemorySpace::ranks>("ranks"),
    field<&SharedMemorySpace::total>("total"),
    field<&SharedMemorySpace::folder>("folder"),
    field<&SharedMemorySpace::unshared>("unshared"),
    field<&SharedMemorySpace::copies>("copies"),
    field<&SharedMemorySpace::reading_refused>("reading_refused"),
};

}  // namespace

std::vector<SharedMemorySpace> gather_shared_memory(const run::Machine& machine,
                                                    const mpi::Communicator& world, bool ask) {
  return structs_of(kSpaceFields,
                    gather_hosts(to_settings(kSpaceFields, probe(machine, world, ask)), machine, world));
}

std::vector<Finding> check_shared_memory(const std::vector<SharedMemorySpace>& hosts) {
  constexpr std::uint64_t kPerRank = std::uint64_t{5} << 20;  // Open MPI's segment of 4 MiB, and some more
  std::vector<Finding> found;
  for (const SharedMemorySpace& space : hosts) {
    const std::uint64_t own = kPerRank * static_cast<std::uint64_t>(space.ranks);
    if (!space.unshared.empty()) {
      found.push_back(warning("shared memory",
                              space.unshared + "; each keeps its own copy of the model and of the samples",
                              "run all ranks of a host in one container"));
    }
    if (space.ranks > 1 && space.total < own) {
      const std::string instead =
          space.folder == "/dev/shm" ? "" : fmt::format("; messages use files in {}", space.folder);
      found.push_back(warning("shared memory",
                              fmt::format("{}: /dev/shm has only {} for {} ranks{}", space.host,
                                          format_bytes(space.total), space.ranks, instead),
                              fmt::format("mount -o remount,size={0}m /dev/shm (as root), docker run "
                                          "--shm-size={0}m",
                                          (own >> 20) + 1)));
    }
    if (space.reading_refused.empty()) continue;
    const bool used = space.copies == "cma";
    found.push_back(
        {used ? Severity::kWarning : Severity::kNote, "cma",
         fmt::format("{}: ranks cannot read each other's memory ({}){}", space.host, space.reading_refused,
                     used ? ", but Open MPI is set to do so" : "; Convoke uses shared memory instead"),
         used ? "unset OMPI_MCA_btl_vader_single_copy_mechanism, or allow it: sysctl "
                "kernel.yama.ptrace_scope=0, docker run --cap-add=SYS_PTRACE"
              : ""});
  }
  if (found.empty() && !hosts.empty()) {
    const SharedMemorySpace& first = hosts.front();
    found.push_back(
        ok("shared memory", fmt::format("shared by the ranks of each host; messages use {}", first.folder)));
  }
  return found;
}

}  // namespace convoke::doctor
