#include "nn/zoo/zoo.hpp"

#include "nn/zoo/blocks.hpp"

namespace convoke::nn {

Symbol lenet5(Symbol x, const ZooOptions& options) {
  // The paper centers digits of 28 x 28 in 32 x 32; here the padding of C1 does this.
  x = tanh(apply(Conv2d({.filters = 6, .kernel = 5, .padding = Padding::by(2)}), x, "c1"));
  x = average_pool(x);
  x = tanh(apply(Conv2d({.filters = 16, .kernel = 5}), x, "c3"));
  x = average_pool(x);
  x = tanh(apply(Dense({.units = 120}), flatten(x), "c5"));
  x = tanh(apply(Dense({.units = 84}), x, "f6"));
  return head(x, options);
}

}  // namespace convoke::nn
