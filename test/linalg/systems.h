#pragma once
// Matrices for tests of linear algebra, and what a factor or a solution leaves over.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "calque/ir/graph.h"

#include "compile/executable.h"
#include "primitives/list.h"
#include "runtime/call/device_dispatch.h"
#include "support/arrays.h"
#include "support/native.h"
#include "support/random/random.h"

namespace calque::test {

/// In [-1, 1).
inline double even(Rng& rng) { return static_cast<double>(rng.between(-(1 << 20), (1 << 20) - 1)) / (1 << 20); }

/// Matrices, one after the other, of n x n elements each.
template <class T>
struct Matrices {
  int64_t n = 0;
  std::vector<T> elements{};

  T& at(int64_t m, int64_t i, int64_t j) { return elements[static_cast<size_t>((m * n + i) * n + j)]; }
  const T& at(int64_t m, int64_t i, int64_t j) const { return elements[static_cast<size_t>((m * n + i) * n + j)]; }
  int64_t count() const { return n == 0 ? 0 : static_cast<int64_t>(elements.size()) / (n * n); }
  void add_matrix() { elements.resize(elements.size() + static_cast<size_t>(n * n)); }
  AnyArray array(const Shape& shape) const { return AnyArray::from(std::span<const T>(elements), shape); }
};

enum class Kind : uint8_t { random, graded, hilbert };

/// A positive definite matrix, `scale` times one of the kind: random = x x^T + n / 4, graded = d random d with elements
/// of d from 1 to 1e-6, and Hilbert's, which is so in exact arithmetic.
template <class T>
void add_definite(Matrices<T>& to, Kind kind, double scale, Rng& rng) {
  const int64_t n = to.n;
  to.add_matrix();
  const int64_t m = to.count() - 1;
  std::vector<double> x(static_cast<size_t>(n * n));
  for (double& v : x) v = even(rng);
  const auto row = [&](int64_t i) { return x.data() + i * n; };
  const auto grade = [&](int64_t i) {
    return kind == Kind::graded ? std::pow(10.0, -6 * static_cast<double>(i) / static_cast<double>(n)) : 1.0;
  };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = i == j ? 0.25 * static_cast<double>(n) : 0;
      for (int64_t k = 0; k < n; ++k) sum += row(i)[k] * row(j)[k];
      if (kind == Kind::hilbert) sum = 1 / static_cast<double>(i + j + 1);
      to.at(m, i, j) = to.at(m, j, i) = static_cast<T>(scale * grade(i) * grade(j) * sum);
    }
  }
}

/// The largest |a - l l^T| of matrix m, in units of eps sqrt(a_ii a_jj); infinite if it is not a number, or l has
/// elements above the diagonal.
template <class T>
double cholesky_residual(const Matrices<T>& a, const Matrices<T>& l, int64_t m) {
  double most = 0;
  const auto fail = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < a.n; ++i) {
    for (int64_t j = 0; j < a.n; ++j) {
      if (j > i) {
        if (l.at(m, i, j) != 0) return fail;
        continue;
      }
      long double sum = a.at(m, i, j);
      for (int64_t k = 0; k <= j; ++k) {
        sum -= static_cast<long double>(l.at(m, i, k)) * static_cast<long double>(l.at(m, j, k));
      }
      const auto size = static_cast<double>(std::sqrt(static_cast<long double>(a.at(m, i, i))) *
                                            std::sqrt(static_cast<long double>(a.at(m, j, j))));
      const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) * size;
      const double is = static_cast<double>(std::abs(sum)) / unit;
      if (!(is <= fail)) return fail;
      most = std::max(most, is);
    }
  }
  return most;
}

/// Whether the lower triangle is NaN and the rest zero.
template <class T>
bool is_refused(const Matrices<T>& l, int64_t m) {
  for (int64_t i = 0; i < l.n; ++i)
    for (int64_t j = 0; j < l.n; ++j)
      if (j > i ? l.at(m, i, j) != 0 : !std::isnan(l.at(m, i, j))) return false;
  return true;
}

/// The outputs of the compiled graph, in which large matrices are routines of the runtime.
inline std::vector<AnyArray> run_program(const Graph& g, const std::vector<AnyArray>& inputs, Device device = cpu()) {
  std::vector<const AnyArray*> pointers;
  std::vector<runtime::Strides> strides;
  for (const AnyArray& input : inputs) {
    pointers.push_back(&input);
    strides.push_back(row_major_strides(input.shape()));
  }
  runtime::CompileOptions options;
  options.device = device;
  const auto executable = runtime::find_executable(g, strides, options);
  if (device == cpu()) return runtime::execute(*executable, pointers);
  return runtime::execute_on_device(*executable, pointers, device);
}

/// How a graph runs.
enum class Way : uint8_t { reference, compiled };

inline AnyArray run(Way way, const Graph& graph, const std::vector<AnyArray>& inputs) {
  return way == Way::compiled ? run_program(graph, inputs)[0] : reference::evaluate(graph, inputs)[0];
}

/// A graph of one equation.
template <class P>
Graph graph_of(const std::vector<Type>& types, Attributes attributes = {}) {
  Graph g;
  ValueList operands;
  for (const Type& t : types) operands.push_back(g.add_input(t));
  g.set_outputs({g.append(primitives::get<P>(), operands, std::move(attributes)).result()});
  return g;
}

template <class T>
Matrices<T> cholesky_of(Way way, const Matrices<T>& a, const Shape& shape) {
  const Graph g = graph_of<primitives::Cholesky>({{dtype_of<T>, shape}});
  return {a.n, elements<T>(run(way, g, {a.array(shape)}))};
}

}  // namespace calque::test
