#pragma once
// Matrices for tests of eigenvalues and singular values, and what decompositions leave over.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "linalg/factors.h"

namespace calque::test {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool is_complex_element = !std::is_same_v<T, Real<T>>;

template <class T>
using Wide = std::conditional_t<is_complex_element<T>, std::complex<long double>, long double>;
template <class T>
Wide<T> wide(const T& x) {
  return static_cast<Wide<T>>(x);
}
template <class W>
W conjugate(const W& x) {
  if constexpr (is_complex_element<W>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <class T>
bool is_nan(const T& x) {
  return !(std::abs(x) < std::numeric_limits<Real<T>>::infinity());
}

/// All kinds in three scales; complex ones have other imaginary parts.
template <class T>
Batch<T> spectral_matrices(int64_t rows, int64_t columns) {
  const auto re = general_matrices<Real<T>>(rows, columns);
  Batch<T> a{rows, columns, re.count};
  a.elements.resize(re.elements.size());
  for (int64_t m = 0; m < a.count; ++m)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        if constexpr (is_complex_element<T>) {
          a.at(m, i, j) = T(re.at(m, i, j), re.at(m, rows - 1 - i, columns - 1 - j));
        } else {
          a.at(m, i, j) = re.at(m, i, j);
        }
      }
  return a;
}
/// The Hermitian matrices with the lower triangles of these.
template <class T>
Batch<T> hermitian(Batch<T> a) {
  for (int64_t m = 0; m < a.count; ++m)
    for (int64_t i = 0; i < a.rows; ++i) {
      a.at(m, i, i) = T(std::real(a.at(m, i, i)));
      for (int64_t j = 0; j < i; ++j) a.at(m, j, i) = conjugate(a.at(m, i, j));
    }
  return a;
}

/// The results of one equation with or without vectors.
template <class P, class T>
std::vector<AnyArray> spectrum_of(Way way, const Batch<T>& a, bool vectors) {
  const Graph g = [&] {
    Graph graph;
    const Value x = graph.add_input(a.type());
    const Equation& e = graph.append(primitives::get<P>(), {x}, {{"vectors", vectors}});
    graph.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
    return graph;
  }();
  return way == Way::compiled ? run_program(g, {a.array()}) : reference::evaluate(g, std::vector{a.array()});
}

/// Whether in column k of v the first of the components of greatest magnitude is real and positive.
template <class T>
bool has_phase(const Batch<T>& v, int64_t m, int64_t k) {
  Real<T> most = 0;
  for (int64_t i = 0; i < v.rows; ++i) most = std::max(most, std::abs(v.at(m, i, k)));
  const Real<T> eps = std::numeric_limits<Real<T>>::epsilon();
  for (int64_t i = 0; i < v.rows; ++i)
    if (std::abs(v.at(m, i, k)) >= most * (1 - std::sqrt(eps)) * (1 - 4 * eps))
      return std::real(v.at(m, i, k)) > 0 && std::imag(v.at(m, i, k)) == 0;
  return false;
}

/// The greatest |adjoint(v) v - I|.
template <class T>
long double orthogonality_error(const Batch<T>& v, int64_t m) {
  long double most = 0;
  for (int64_t i = 0; i < v.columns; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      Wide<T> sum(i == j ? -1 : 0);
      for (int64_t k = 0; k < v.rows; ++k) sum += conjugate(wide(v.at(m, k, i))) * wide(v.at(m, k, j));
      most = std::isnan(std::abs(sum)) ? std::numeric_limits<long double>::infinity()
                                       : std::max<long double>(most, std::abs(sum));
    }
  return most;
}
template <class T>
Batch<T> adjoint(const Batch<T>& a) {
  Batch<T> out{a.columns, a.rows, a.count, std::vector<T>(a.elements.size())};
  for (int64_t m = 0; m < a.count; ++m)
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < a.columns; ++j) out.at(m, j, i) = conjugate(a.at(m, i, j));
  return out;
}
template <class T>
long double frobenius(const Batch<T>& a, int64_t m) {
  long double size = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) size = std::hypot(size, std::abs(wide(a.at(m, i, j))));
  return size;
}
/// The greatest |u diag(s) adjoint(v) - a|.
template <class T>
long double residual(const Batch<T>& a, const Batch<T>& u, const std::vector<Real<T>>& s, const Batch<T>& v,
                     int64_t m) {
  long double most = 0;
  const int64_t k = u.columns;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) {
      Wide<T> sum = -wide(a.at(m, i, j));
      for (int64_t c = 0; c < k; ++c)
        sum += wide(u.at(m, i, c)) * static_cast<long double>(s[static_cast<size_t>(m * k + c)]) *
               conjugate(wide(v.at(m, j, c)));
      most = std::isnan(std::abs(sum)) ? std::numeric_limits<long double>::infinity()
                                       : std::max<long double>(most, std::abs(sum));
    }
  return most;
}

}  // namespace calque::test
