// A program with the component `mpi` of the installed package, as a job of one process or more. Its exit status tells
// whether the results were correct.
#include <cstdlib>
#include <iostream>

#include <calque/mpi.h>

namespace cq = calque;

int main(int argc, char** argv) {
  cq::mpi::Session session(argc, argv);
  const auto world = cq::mpi::world();
  auto total = cq::jit([world](auto x) { return cq::mpi::allreduce(x * x, world); });
  const cq::Array<double> y = total(cq::Array<double>{1, 2});
  if (world.rank() == 0) std::cout << y << '\n';
  return y(1) == 4.0 * world.size() ? EXIT_SUCCESS : EXIT_FAILURE;
}
