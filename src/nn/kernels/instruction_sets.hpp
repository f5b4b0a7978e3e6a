#pragma once

namespace convoke::nn {

/// The instruction sets for which the kernels of this folder are compiled: what every processor of the
/// architecture has, x86-64-v3 and x86-64-v4.
enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

/// The set for which the including file is compiled (CMakeLists.txt).
#ifdef CONVOKE_INSTRUCTION_SET
constexpr auto kThisSet = InstructionSet::CONVOKE_INSTRUCTION_SET;
#else
constexpr auto kThisSet = InstructionSet::kBaseline;
#endif

/// Returns the set of the kernels that are used here: the best of those that this processor has and that
/// oneDNN uses. The environment variable ONEDNN_MAX_CPU_ISA (SSE41, AVX2, ...) therefore limits both.
InstructionSet instruction_set();

/// Returns the kernels of a family, a struct of function pointers, for a set. Every file of kernels
/// specializes it for the set for which it is compiled. All else in these files is local, or always inlined:
/// the linker keeps one copy of an inline function, which may be the one for AVX-512.
/// test/nn/instruction_sets.cmake checks this.
template <InstructionSet kSet, class Kernels>
Kernels kernels_for();

/// Specializes it for a family of kernels that are templates over the stored type, float or Bf16. The
/// functions follow in the order of the family's members: CONVOKE_KERNELS(DropoutKernels, forward, backward)
#define CONVOKE_KERNELS(Family, ...)      \
  template <>                             \
  Family<float> kernels_for<kThisSet>() { \
    return {__VA_ARGS__};                 \
  }                                       \
  template <>                             \
  Family<Bf16> kernels_for<kThisSet>() {  \
    return {__VA_ARGS__};                 \
  }

/// Returns the kernels of a family for `set`, which this processor must have.
template <class Kernels>
Kernels kernels_of(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::kAvx512) return kernels_for<InstructionSet::kAvx512, Kernels>();
  if (set == InstructionSet::kAvx2) return kernels_for<InstructionSet::kAvx2, Kernels>();
#endif
  return kernels_for<InstructionSet::kBaseline, Kernels>();
}

/// Returns the kernels of a family that are used here.
template <class Kernels>
const Kernels& kernels() {
  static const Kernels chosen = kernels_of<Kernels>(instruction_set());
  return chosen;
}

}  // namespace convoke::nn
