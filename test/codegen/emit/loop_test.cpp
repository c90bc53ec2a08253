// Loops of the code generator: extents near the vector width, all CPU levels, no access out of bounds.
#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

const std::vector<int64_t> kExtents{0, 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 64, 67, 127, 128, 1009};

Program triad(int64_t n, bool vectorize) {
  KernelBuilder k("triad");
  const int32_t a = k.input(DType::f32, 1), x = k.input(DType::f32, n), y = k.input(DType::f32, n);
  const int32_t out = k.output(DType::f32, n);
  const Id scale = k.load(a, k.index(0));
  k.parallel(n, vectorize, [&](Id i) { k.store(out, i, k.add(k.mul(scale, k.load(x, i)), k.load(y, i))); });
  return k.program();
}

TEST(Loop, RunsTriadAtEveryExtent) {
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {false, true})
      for (const int64_t n : kExtents) {
        std::vector<float> xs, ys;
        for (int64_t i = 0; i < n; ++i) {
          xs.push_back(static_cast<float>(i) * 0.5f);
          ys.push_back(static_cast<float>(n - i));
        }
        Guarded<float> a(std::vector<float>{3.0f}), x(xs), y(ys), out(static_cast<size_t>(n));
        run(triad(n, vectorize), {a.data(), x.data(), y.data(), out.data()}, cpu(level));
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(out[static_cast<size_t>(i)], 3.0f * xs[static_cast<size_t>(i)] + ys[static_cast<size_t>(i)])
              << level << " n=" << n << " i=" << i << " vectorize=" << vectorize;
      }
}

}  // namespace
}  // namespace calque::test
