#include "convoke/mpi/request.hpp"

#include <mpi.h>

#include <cassert>
#include <cstring>
#include <exception>
#include <utility>

namespace convoke::mpi {
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
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  store(handle_, request);
  for (Request& piece : pieces_) done &= static_cast<int>(piece.test());
  return done != 0;
}

void Request::wait() {
  MPI_Request request = load(handle_);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  store(handle_, request);
  for (Request& piece : pieces_) piece.wait();
  pieces_.clear();
}

}  // namespace convoke::mpi
