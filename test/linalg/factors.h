#pragma once
// Rectangular matrices for tests of factorizations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "linalg/systems.h"

namespace calque::test {

/// Matrices, one after the other, of rows x columns elements each.
template <class T>
struct Batch {
  int64_t rows = 0, columns = 0, count = 0;
  std::vector<T> elements{};

  T& at(int64_t m, int64_t i, int64_t j) { return elements[static_cast<size_t>((m * rows + i) * columns + j)]; }
  const T& at(int64_t m, int64_t i, int64_t j) const {
    return elements[static_cast<size_t>((m * rows + i) * columns + j)];
  }
  Shape shape() const { return {count, rows, columns}; }
  Type type() const { return {dtype_of<T>, shape()}; }
  AnyArray array() const { return AnyArray::from(std::span<const T>(elements), shape()); }
};

/// Random numbers in [-1, 1), rows and columns from 1 to 1e-6, Hilbert's matrix, one whose rank is half of what it
/// could be, and integers, of which many are equal.
enum class General : uint8_t { random, graded, hilbert, deficient, integers };
inline constexpr General kGeneral[] = {General::random, General::graded, General::hilbert, General::deficient,
                                       General::integers};

template <class T>
void add_general(Batch<T>& to, General kind, double scale, Rng& rng) {
  const int64_t m = to.count++;
  to.elements.resize(static_cast<size_t>(to.count * to.rows * to.columns));
  const int64_t rank = std::max<int64_t>(std::min(to.rows, to.columns) / 2, 1);
  std::vector<double> left(static_cast<size_t>(to.rows * rank)), right(static_cast<size_t>(rank * to.columns));
  for (double& x : left) x = std::round(2 * even(rng));
  for (double& x : right) x = std::round(2 * even(rng));
  const auto grade = [](int64_t i, int64_t n) {
    return std::pow(10.0, -6 * static_cast<double>(i) / static_cast<double>(n));
  };
  for (int64_t i = 0; i < to.rows; ++i) {
    for (int64_t j = 0; j < to.columns; ++j) {
      double x = even(rng);
      if (kind == General::graded) x *= grade(i, to.rows) * grade(j, to.columns);
      if (kind == General::hilbert) x = 1 / static_cast<double>(i + j + 1);
      if (kind == General::integers) x = std::round(3 * x);
      if (kind == General::deficient) {
        x = 0;
        for (int64_t k = 0; k < rank; ++k)
          x += left[static_cast<size_t>(i * rank + k)] * right[static_cast<size_t>(k * to.columns + j)];
      }
      to.at(m, i, j) = static_cast<T>(scale * x);
    }
  }
}

/// All kinds, in three scales.
template <class T>
Batch<T> general_matrices(int64_t rows, int64_t columns) {
  constexpr double kBig = sizeof(T) == 4 ? 1e15 : 1e150;
  Rng rng(static_cast<uint64_t>(rows * 1000 + columns) + 1);
  Batch<T> a{rows, columns};
  for (const General kind : kGeneral)
    for (const double scale : {1.0, kBig, 1 / kBig}) add_general(a, kind, scale, rng);
  return a;
}

/// The results of a graph of one equation on one batch of matrices.
template <class P, class T>
std::vector<AnyArray> factors_of(Way way, const Batch<T>& a) {
  Graph g;
  const Value x = g.add_input(a.type());
  const Equation& e = g.append(primitives::get<P>(), {x}, {});
  g.set_outputs(std::vector<Value>(e.results().begin(), e.results().end()));
  return way == Way::compiled ? run_program(g, {a.array()}) : reference::evaluate(g, std::vector{a.array()});
}

template <class T>
Batch<T> batch_from(const AnyArray& array) {
  const Shape& s = array.shape();
  return {s[1], s[2], s[0], elements<T>(array)};
}

template <class T>
constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace calque::test
