#include "convoke/mpi/communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/os/waiting.hpp"
#include "mpi/state.hpp"

namespace convoke::mpi {

namespace {

/// Ends all ranks with an error that names this rank and the call.
[[noreturn]] void end_after_failure(int result, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(result, reason.data(), &length);
  Session::abort(
      Error(fmt::format("{} failed: {}", call, std::string(reason.data(), static_cast<std::size_t>(length))),
            "look at the hosts and the links between them, then continue with convoke train --resume RUN"));
}

/// Ends all ranks if an MPI call has failed: the others wait for this one in the same call, so no rank could
/// agree on an exception.
void check(int result, const char* call) {
  if (result != MPI_SUCCESS) [[unlikely]]
    end_after_failure(result, call);
}

MPI_Datatype type_of(const float*) { return MPI_FLOAT; }
MPI_Datatype type_of(const double*) { return MPI_DOUBLE; }
MPI_Datatype type_of(const std::int64_t*) { return MPI_INT64_T; }

/// Calls act(first element, count) for consecutive pieces that fit MPI's counts; makes no call for an empty
/// span.
template <class T, class Act>
void for_pieces(std::span<T> values, Act act) {
  for (std::size_t first = 0; first < values.size(); first += piece_elements())
    act(values.data() + first, static_cast<int>(std::min(piece_elements(), values.size() - first)));
}

int block_bytes(std::size_t all, int blocks) {
  const std::size_t bytes = all / static_cast<std::size_t>(blocks);
  assert(bytes * static_cast<std::size_t>(blocks) == all && bytes <= std::size_t{INT32_MAX});
  return static_cast<int>(bytes);
}

}  // namespace

std::size_t& piece_elements() {
  static std::size_t elements = std::size_t{1} << 30;
  return elements;
}

Communicator::State::State(MPI_Comm communicator, bool owns)
    : comm(communicator), owned(owns), exceptions(std::uncaught_exceptions()) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

namespace {

std::vector<MPI_Comm>& abandoned() {
  static std::vector<MPI_Comm> communicators;
  return communicators;
}

void free_group(MPI_Comm& comm) {
  const ScopedWait wait("the end of a group");
  MPI_Comm_free(&comm);
}

}  // namespace

// Freeing is collective. While an exception unwinds, the other ranks may be in other calls, and the job about
// to be aborted: waiting for them would suppress its message.
Communicator::State::~State() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!owned || finalized) return;
  if (std::uncaught_exceptions() <= exceptions) {
    free_group(comm);
    return;
  }
  try {
    abandoned().push_back(comm);
  } catch (...) {  // without memory it stays until the end of the job
  }
}

void Communicator::free_abandoned() {
  for (MPI_Comm& comm : abandoned()) free_group(comm);
  abandoned().clear();
}

Communicator Communicator::wrap(int fortran_handle) {
  return Communicator(std::make_shared<State>(MPI_Comm_f2c(fortran_handle), false));
}

int Communicator::rank() const { return state_->rank; }
int Communicator::size() const { return state_->size; }
int Communicator::fortran_handle() const { return MPI_Comm_c2f(state_->comm); }

Communicator Communicator::split(int color, int key) const {
  assert(color >= 0);
  const ScopedWait wait("a division into groups");
  start_barrier().wait();
  MPI_Comm group = MPI_COMM_NULL;
  check(MPI_Comm_split(state_->comm, color, key, &group), "MPI_Comm_split");
  return Communicator(std::make_shared<State>(group, true));
}

Communicator Communicator::split_node() const {
  const ScopedWait wait("a division into nodes");
  start_barrier().wait();
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(state_->comm, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  return Communicator(std::make_shared<State>(node, true));
}

void Communicator::barrier() const {
  const ScopedWait wait("a barrier");
  start_barrier().wait();
}

// MPI's blocking calls keep their core busy. So the wait is in the barrier, and the collective short.
// MPI_Iallreduce may add in another order than MPI_Allreduce.
template <class T, class Operation>
void Communicator::reduce(std::span<T> values, Operation operation) const {
  if (values.empty()) return;
  const ScopedWait wait("a sum over the ranks");
  start_barrier().wait();
  for_pieces(values, [&](T* piece, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, piece, count, type_of(piece), operation, state_->comm),
          "MPI_Allreduce");
  });
}

