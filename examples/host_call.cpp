// Calls out of compiled code: debug_print shows values when the code runs, host_call calls a C++ function, whose
// exceptions propagate to the caller.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <calque/calque.h>

namespace cq = calque;

/// A function that arrays do not have: the median of the elements.
cq::Array<double> median(const cq::Array<double>& x) {
  std::vector<double> values(x.host().begin(), x.host().end());
  if (values.empty()) throw std::invalid_argument("median: no elements");
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

int main() {
  auto center = cq::jit([](auto x) {
    auto middle = cq::host_call(median, cq::spec<double>({}), x);  // with the result's type and shape
    auto deviations = x - middle;
    cq::debug_print("median {}, deviations {}", middle, deviations);
    return deviations;
  });
  const cq::Array<double> y = center(cq::Array<double>{5, 1, 9, 2, 7});
  bool right = cq::array_equal(y, cq::Array<double>{0, -4, 4, -3, 2});

  // The second call runs the same code, which prints and calls again.
  right &= center(cq::Array<double>{1, 1, 4, 4, 4})(0) == -3.0 && center.cache_info().hits == 1;

  try {
    center(cq::Array<double>::zeros({0}));
    right = false;
  } catch (const std::invalid_argument& error) {
    std::cout << "caught: " << error.what() << '\n';
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
