#pragma once
#include <string>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// The library and the instructions that run the primitives.
struct Backend {
  std::string version;          ///< of oneDNN: "2.6.3"
  std::string instruction_set;  ///< that it uses on this machine: "avx512_core_bf16"
  bool avx512 = false;          ///< that is AVX-512 or above
  bool native_bf16 = false;     ///< the processor multiplies bf16: AVX512_BF16 or AMX
  bool emulates_bf16 = false;   ///< it has AVX-512, with which oneDNN computes bf16, slower than fp32
};

Backend backend();

/// Throws Error if this machine does not compute with `precision`, naming what it has and the alternative;
/// `emulate`: oneDNN's emulation will do.
void require_precision(Precision precision, bool emulate);

/// Sets how many threads a primitive uses that is compiled or run by the calling thread. Workers that each
/// run whole lanes call this with 1 before they compile anything.
void set_primitive_threads(int threads);
inline void single_threaded() { set_primitive_threads(1); }

}  // namespace convoke::nn
