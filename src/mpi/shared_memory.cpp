#include "convoke/mpi/shared_memory.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <exception>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/pulse.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/environment.hpp"
#include "mpi/check.hpp"

namespace convoke::mpi {

struct SharedMemory::State {
  explicit State(const Communicator& ranks) : node(ranks) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  Communicator node;
  std::span<std::byte> bytes;
  AlignedBuffer<std::byte> own;  ///< memory on a node with one rank
  MPI_Win window = MPI_WIN_NULL;
  int exceptions = std::uncaught_exceptions();
};

// Freeing a window waits for the other ranks of the node. While an exception unwinds, they are in other
// calls, and the job is about to be aborted: waiting for them would suppress its message.
SharedMemory::State::~State() {
  if (window == MPI_WIN_NULL || std::uncaught_exceptions() > exceptions) return;
  const PeerWait wait("the end of shared memory");
  check(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
  check(MPI_Win_free(&window), "MPI_Win_free");
}

SharedMemory::SharedMemory(const Communicator& node, std::size_t bytes)
    : state_(std::make_unique<State>(node)) {
  if (node.size() == 1) {
    state_->own = AlignedBuffer<std::byte>(bytes);
    state_->bytes = state_->own.span();
    return;
  }

  // The owner allocates the whole block; the others ask for its address.
  constexpr std::size_t kAlignment = AlignedBuffer<std::byte>::kAlignment;
  const MPI_Comm comm = MPI_Comm_f2c(node.fortran_handle());
  const auto size = static_cast<MPI_Aint>(owner() ? bytes + kAlignment : 0);
  void* base = nullptr;
  const PeerWait wait("shared memory");
  const int result =
      MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &state_->window);
  if (result != MPI_SUCCESS) {
    // Perhaps only on this rank, while the others wait for it.
    Session::abort(Error(fmt::format("cannot share {} of memory among the {} ranks of host {}",
                                     format_bytes(bytes), node.size(), os::host_name()),
                         "enlarge /dev/shm (docker run --shm-size=2g), or let Open MPI put it on a disk:\n"
                         "        export OMPI_MCA_osc_sm_backing_directory=/tmp"));
  }
  MPI_Aint total = 0;
  int unit = 0;
  check(MPI_Win_set_errhandler(state_->window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(MPI_Win_shared_query(state_->window, 0, &total, &unit, static_cast<void*>(&base)),
        "MPI_Win_shared_query");
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, state_->window), "MPI_Win_lock_all");
  std::size_t room = static_cast<std::size_t>(total);
  void* aligned = std::align(kAlignment, bytes, base, room);
  state_->bytes = {static_cast<std::byte*>(aligned), bytes};
}

SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::span<std::byte> SharedMemory::bytes() const { return state_->bytes; }
bool SharedMemory::owner() const { return state_->node.root(); }

void SharedMemory::publish() const {
  if (state_->window == MPI_WIN_NULL) return;
  check(MPI_Win_sync(state_->window), "MPI_Win_sync");
  state_->node.barrier();
  check(MPI_Win_sync(state_->window), "MPI_Win_sync");
}

}  // namespace convoke::mpi
