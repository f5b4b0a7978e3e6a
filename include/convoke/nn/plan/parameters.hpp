#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Which convolution algorithm a plan may use; kAuto decides by shape, instruction set and kind of processor,
/// never by a timing.
enum class ConvolutionChoice { kAuto, kDirect, kWinograd };

/// What activations, their gradients and the working copy of the weights are stored as. Parameters, their
/// gradients, statistics and the loss are fp32 always.
enum class Precision { kFloat32, kBfloat16 };

/// Where one parameter lies in the arena.
struct ParameterSlot {
  std::string name;      ///< "conv2d_1.weight"
  std::size_t node = 0;  ///< index in the graph
  ParameterSpec spec;
  std::size_t offset = 0;  ///< in floats, a multiple of 16 (64 bytes)
  std::size_t size = 0;    ///< in floats, in the plan's layout; may exceed the canonical size by padding
};

/// How the parameters of a graph lie in one arena. First the trainable ones in the order in which backward
/// finishes their gradients (so a bucket of the exchange is a contiguous slice), each in oneDNN's own layout;
/// then the statistics; then the frozen ones, which have no gradients (in the gradient arena the step's
/// tallies may stand there). A pure function of graph, lane size, convolution choice, instruction set and
/// kind of processor. Immutable and shared by all plans of a rank.
class ParameterLayout {
 public:
  /// `lane`: samples per lane, as the plans that will use this layout. `training` false: for plans of
  /// inference alone; such a network need not end in a vector of classes.
  ParameterLayout(const Graph& graph, std::int64_t lane,
                  ConvolutionChoice convolution = ConvolutionChoice::kAuto,
                  Precision precision = Precision::kFloat32, bool training = true);
  ~ParameterLayout();

  std::span<const ParameterSlot> slots() const { return slots_; }
  /// The slot called `name`. Throws Error if there is none.
  const ParameterSlot& slot(const std::string& name) const;

  std::size_t trainable_size() const {
    return trainable_size_;
  }                                                             ///< floats [0, trainable_size) are optimised
  std::size_t gradient_size() const { return gradient_size_; }  ///< floats of those and of the statistics
  std::size_t size() const { return size_; }                    ///< floats of all, the frozen ones too
  /// Differs when two layouts differ, or the algorithms that kAuto chooses: compared between ranks at start.
  std::uint64_t hash() const { return hash_; }

  /// canonical (spec.shape.elements() floats) -> its place in `arena` (size() floats).
  void pack(const ParameterSlot& slot, std::span<const float> canonical, std::span<float> arena) const;
  /// The inverse of pack.
  void unpack(const ParameterSlot& slot, std::span<const float> arena, std::span<float> canonical) const;

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

/// Initial values (size() floats): weights by each spec's initializer with random numbers keyed by (seed,
/// parameter), running variances 1. The same for any number of ranks and threads.
AlignedBuffer<float> initial_parameters(const ParameterLayout& layout, std::uint64_t seed);

}  // namespace convoke::nn
