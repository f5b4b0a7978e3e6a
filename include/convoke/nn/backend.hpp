#pragma once
#include <string>
#include <string_view>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// What runs the primitives.
struct Backend {
  std::string version;          ///< of oneDNN: "2.6.3"
  std::string instruction_set;  ///< what it dispatches to on this machine: "avx512_core_bf16"
  bool native_bf16 = false;     ///< the processor multiplies bf16: AVX512_BF16 or AMX
  bool emulates_bf16 = false;   ///< it has AVX-512, with which oneDNN computes bf16, slower than fp32
  std::string processor_kind;   ///< "intel" or "other"
};

Backend backend();

/// Throws Error if this machine does not compute with `precision`, saying what it has and what to choose
/// instead; `emulate`: oneDNN's emulation will do.
void require_precision(Precision precision, bool emulate);

/// As far as the rule for convolutions tells processors apart.
enum class ProcessorKind { kIntel, kOther };

/// By the vendor that CPUID gives, or $CONVOKE_PROCESSOR ("intel", "other"), which lets one kind compute what
/// the other would. Throws Error if that has another value.
ProcessorKind processor_kind();
std::string_view name_of(ProcessorKind kind);

}  // namespace convoke::nn
