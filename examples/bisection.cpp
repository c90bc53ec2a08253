// Bisection written as in C++: a loop that data ends, with an if inside. The template runs on double. Jitted with
// branches::trace it runs on tracers, but each root is reached along answers of its own, so each is a path: a run of
// the lambda and evaluation, in place of a native call. The step alone has two paths, and the loop around it is C++ on
// numbers: after two compilations every call is native.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <tuple>
#include <utility>

#include <calque/calque.h>

namespace cq = calque;

namespace {

/// x^3 + x - c, which has one root.
template <class T>
T cubic(const T& x, const T& c) {
  return x * x * x + x - c;
}

/// The half of [low, high] that has the root.
template <class T>
std::pair<T, T> halve(const T& low, const T& high, const T& c) {
  const T middle = 0.5 * (low + high);
  if (cubic(middle, c) > 0.0) return {low, middle};
  return {middle, high};
}

template <class T>
T bisect(T low, T high, const T& c) {
  while (high - low > 1e-6) std::tie(low, high) = halve(low, high, c);
  return 0.5 * (low + high);
}

void print(const char* what, const cq::BranchInfo& info) {
  std::cout << what << ": " << info.traces << " paths, " << info.compilations << " compilations, " << info.open_exits
            << " open exits\n";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
  const cq::JitOptions options{.branches = cq::branches::trace};
  const auto whole = cq::jit([](auto low, auto high, auto c) { return bisect(low, high, c); }, options);
  const auto step = cq::jit([](auto low, auto high, auto c) { return halve(low, high, c); }, options);
  const auto by_steps = [&](double c) {
    double low = 0, high = 2;
    while (high - low > 1e-6) {
      const auto [a, b] = step(low, high, c);
      low = a.item(), high = b.item();
    }
    return 0.5 * (low + high);
  };

  bool right = true;
  double seconds_whole = 0, seconds_steps = 0;
  constexpr int kRoots = 20;
  for (int i = 1; i <= kRoots; ++i) {
    const double c = 0.49 * i, root = bisect(0.0, 2.0, c);
    const auto start = std::chrono::steady_clock::now();
    right &= std::abs(whole(0.0, 2.0, c).item() - root) < 1e-6;
    seconds_whole += seconds_since(start);
    const auto again = std::chrono::steady_clock::now();
    right &= std::abs(by_steps(c) - root) < 1e-6;
    seconds_steps += seconds_since(again);
    right &= std::abs(cubic(root, c)) < 1e-5;
  }
  print("the whole loop", whole.branch_info(0.0, 2.0, 1.0));
  print("one step", step.branch_info(0.0, 2.0, 1.0));
  std::cout << "milliseconds for a root, first calls included: " << 1e3 * seconds_whole / kRoots << " and "
            << 1e3 * seconds_steps / kRoots << '\n';
  const cq::BranchInfo info = step.branch_info(0.0, 2.0, 1.0);
  right &= info.traces == 2 && info.compilations == 2 && info.open_exits == 0;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
