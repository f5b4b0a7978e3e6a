#include "convoke/nn/backend.hpp"

#include <omp.h>

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl_debug.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "convoke/core/error.hpp"

namespace convoke::nn {

Backend backend() {
  const dnnl_version_t& version = *dnnl_version();
  std::string isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
  if (constexpr std::string_view kPrefix = "cpu_isa_"; isa.starts_with(kPrefix)) isa.erase(0, kPrefix.size());
  // oneDNN's names of instruction sets contain the names of the sets that they include.
  const bool avx512 = isa.find("avx512") != std::string::npos || isa.find("avx10") != std::string::npos;
  const bool amx = isa.find("amx") != std::string::npos;
  const bool bf16 = amx || isa.find("bf16") != std::string::npos || isa.find("avx10") != std::string::npos ||
                    isa.find("fp16") != std::string::npos;
  return {.version = fmt::format("{}.{}.{}", version.major, version.minor, version.patch),
          .instruction_set = isa,
          .avx512 = avx512,
          .amx = avx512 && amx,
          .native_bf16 = avx512 && bf16,
          .emulates_bf16 = avx512 && !bf16};
}

void require_precision(Precision precision, bool emulate) {
  const Backend here = backend();
  if (precision == Precision::kFloat32 || here.native_bf16 || (emulate && here.emulates_bf16)) return;
  throw Error(
      fmt::format(
          "this processor does not multiply bf16: it has neither AVX512_BF16 nor AMX (oneDNN uses {})",
          here.instruction_set),
      std::string("compute in fp32: leave out train.precision, or --precision") +
          (here.emulates_bf16 ? "; train.emulate_bf16 = true is possible, but slower than fp32" : ""));
}

void set_primitive_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace convoke::nn
