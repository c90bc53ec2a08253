// The work of differentiating nested control flow, counted in allocations, grows at most with the square of the depth:
// each level hands on the residuals of all deeper ones.
#include <cstdlib>
#include <new>

#include <calque/calque.h>
#include <gtest/gtest.h>

#include "support/sanitizers.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local long allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace calque::test {
namespace {

using T = Tracer<float>;

/// Branches that capture a tracer of the outermost function.
T nested_conds(const T& x, int depth) {
  if (depth == 0) return sin(x);
  return cond(
      sum(x) > 0.1f * static_cast<float>(depth), [=](T y) { return nested_conds(y + x * 0.1f, depth - 1); },
      [=](T y) { return y * 2.0f - x; }, x);
}

/// Allocations while the gradient is recorded.
long in_gradient(int depth) {
  const long before = allocations;
  jit(grad([depth](T x) { return sum(nested_conds(x, depth)); })).trace(spec<float>({4}));
  return allocations - before;
}

TEST(TransformGrowth, OfGradientsOfNestedCondsIsQuadratic) {
  in_gradient(2);
  const long some = in_gradient(30), more = in_gradient(60), most = in_gradient(120);
  EXPECT_LE(more, 4 * some);
  EXPECT_LE(most, 4 * more);
}

}  // namespace
}  // namespace calque::test

#endif
