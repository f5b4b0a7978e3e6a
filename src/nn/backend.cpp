#include "convoke/nn/backend.hpp"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl_debug.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace convoke::nn {

Backend backend() {
  const dnnl_version_t& version = *dnnl_version();
  std::string isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
  if (constexpr std::string_view kPrefix = "cpu_isa_"; isa.starts_with(kPrefix)) isa.erase(0, kPrefix.size());
  return {fmt::format("{}.{}.{}", version.major, version.minor, version.patch), isa};
}

}  // namespace convoke::nn
