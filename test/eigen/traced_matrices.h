#pragma once
// Matrices of tracers compared with matrices of numbers. The comparison is not a template, since Eigen's arithmetic on
// tracers takes long enough to compile.
#include <gtest/gtest.h>

#include "calque/eigen.h"

#include "classes/traced.h"

namespace calque::test {

using TD = Tracer<double>;
template <int R, int C = R>
using TMatrix = Eigen::Matrix<TD, R, C>;
template <int N>
using TVector = Eigen::Matrix<TD, N, 1>;

inline AnyArray any_of(const Eigen::MatrixXd& m) { return dense<Eigen::MatrixXd>::copy(m); }

inline Eigen::MatrixXd sample(int rows, int columns) {
  Eigen::MatrixXd m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = std::sin(1.0 + 3 * i + 7 * j) + (i == j ? 2 : 0);
  }
  return m;
}
template <class M>
auto plain(const M& m) {
  return typename M::PlainObject(m);
}

/// A function of one tracer, so that code shared by the lambdas is compiled once.
using TracedFunction = std::function<TD(TD)>;

inline Graph graph_of(const TracedFunction& f, const AnyArray& x) {
  detail::TraceResult result = detail::trace_graph(
      "test", std::vector<Type>{x.type()}, [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& out) {
        out.push_back(f(TD(in[0])).handle());
      });
  EXPECT_TRUE(result.captures.empty());
  result.graph.verify("test");
  return std::move(result.graph);
}
/// The result by the reference evaluator.
inline AnyArray result_of(const TracedFunction& f, const AnyArray& x) {
  return reference::evaluate(graph_of(f, x), std::vector<AnyArray>{x})[0];
}

inline void expect_close(const AnyArray& got, const AnyArray& want) {
  EXPECT_EQ(got.type(), want.type());
  EXPECT_TRUE(allclose(got.as<double>(), want.as<double>(), 1e-12, 1e-12)) << got << "\n" << want;
}

/// Checks what a function of one tracer gives for `m`; a vector counts as a column.
inline void expect_result(const TracedFunction& f, const Eigen::MatrixXd& m, const Eigen::MatrixXd& want) {
  const Array<double> got = result_of(f, any_of(m)).as<double>();
  expect_close(reshape(got, std::vector<int64_t>{int64_t{want.rows()}, int64_t{want.cols()}}).any(), any_of(want));
}
/// Checks what a function of a matrix of tracers of type M gives for `m`.
template <class M, class F>
void expect_of(const F& f, const Eigen::MatrixXd& m, const Eigen::MatrixXd& want) {
  expect_result([&](TD x) { return TD(f(M(x))); }, m, want);
}
inline Eigen::MatrixXd one_number(double x) { return Eigen::MatrixXd::Constant(1, 1, x); }

/// Checks that `f` gives the same on matrices of tracers and on matrices of numbers.
template <int R, int C, class F>
void expect_as_numbers(const F& f, const Eigen::MatrixXd& m) {
  const auto want = f(Eigen::Matrix<double, R, C>(m));
  using W = std::remove_cvref_t<decltype(want)>;
  AnyArray wanted;
  if constexpr (std::is_arithmetic_v<W>) {
    wanted = Array<double>(want);
  } else {
    wanted = dense<W>::copy(want);
  }
  expect_close(result_of([&](TD x) { return TD(f(TMatrix<R, C>(x))); }, any_of(m)), wanted);
}

}  // namespace calque::test
