// The first program: a lambda called with arrays. The first call traces and compiles, later calls only run.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <calque/calque.h>

namespace cq = calque;

int main() {
  auto f = cq::jit([](auto x, auto w) { return tanh(matmul(x, w)); });
  cq::Array<float> x = {{1, 2, 3}, {4, 5, 6}};
  cq::Array<float> w = {{0.1, -0.2}, {0.3, 0.4}, {-0.5, 0.6}};

  cq::Array<float> y = f(x, w);
  std::cout << "f(x, w) =\n" << y << "\nas a graph:\n" << f.trace(x, w);

  // Arrays can also be computed with directly, one compiled operation at a time.
  const bool same = cq::allclose(y, tanh(matmul(x, w)));

  // Same types and shapes: no new trace. Other shapes: one more.
  f(x + 1, w);
  f(w, x);
  const cq::CacheInfo info = f.cache_info();
  std::cout << info.hits << " hit, " << info.misses << " misses\n";

  // Scalars are arrays of rank 0; a one-element result converts to its C++ type.
  double p = cq::jit([](auto v) { return v * v + 2.0 * v + 1.0; })(3.0);

  const bool right =
      same && info.hits == 1 && info.misses == 2 && p == 16.0 && std::abs(y(0, 0) - std::tanh(-0.8f)) < 1e-6f;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
