#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Which convolution algorithm a plan may use. kAuto decides by shape, instruction set and kind of processor,
/// never by a timing.
enum class ConvolutionChoice { kAuto, kDirect, kWinograd };

/// The stored type of activations, their gradients and the working copy of the weights. Parameters, their
/// gradients, statistics and the loss are always fp32.
enum class Precision { kFloat32, kBfloat16 };

/// The place of one parameter in the arena.
struct ParameterSlot {
  std::string name;      ///< "conv2d_1.weight"
  std::size_t node = 0;  ///< index in the graph
  ParameterSpec spec;
  std::size_t offset = 0;  ///< in floats, a multiple of 16 (64 bytes)
  std::size_t size = 0;    ///< in floats, in the plan's layout; may exceed the canonical size by padding
};

/// The order in which the parameters of a graph lie in one arena. First come the trainable parameters in the
/// order in which backward finishes their gradients (so a bucket of the exchange is a contiguous slice), each
/// in oneDNN's own layout. Then come the statistics, then the frozen parameters, which have no gradients (in
/// the gradient arena the step's metrics may take that place). The layout is a pure function of graph,
/// micro-batch size, convolution choice, instruction set and kind of processor. Immutable and shared by all
/// plans of a rank.
class ParameterLayout {
 public:
  /// `micro_batch`: samples per micro-batch of the plans that will use this layout. `training` false: for
  /// inference plans only; such a network need not end in a vector of classes. `post_ops`: as in PlanOptions.
  ParameterLayout(const Graph& graph, std::int64_t micro_batch,
                  ConvolutionChoice convolution = ConvolutionChoice::kAuto,
                  Precision precision = Precision::kFloat32, bool training = true, bool post_ops = false);
  ~ParameterLayout();

  std::span<const ParameterSlot> slots() const { return slots_; }
  /// Returns the slot called `name`. Throws Error if there is none.
  const ParameterSlot& slot(const std::string& name) const;

  std::size_t trainable_size() const {
    return trainable_size_;
  }  ///< floats [0, trainable_size) are optimized
  /// floats of the trainable parameters and the statistics
  std::size_t gradient_size() const { return gradient_size_; }
  std::size_t size() const { return size_; }  ///< floats of all parameters, frozen ones included
  /// Differs if the place, the size or the memory format of a parameter differs. Ranks compare it at start.
  std::uint64_t hash() const { return hash_; }

  /// Copies canonical values (spec.shape.elements() floats) to their place in `arena` (size() floats).
  void pack(const ParameterSlot& slot, std::span<const float> canonical, std::span<float> arena) const;
  /// Copies back to canonical values; the inverse of pack.
  void unpack(const ParameterSlot& slot, std::span<const float> arena, std::span<float> canonical) const;
  /// The same for the slot.size floats of one parameter, wherever they are.
  void pack_slot(const ParameterSlot& slot, std::span<const float> canonical, std::span<float> values) const;
  void unpack_slot(const ParameterSlot& slot, std::span<const float> values,
                   std::span<float> canonical) const;

  struct Descriptors;  ///< oneDNN's memory descriptors; private to nn
  const Descriptors& descriptors() const { return *descriptors_; }

 private:
  std::vector<ParameterSlot> slots_;
  std::size_t trainable_size_ = 0;
  std::size_t gradient_size_ = 0;
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0;
  std::unique_ptr<Descriptors> descriptors_;
};

/// Returns the initial values (size() floats): weights from each spec's initializer with random numbers keyed
/// by (seed, parameter), running variances 1. They do not depend on the number of ranks and threads.
AlignedBuffer<float> initial_parameters(const ParameterLayout& layout, std::uint64_t seed);

/// Copies of a rank's weights in the layouts and the type that its primitives need, where these differ from
/// the arena's: bf16, or transposed blocks for a data gradient. They depend on the parameters alone, so they
/// are made once after an update and shared by all plans and threads, instead of once per micro-batch.
class WorkingWeights {
 public:
  /// `parameters`: layout->size() floats, which every refresh reads; must outlive this object.
  WorkingWeights(std::shared_ptr<const ParameterLayout> layout, const float* parameters);
  ~WorkingWeights();
  WorkingWeights(const WorkingWeights&) = delete;
  WorkingWeights& operator=(const WorkingWeights&) = delete;

  /// True if no primitive needs a copy.
  bool empty() const;
  /// Returns the argument of Network::bind. The address never changes.
  const std::byte* data() const;

  /// Makes the copies of part `part` of `parts`. The parts may run at the same time on as many threads.
  /// Allocates nothing.
  void refresh(int part = 0, int parts = 1) const;

 private:
  struct Copies;
  std::unique_ptr<Copies> copies_;
};

/// Returns the bytes of the WorkingWeights of a layout.
std::size_t predict_working_bytes(const ParameterLayout& layout);

}  // namespace convoke::nn
