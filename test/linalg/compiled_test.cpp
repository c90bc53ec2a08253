// Generated code against the reference, element by element: infinities and NaN planted at random lead to the same ones
// in the results, numbers differ by roundings. Also with every input scheduled for a GPU.
#include <gtest/gtest.h>

#include "linalg/systems.h"
#include "primitives/linalg/batched_cholesky.h"
#include "primitives/linalg/triangular_solve.h"
#include "transform/linalg/expand_linalg.h"

namespace calque::test {
namespace {

constexpr int64_t kMost = transform::kMostExpandedRows;
constexpr int64_t kBatches[] = {0, 1, 7, 100};

/// Replaces about one number in 40 by a corner value.
template <class T>
void plant(std::vector<T>& numbers, Rng& rng) {
  using L = std::numeric_limits<T>;
  const T corners[] = {L::infinity(), -L::infinity(), L::quiet_NaN(), T(0), T(-0.0)};
  for (T& x : numbers)
    if (rng.below(40) == 0) x = rng.pick(corners);
}

template <class T>
std::string compiled_difference(const Graph& g, const std::vector<AnyArray>& inputs, double size) {
  const double tolerance = 64 * size * static_cast<double>(std::numeric_limits<T>::epsilon());
  const AnyArray want = reference::evaluate(g, inputs)[0];
  const std::string native = difference(run_native(g, inputs)[0], want, tolerance, tolerance);
  if (!native.empty()) return native;
  const std::string scheduled =
      difference(run_scheduled(g, inputs, kernel::GpuLimits{})[0], want, tolerance, tolerance);
  return scheduled.empty() ? "" : "for a GPU: " + scheduled;
}

template <class T>
void check_cholesky(int64_t n, int64_t batch, Rng& rng) {
  Matrices<T> a{.n = n};
  for (int64_t m = 0; m < batch; ++m) add_definite(a, Kind::random, 1, rng);
  for (int64_t m = 0; m < a.count() && n > 0; ++m)  // one in four has a negative pivot
    if (rng.chance(25)) a.at(m, n - 1, n - 1) = -1;
  plant(a.elements, rng);
  const Shape shape{batch, n, n};
  const Graph g = graph_of<primitives::Cholesky>({{dtype_of<T>, shape}});
  EXPECT_EQ(compiled_difference<T>(g, {a.array(shape)}, static_cast<double>(n * n)), "")
      << "cholesky of " << to_string(Type{dtype_of<T>, shape});
}

TEST(CompiledLinalg, CholeskyEqualsTheReference) {
  Rng rng(11);
  for (int64_t n = 0; n <= kMost; ++n) {
    for (const int64_t batch : kBatches) {
      check_cholesky<float>(n, batch, rng);
      check_cholesky<double>(n, batch, rng);
    }
  }
}

template <class T>
void check_batched_cholesky(int64_t n, int64_t batch, bool add_transpose, Rng& rng) {
  Matrices<T> a{.n = n};
  for (int64_t m = 0; m < batch; ++m) add_definite(a, Kind::random, 1, rng);
  for (int64_t m = 0; m < a.count(); ++m)
    if (rng.chance(25)) a.at(m, n - 1, n - 1) = -1;
  if (rng.chance(50)) plant(a.elements, rng);
  const Shape shape{batch, n, n};
  const Graph g = graph_of<primitives::BatchedCholesky>({{dtype_of<T>, shape}}, {{"add_transpose", add_transpose}});
  EXPECT_EQ(compiled_difference<T>(g, {a.array(shape)}, static_cast<double>(n * n)), "") << print(g);
}

TEST(CompiledLinalg, CholeskyInLocalBuffersEqualsTheReference) {
  Rng rng(12);
  for (const int64_t n : {1, 2, 4, 7, 13, 16, 17, 31, 32, 64}) {
    for (const int64_t batch : {0, 1, 7, 16, 37, 100}) {
      check_batched_cholesky<float>(n, batch, rng.chance(50), rng);
      check_batched_cholesky<double>(n, batch, rng.chance(50), rng);
    }
  }
}

template <class T>
void check_solve(int64_t n, int64_t batch, const primitives::TriangularForm& form, Rng& rng) {
  const int64_t columns = rng.between(1, 3);
  std::vector<T> a, b;
  // Small elements beside the diagonal keep the systems well conditioned.
  for (int64_t i = 0; i < batch * n * n; ++i) {
    const bool on_diagonal = i / n % n == i % n;
    a.push_back(static_cast<T>(on_diagonal ? 1.5 + 0.5 * even(rng) : even(rng) / static_cast<double>(n)));
  }
  for (int64_t i = 0; i < batch * n * columns; ++i) b.push_back(static_cast<T>(even(rng)));
  plant(a, rng);
  plant(b, rng);
  const Shape matrices{batch, n, n}, sides{batch, n, columns};
  const Graph g =
      graph_of<primitives::TriangularSolve>({{dtype_of<T>, matrices}, {dtype_of<T>, sides}}, form.attributes());
  const std::vector<AnyArray> inputs = {AnyArray::from(std::span<const T>(a), matrices),
                                        AnyArray::from(std::span<const T>(b), sides)};
  EXPECT_EQ(compiled_difference<T>(g, inputs, static_cast<double>(n + 1)), "") << print(g);
}

TEST(CompiledLinalg, TriangularSolveEqualsTheReference) {
  Rng rng(12);
  for (int64_t n = 0; n <= kMost; ++n) {
    for (int flags = 0; flags < 8; ++flags) {
      const primitives::TriangularForm form(flags & 1, flags & 2, flags & 4);
      const int64_t batch = rng.pick(kBatches);
      check_solve<float>(n, batch, form, rng);
      check_solve<double>(n, rng.pick(kBatches), form, rng);
    }
  }
}

}  // namespace
}  // namespace calque::test
