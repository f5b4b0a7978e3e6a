#include "convoke/nn/threads.hpp"

#include <omp.h>

namespace convoke::nn {

void set_primitive_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace convoke::nn
