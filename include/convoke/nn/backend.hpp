#pragma once
#include <string>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// oneDNN and the instructions that its primitives use on this machine.
struct Backend {
  std::string version;          ///< oneDNN's version: "2.6.3"
  std::string instruction_set;  ///< the instruction set that oneDNN uses: "avx512_core_bf16"
  bool avx512 = false;          ///< the instruction set is AVX-512 or above
  bool amx = false;             ///< it multiplies bf16 in tiles
  bool native_bf16 = false;     ///< the processor multiplies bf16: AVX512_BF16 or AMX
  /// the processor has AVX-512, with which oneDNN computes bf16, slower than fp32
  bool emulates_bf16 = false;
};

Backend backend();

/// Throws Error if this machine cannot compute with `precision`. The message names what the machine has and
/// the alternative. `emulate`: oneDNN's emulation is accepted.
void require_precision(Precision precision, bool emulate);

/// Sets how many threads a primitive uses that the calling thread compiles or runs. Workers that each run
/// whole micro-batches call this with 1 before they compile a plan.
void set_primitive_threads(int threads);
inline void single_threaded() { set_primitive_threads(1); }

}  // namespace convoke::nn
