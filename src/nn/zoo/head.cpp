#include "nn/zoo/head.hpp"

#include "convoke/nn/layers/dense.hpp"

namespace convoke::nn {

Symbol head(Symbol features, const ZooOptions& options, const Initializers& initializers) {
  if (!options.head) return features;
  return apply(Dense({.units = options.classes, .initializers = initializers}), features, "predictions");
}

}  // namespace convoke::nn
