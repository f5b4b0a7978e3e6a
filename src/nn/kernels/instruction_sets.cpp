#include "nn/kernels/instruction_sets.hpp"

#include <string>

#include "convoke/nn/backend.hpp"
#include "nn/kernels/bfloat16.hpp"

namespace convoke::nn {
#if defined(__x86_64__)
namespace {

// The levels x86-64-v3 and -v4, for which Clang has no name here. No processor has these without the rest.
bool has_level_3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_level_4() {
  return has_level_3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

InstructionSet choose() {
  const Backend here = backend();
  __builtin_cpu_init();
  if (here.avx512 && has_level_4()) return InstructionSet::kAvx512;
  const bool avx2 = here.avx512 || here.instruction_set.find("avx2") != std::string::npos;
  return avx2 && has_level_3() ? InstructionSet::kAvx2 : InstructionSet::kBaseline;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet set = choose();
  return set;
}
const bool kRoundsToBf16 = __builtin_cpu_supports("avx512bf16") != 0;
#else
InstructionSet instruction_set() { return InstructionSet::kBaseline; }
const bool kRoundsToBf16 = false;
#endif

}  // namespace convoke::nn
