#pragma once
#include <vector>

namespace convoke::mpi {

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

 private:
  friend class Communicator;
  alignas(8) unsigned char handle_[8];  ///< an MPI_Request, so that starting one does not allocate memory
  std::vector<Request> pieces_;         ///< the pieces after the first, for a count beyond 2^30
};

}  // namespace convoke::mpi
