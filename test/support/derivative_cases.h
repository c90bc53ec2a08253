#pragma once
// Cases of the op table at points where functions are smooth: inside the domain of each function, away from kinks and
// ties. Corner values have separate tests.
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/op_table.h"
#include "support/transforms.h"

namespace calque::test {

/// The interval from which the elements of an operand are drawn.
struct Interval {
  double low, high;
};

inline Interval smooth_interval(std::string_view primitive, size_t operand) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, primitive) != names.end();
  };
  if (is_one_of({"sqrt", "rsqrt", "log", "log2", "log10", "lgamma", "tgamma", "digamma", "trigamma", "cbrt"}))
    return {0.3, 3.4};
  if (is_one_of({"asin", "acos", "atanh", "erf_inv"})) return {-0.9, 0.9};
  if (primitive == "ndtri") return {0.05, 0.95};
  if (primitive == "log1p") return {-0.7, 3};
  if (primitive == "acosh") return {1.2, 4};
  if (primitive == "tan") return {-1.2, 1.2};
  if (primitive == "pow") return operand == 0 ? Interval{0.3, 2.8} : Interval{-2, 2};
  if (is_one_of({"div", "rem", "remainder"}) && operand == 1) return {0.6, 3.3};
  return {-2.6, 2.6};
}

inline bool is_one_of_matrices(std::string_view primitive) {
  constexpr std::string_view kAre[] = {"cholesky", "triangular_solve", "lu",  "det", "slogdet",
                                       "qr",       "batched_cholesky", "pinv"};
  return std::ranges::find(kAre, primitive) != std::end(kAre);
}

/// Raises the diagonals of matrices of numbers of at most 4, so that they are far from singular and, if they are
/// symmetric, positive definite.
inline void make_dominant(AnyArray& matrices) {
  const Shape& shape = matrices.shape();
  const int64_t m = shape[shape.size() - 2], n = shape[shape.size() - 1];
  visit_dtype(matrices.dtype(), [&]<class T>() {
    if constexpr (is_inexact(dtype_of<T>)) {
      T* x = static_cast<T*>(matrices.mutable_data());
      for (int64_t i = 0; i < matrices.size(); ++i)
        if (i / n % m == i % n) x[i] = static_cast<T>(x[i] + static_cast<T>(static_cast<float>(5 * std::max(m, n))));
    }
  });
}

/// Fills the floating and complex operands: all their numbers differ from each other and from multiples of one half by
/// much more than the steps of finite differences.
inline void make_smooth(OpCase& c, const Primitive& primitive, Rng& rng) {
  size_t total = 0;
  for (const AnyArray& a : c.operands) total += is_inexact(a.dtype()) ? numbers(a).size() : 0;
  std::vector<size_t> slots(total);
  for (size_t i = 0; i < total; ++i) slots[i] = i;
  rng.shuffle(slots);
  size_t next = 0;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    if (!is_inexact(c.operands[k].dtype())) continue;
    const Interval in = smooth_interval(primitive.name, k);
    std::vector<double> values(numbers(c.operands[k]).size());
    for (double& v : values) {
      const double jitter = 0.3 + 0.4 * static_cast<double>(rng.below(1024)) / 1024;
      v = in.low + (in.high - in.low) * (static_cast<double>(slots[next++]) + jitter) / static_cast<double>(total);
      const double off = 2 * v - std::round(2 * v);
      if (std::abs(off) < 0.03) v += std::copysign(0.015, off);
    }
    c.operands[k] = from_numbers(c.operands[k].type(), values);
  }
  if (is_one_of_matrices(primitive.name)) make_dominant(c.operands[0]);
}

/// A graph of one equation with floating or complex inputs and outputs, and a point of it.
struct DerivativeCase {
  const OpRow* row;
  OpCase op;
  Graph graph;
  Shape shape;
  Rng made_from;  ///< the generator state before the case was drawn

  const std::string& name() const { return row->primitive().name; }
  std::string describe() const {
    std::ostringstream out;
    out << graph;
    for (const AnyArray& a : op.operands) out << a << "\n";
    return out.str();
  }
  /// The same case of another dtype of the same kind, its operands rounded.
  OpCase in_dtype(DType dtype) const {
    Rng again = made_from;
    OpCase out = *row->make({dtype, shape, Domain::moderate}, again);
    for (size_t i = 0; i < out.operands.size(); ++i)
      out.operands[i] = converted(op.operands[i], out.operands[i].dtype());
    return out;
  }
};

/// Of the least precise floating or complex value of a graph.
inline double coarsest_epsilon(const Graph& graph) {
  double most = 0;
  for (uint32_t i = 0; i < graph.num_values(); ++i) {
    const DType d = graph.dtype(Value(i));
    if (is_inexact(d)) most = std::max(most, epsilon(d));
  }
  return most;
}

/// Calls `body` for each row that accepts the dtype and each shape, `repeats` times. Rows whose case has no floating or
/// complex input, or no such output, have no derivative and are skipped. `body` returns an error description, or
/// nothing; the first failing case of each primitive is reported. Returns the number of cases.
template <class Body>
int for_each_derivative_case(DType dtype, int repeats, Body body) {
  int count = 0;
  for (const OpRow& row : op_table()) {
    if (!primitives::contains(row.dtypes, dtype) || row.primitive().has_effect) continue;
    // Its derivative is that of factors that follow its matrices: test/linalg/ has it, of whole solves.
    if (row.id == primitives::id_of<primitives::LuSolve>) continue;
    // No derivative by its first operand; test/transform/data/derivatives.txt has those by the second.
    if (row.id == primitives::id_of<primitives::Zeta>) continue;
    Rng rng(position(row) + 77);
    std::string wrong;
    for (const Shape& shape : op_shapes()) {
      for (int repeat = 0; repeat < repeats && wrong.empty(); ++repeat) {
        const Rng before = rng;
        auto c = row.make({dtype, shape, Domain::moderate}, rng);
        if (!c) continue;
        make_smooth(*c, row.primitive(), rng);
        Graph g = graph_of(row, *c);
        const auto inexact = [&](Value v) { return is_inexact(g.dtype(v)); };
        if (std::ranges::none_of(g.inputs(), inexact) || std::ranges::none_of(g.outputs(), inexact)) continue;
        const DerivativeCase one{&row, std::move(*c), std::move(g), shape, before};
        try {
          wrong = body(one, rng);
        } catch (const std::exception& e) {
          wrong = std::string("threw ") + e.what();
        }
        if (!wrong.empty()) ADD_FAILURE() << wrong << "\n" << one.describe();
        ++count;
      }
    }
  }
  return count;
}

}  // namespace calque::test