void Communicator::sum(std::span<float> values) const { reduce(values, MPI_SUM); }
void Communicator::sum(std::span<double> values) const { reduce(values, MPI_SUM); }
void Communicator::sum(std::span<std::int64_t> values) const { reduce(values, MPI_SUM); }
void Communicator::max(std::span<double> values) const { reduce(values, MPI_MAX); }
void Communicator::min(std::span<double> values) const { reduce(values, MPI_MIN); }

// Begins one operation: begin(request).
template <class Begin>
Request Communicator::start_one(Begin begin) {
  Request request;
  MPI_Request handle = MPI_REQUEST_NULL;
  begin(&handle);
  std::copy_n(reinterpret_cast<const unsigned char*>(&handle), sizeof handle, request.handle_);
  return request;
}

// Begins one operation for each piece of `values`: begin(first element, count, request).
template <class T, class Begin>
Request Communicator::start(std::span<T> values, Begin begin) {
  Request whole;
  for_pieces(values, [&](T* piece, int count) {
    const bool first = piece == values.data();
    Request& request = first ? whole : whole.pieces_.emplace_back();
    request = start_one([&](MPI_Request* handle) { begin(piece, count, handle); });
  });
  return whole;
}

template <class T>
Request Communicator::start_sum_of(std::span<T> values) const {
  return start(values, [&](T* piece, int count, MPI_Request* request) {
    check(MPI_Iallreduce(MPI_IN_PLACE, piece, count, type_of(piece), MPI_SUM, state_->comm, request),
          "MPI_Iallreduce");
  });
}

Request Communicator::start_sum(std::span<float> values) const { return start_sum_of(values); }
Request Communicator::start_sum(std::span<std::int64_t> values) const { return start_sum_of(values); }

Request Communicator::start_send(std::span<const std::byte> bytes, int to, Tag tag) const {
  return start(bytes, [&](const std::byte* piece, int count, MPI_Request* request) {
    check(MPI_Isend(piece, count, MPI_BYTE, to, static_cast<int>(tag), state_->comm, request), "MPI_Isend");
  });
}

Request Communicator::start_receive(std::span<std::byte> bytes, int from, Tag tag) const {
  return start(bytes, [&](std::byte* piece, int count, MPI_Request* request) {
    check(MPI_Irecv(piece, count, MPI_BYTE, from, static_cast<int>(tag), state_->comm, request), "MPI_Irecv");
  });
}

Request Communicator::start_barrier() const {
  return start_one([&](MPI_Request* request) { check(MPI_Ibarrier(state_->comm, request), "MPI_Ibarrier"); });
}

Request Communicator::start_all_to_all(std::span<const std::byte> blocks,
                                       std::span<std::byte> received) const {
  assert(blocks.size() == received.size());
  const int bytes = block_bytes(blocks.size(), size());
  return start_one([&](MPI_Request* request) {
    check(MPI_Ialltoall(blocks.data(), bytes, MPI_BYTE, received.data(), bytes, MPI_BYTE, state_->comm,
                        request),
          "MPI_Ialltoall");
  });
}

Request Communicator::start_all_gather(std::span<std::byte> blocks) const {
  const int bytes = block_bytes(blocks.size(), size());
  return start_one([&](MPI_Request* request) {
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks.data(), bytes, MPI_BYTE, state_->comm,
                         request),
          "MPI_Iallgather");
  });
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  for_pieces(bytes, [&](std::byte* piece, int count) {
    const ScopedWait wait("a broadcast");
    start_one([&](MPI_Request* request) {
      check(MPI_Ibcast(piece, count, MPI_BYTE, root, state_->comm, request), "MPI_Ibcast");
    }).wait();
  });
}

