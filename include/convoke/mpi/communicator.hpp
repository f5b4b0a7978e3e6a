#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convoke::mpi {

/// The tags of all messages between two ranks. Each belongs to one exchange, so that a message never reaches
/// another one. They begin at a number that other programs in the same communicator hardly use, and are below
/// the smallest MPI_TAG_UB, 32767.
enum class Tag : int {
  kGather = 7400,     ///< Communicator::gather
  kPrinted,           ///< mpi::Session: rank 0 has printed its error
  kRootClock,         ///< mpi::read_root_clock
  kStopCall,          ///< run::StopCalls
  kTrace,             ///< run::write_trace
  kStragglerLink,     ///< run::measure_node_links
  kAskMember,         ///< train::MemberQueue: a group is free
  kMember,            ///< train::MemberQueue: the member that it trains next
  kMemberParameters,  ///< train::MemberExchange
  kHostClock,         ///< doctor: the clocks of hosts
  kNeighbor,          ///< doctor: the memory of the neighbor
  kLink,              ///< doctor: the links between hosts
  kPackedSum,         ///< sync::PackedSum
};

/// A non-blocking operation. Move only; wait for it before it is destroyed.
class Request {
 public:
  Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// True if the operation is done (or was never started); makes progress on all operations.
  bool test();
  void wait();
  /// Either of them: true if the operation is done, after a wait or at once.
  bool over(bool wait) {
    if (!wait) return test();
    this->wait();
    return true;
  }

 private:
  friend class Communicator;
  alignas(8) unsigned char handle_[8];  ///< an MPI_Request, so that starting one does not allocate memory
  std::vector<Request> pieces_;         ///< the pieces after the first, for a count beyond 2^30
};

/// An MPI communicator without MPI's types: only src/mpi sees <mpi.h>. Copies share the communicator; one
/// made by split() is freed with its last copy, or later if an exception destroys it. Counts beyond 2^31 are
/// sent in pieces. An empty span is skipped, so it must be empty on all ranks. Errors of MPI end the job, as
/// every MPI library does in practice.
class Communicator {
 public:
  /// Wraps a communicator that the caller keeps: wrap(MPI_Comm_c2f(comm)).
  static Communicator wrap(int fortran_handle);

  int rank() const;
  int size() const;
  bool root() const { return rank() == 0; }
  int fortran_handle() const;

  /// Ranks with equal `color` (>= 0) form a group, ordered by `key`. Collective, like all functions below
  /// except point to point.
  Communicator split(int color, int key) const;
  /// The ranks that share memory with this one, in their order here.
  Communicator split_node() const;

  /// Frees the communicators whose last copies an exception has destroyed: until a handler knows that all
  /// their ranks have thrown (GroupError), the others may be in other calls. Collective over each of them.
  static void free_abandoned();

  void barrier() const;
  Request start_barrier() const;
  /// Reduce in place; every rank gets the sum / maximum / minimum.
  void sum(std::span<float> values) const;
  void sum(std::span<double> values) const;
  void sum(std::span<std::int64_t> values) const;
  void max(std::span<double> values) const;
  void min(std::span<double> values) const;
  /// Starts an in-place sum; the memory must exist until the request is done.
  Request start_sum(std::span<float> values) const;
  Request start_sum(std::span<std::int64_t> values) const;
  /// Start to send block r of `blocks` to rank r and to receive rank r's block for this rank as block r of
  /// `received`; to receive block r of `blocks` from rank r, which has it. All blocks have the same size,
  /// below 2^31 bytes; the spans have one block for each rank. The memory must exist until the request is
  /// done.
  Request start_all_to_all(std::span<const std::byte> blocks, std::span<std::byte> received) const;
  Request start_all_gather(std::span<std::byte> blocks) const;
  void broadcast(std::span<std::byte> bytes, int root = 0) const;
  std::string broadcast(std::string text, int root = 0) const;
  /// Returns the `bytes` of all ranks, by rank, at the root; empty elsewhere. Sizes may differ.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root = 0) const;
  std::vector<std::string> gather(const std::string& text, int root = 0) const;
  /// Point to point: both sides must know the size.
  void send(std::span<const std::byte> bytes, int to, Tag tag) const;
  void receive(std::span<std::byte> bytes, int from, Tag tag) const;
  /// The memory must exist until the request is done.
  Request start_send(std::span<const std::byte> bytes, int to, Tag tag) const;
  /// As start_send; below 2^30 bytes the message may be shorter than `bytes`.
  Request start_receive(std::span<std::byte> bytes, int from, Tag tag) const;
  /// Returns the rank from which a message can be received, or none. Makes progress.
  std::optional<int> sender_of(Tag tag) const;

 private:
  struct State;
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}
  template <class Begin>
  static Request start_one(Begin begin);
  template <class T, class Begin>
  static Request start(std::span<T> values, Begin begin);
  template <class T>
  Request start_sum_of(std::span<T> values) const;
  template <class T, class Operation>
  void reduce(std::span<T> values, Operation operation) const;

  std::shared_ptr<State> state_;
  friend class Session;
  friend class SharedMemory;
};

}  // namespace convoke::mpi
