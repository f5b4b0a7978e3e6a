#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace convoke::sync {

/// The type in which gradients are sent between nodes.
enum class Wire { kFloat32, kBfloat16 };

struct ExchangeOptions {
  std::size_t bucket_bytes = 0;  ///< approximate size of a bucket; 0: chosen by the size of the exchange
  Wire wire = Wire::kFloat32;    ///< of the floats that may be sent as bf16
  /// The smallest exchange that gets a thread for progress (engine::GradientSums), in bytes; none: no
  /// exchange gets one.
  std::optional<std::size_t> progress_thread_bytes = std::size_t{16} << 20;
};

/// The type of the numbers that a bucket sends.
enum class Number { kFloat32, kBfloat16, kFixed64 };
/// Returns the bytes of a number in memory.
std::size_t bytes_of(Number number);
/// Returns the bytes of a number in the messages of a sum in slices. Fixed point is sent packed (PackedSum):
/// 34 bits were measured for the gradients of both CNNs on MNIST in their first epoch, and fewer later.
double message_bytes(Number number);

/// How the ranks sum a bucket.
enum class Algorithm {
  kSlices,   ///< OrderedSum, PackedSum: each rank adds a slice of all arrays, and sends the sums to all
  kLibrary,  ///< the algorithm of the MPI library
};

/// A slice [begin, end) of an exchange that the ranks sum at a time.
struct Bucket {
  std::size_t begin = 0, end = 0;  ///< elements
  Number wire = Number::kFloat32;
  Algorithm algorithm = Algorithm::kSlices;
  std::size_t size() const { return end - begin; }
};

/// The size of what ranks exchange in a step.
struct ExchangeShape {
  std::size_t elements = 0;
  bool fixed = false;             ///< in fixed point ("exact"), otherwise floats
  std::size_t bf16_elements = 0;  ///< the first so many floats may be sent as bf16
};

/// Cuts an exchange over so many ranks into buckets, in the order in which their sums start. All buckets of a
/// type have the same number of elements, the last one has the rest. A group of one rank has none. A pure
/// function, so all ranks get the same buckets, and a simulation (study::predict_step) those of a real run.
std::vector<Bucket> cut_buckets(const ExchangeShape& shape, const ExchangeOptions& options, int ranks);

/// Returns true if so many ranks sum fp32 and fixed point in slices (OrderedSum, PackedSum); more ranks leave
/// it to the MPI library.
bool sums_in_slices(int ranks);
/// Returns the default size of a bucket in bytes, for an exchange of so many bytes.
std::size_t bucket_bytes_for(std::size_t exchange_bytes);
/// Returns the elements of a slice if so many elements are divided among the ranks; the last slices may be
/// shorter or empty.
std::size_t slice_elements(std::size_t elements, int ranks);

/// The sum of an array over the ranks of a group, which runs in the background in two phases. All ranks start
/// the sums of a group in the same order, and their second phases, too.
class BucketSum {
 public:
  virtual ~BucketSum() = default;
  /// Starts to sum; the array must not change until finish() returns true.
  virtual void start() = 0;
  /// Begins the second phase if the first is over. Returns true if the second phase has begun; with `wait` it
  /// waits for the first.
  virtual bool combine(bool wait) = 0;
  /// Returns true if the array holds the sum; with `wait` it waits for it. Call it after combine() has
  /// returned true.
  virtual bool finish(bool wait) = 0;
  /// Returns the size of its buffers.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace convoke::sync