std::string Communicator::broadcast(std::string text, int root) const {
  std::uint64_t size = text.size();
  broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  text.resize(size);
  broadcast(std::as_writable_bytes(std::span<char>(text)), root);
  return text;
}

std::vector<std::vector<std::byte>> Communicator::gather(std::span<const std::byte> bytes, int root) const {
  const bool here = rank() == root;
  const std::uint64_t size = bytes.size();
  std::vector<std::uint64_t> sizes(here ? static_cast<std::size_t>(this->size()) : 0);
  {
    const ScopedWait wait("a gathering");
    start_one([&](MPI_Request* request) {
      check(MPI_Igather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, root, state_->comm, request),
            "MPI_Igather");
    }).wait();
  }
  if (!here) {
    send(bytes, root, Tag::kGather);
    return {};
  }
  // Receives one by one, because the displacements of MPI_Gatherv are ints and a gathered ensemble may exceed
  // 2^31 bytes.
  std::vector<std::vector<std::byte>> all(sizes.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (static_cast<int>(r) == root) {
      all[r].assign(bytes.begin(), bytes.end());
    } else {
      all[r].resize(sizes[r]);
      receive(all[r], static_cast<int>(r), Tag::kGather);
    }
  }
  return all;
}

std::vector<std::string> Communicator::gather(const std::string& text, int root) const {
  std::vector<std::string> texts;
  for (const std::vector<std::byte>& bytes : gather(std::as_bytes(std::span<const char>(text)), root))
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return texts;
}

void Communicator::send(std::span<const std::byte> bytes, int to, Tag tag) const {
  for_pieces(bytes, [&](const std::byte* piece, int count) {
    const ScopedWait wait("the receiver of a message");
    start_send({piece, static_cast<std::size_t>(count)}, to, tag).wait();
  });
}

void Communicator::receive(std::span<std::byte> bytes, int from, Tag tag) const {
  for_pieces(bytes, [&](std::byte* piece, int count) {
    const ScopedWait wait("a message");
    start_receive({piece, static_cast<std::size_t>(count)}, from, tag).wait();
  });
}

std::optional<int> Communicator::sender_of(Tag tag) const {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, static_cast<int>(tag), state_->comm, &there, &status), "MPI_Iprobe");
  return there != 0 ? std::optional(status.MPI_SOURCE) : std::nullopt;
}

namespace {

static_assert(sizeof(MPI_Request) <= 8);

// The bytes hold a trivially copyable handle (a pointer in Open MPI, an int in MPICH).
MPI_Request load(const unsigned char* bytes) {
  MPI_Request request;
  std::memcpy(&request, bytes, sizeof request);
  return request;
}

void store(unsigned char* bytes, MPI_Request request) { std::memcpy(bytes, &request, sizeof request); }

}  // namespace

Request::Request() { store(handle_, MPI_REQUEST_NULL); }

Request::Request(Request&& other) noexcept : Request() { *this = std::move(other); }

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  assert(load(handle_) == MPI_REQUEST_NULL);
  store(handle_, load(other.handle_));
  store(other.handle_, MPI_REQUEST_NULL);
  pieces_ = std::move(other.pieces_);
  return *this;
}

// While an exception unwinds, the job is about to be aborted: waiting for the other ranks would suppress its
// message.
Request::~Request() { assert(load(handle_) == MPI_REQUEST_NULL || std::uncaught_exceptions() > 0); }

bool Request::test() {
  MPI_Request request = load(handle_);
  int done = 0;
  check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  store(handle_, request);
  for (Request& piece : pieces_) done &= static_cast<int>(piece.test());
  return done != 0;
}

void Request::wait() {
  const ScopedWait peers("an exchange");
  os::poll_until([this] { return test(); });  // MPI_Wait keeps its core busy
  pieces_.clear();
}

}  // namespace convoke::mpi
