#pragma once
#include <string>

namespace convoke::nn {

/// What runs the primitives.
struct Backend {
  std::string version;          ///< of oneDNN: "2.6.3"
  std::string instruction_set;  ///< what it dispatches to on this machine: "avx512_core_bf16"
};

Backend backend();

}  // namespace convoke::nn
