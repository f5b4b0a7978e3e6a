// A program outside Convoke's tree: builds a small graph, prints its summary, and asks MPI who it is.
#include <convoke/mpi/session.hpp>
#include <convoke/nn/graph.hpp>
#include <convoke/nn/layers/activation.hpp>
#include <convoke/nn/layers/conv2d.hpp>
#include <convoke/nn/layers/dense.hpp>
#include <convoke/nn/layers/pool.hpp>
#include <convoke/nn/layers/reshape.hpp>
#include <iostream>

using namespace convoke;

int main() {
  const mpi::Session session;
  nn::Graph graph({1, 28, 28});
  nn::Symbol x = relu(conv2d(input(graph), {.filters = 8, .kernel = 3}));
  x = max_pool(x);
  x = dense(flatten(x), {.units = 10});
  std::cout << graph.summary() << "rank " << session.world().rank() << " of " << session.world().size()
            << "\n";
}
