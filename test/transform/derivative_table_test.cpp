// Derivatives of orders 1 to 3 against values by mpmath, at points where formulas often fail: ties, zeros, integers,
// neighbours of poles, large arguments (data/derivatives.txt, made by tools/python/derivative_table.py); and near the
// ends of the ranges of the dtypes (data/derivative_ranges.txt, made by tools/python/derivative_range_table.py).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "primitives/core/writer.h"
#include "support/paths.h"
#include "support/trace_eval.h"
#include "transform/autodiff/jvp.h"
#include "transform/autodiff/vjp.h"

namespace calque::test {
namespace {

namespace ops = detail::ops;
using Orders = std::vector<int>;
using Point = std::vector<double>;
using Function = std::function<Handle(std::span<const Handle>)>;

struct Row {
  Point point;
  double derivative = 0;
  double scale = 0;  ///< the largest derivative of the function at that point
};
/// By function and by orders: the points.
using Table = std::map<std::string, std::map<Orders, std::vector<Row>>>;

Table read_table(const std::string& name) {
  Table table;
  std::ifstream file(source_file("test/transform/data/" + name));
  std::map<std::pair<std::string, Point>, double> scales;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string function, orders_text, word;
    in >> function >> orders_text;
    Orders orders;
    for (std::istringstream list(orders_text); std::getline(list, word, ',');) orders.push_back(std::stoi(word));
    Row row;
    while (in >> word && word != "=") row.point.push_back(std::strtod(word.c_str(), nullptr));
    in >> word;
    row.derivative = std::strtod(word.c_str(), nullptr);  // stod refuses subnormal numbers
    double& scale = scales[{function, row.point}];
    scale = std::max(scale, std::abs(row.derivative));
    table[function][orders].push_back(row);
  }
  for (auto& [function, all] : table) {
    for (auto& [orders, rows] : all) {
      for (Row& row : rows) row.scale = scales[{function, row.point}];
    }
  }
  return table;
}

Handle stacked(std::span<const Handle> in) {
  const std::vector<Operand> parts(in.begin(), in.end());
  return ops::stack(parts, 0, kHere);
}

Handle first_row(Handle x) {
  const AnyArray first = arr<bool>({3, 1}, {true, false, false});
  const Handle row = ops::where(detail::constant(first, kHere), x, detail::literal_operand(0.0), kHere);
  return ops::sum(row, Axes(0), false, kHere);
}

/// The functions by name, of operands of one shape.
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = [] {
    std::map<std::string, Function> m;
    // clang-format off
#define CALQUE_X(f) m[#f] = [](std::span<const Handle> x) { return ops::f(x[0], kHere); };
#define CALQUE_IF_inexact(f) CALQUE_X(f)
#define CALQUE_IF_same(f)
#define CALQUE_IF_bool(f)
#define CALQUE_UNARY(f, result, rule, Primitive) CALQUE_IF_##result(f)
#include "calque/elementwise.def"
#undef CALQUE_IF_inexact
#undef CALQUE_IF_same
#undef CALQUE_IF_bool
    CALQUE_X(square) CALQUE_X(relu) CALQUE_X(abs) CALQUE_X(logit) CALQUE_X(entr)
#undef CALQUE_X
#define CALQUE_X(f) m[#f] = [](std::span<const Handle> x) { return ops::f(x[0], x[1], kHere); };
    CALQUE_X(add) CALQUE_X(multiply) CALQUE_X(divide) CALQUE_X(pow) CALQUE_X(atan2) CALQUE_X(hypot) CALQUE_X(xlogy)
    CALQUE_X(xlog1py) CALQUE_X(betaln)
    CALQUE_X(logaddexp) CALQUE_X(logaddexp2) CALQUE_X(fdim) CALQUE_X(maximum) CALQUE_X(minimum) CALQUE_X(fmax) CALQUE_X(fmin)
    CALQUE_X(copysign) CALQUE_X(fmod) CALQUE_X(mod) CALQUE_X(remainder)
#undef CALQUE_X
#define CALQUE_X(f) m[#f] = [](std::span<const Handle> x) { return ops::f(stacked(x), Axes(0), false, kHere); };
    CALQUE_X(logsumexp) CALQUE_X(norm) CALQUE_X(prod) CALQUE_X(var) CALQUE_X(stddev) CALQUE_X(amax)
#undef CALQUE_X
    const auto complex = [&](const std::string& name, Handle (*f)(const Operand&, Location)) {
      m["complex_" + name + "_re"] = [f](std::span<const Handle> x) {
        return ops::real(f(ops::as_complex(x[0], x[1], kHere), kHere), kHere);
      };
      m["complex_" + name + "_im"] = [f](std::span<const Handle> x) {
        return ops::imag(f(ops::as_complex(x[0], x[1], kHere), kHere), kHere);
      };
    };
#define CALQUE_X(f) complex(#f, &ops::f);
    CALQUE_X(exp) CALQUE_X(log) CALQUE_X(sqrt) CALQUE_X(sin) CALQUE_X(cos) CALQUE_X(sinh) CALQUE_X(cosh) CALQUE_X(tanh)
    CALQUE_X(abs)
#undef CALQUE_X
        // clang-format on
        m["fma"] = [](std::span<const Handle> x) { return ops::fma(x[0], x[1], x[2], kHere); };
    m["clip"] = [](std::span<const Handle> x) { return ops::clip(x[0], x[1], x[2], kHere); };
    m["softmax"] = [](std::span<const Handle> x) { return first_row(ops::softmax(stacked(x), 0, kHere)); };
    m["log_softmax"] = [](std::span<const Handle> x) { return first_row(ops::log_softmax(stacked(x), 0, kHere)); };
    m["cumprod"] = [](std::span<const Handle> x) {
      return ops::sum(ops::cumprod(stacked(x), 0, kHere), Axes(0), false, kHere);
    };
    return m;
  }();
  return all;
}

/// The derivative of an elementwise function by one operand, along a vector of ones.
Graph derivative(const Graph& graph, size_t operand, bool forward) {
  std::vector<bool> by(graph.inputs().size());
  by[operand] = true;
  const Graph transformed = forward ? transform::jvp(graph, by) : transform::vjp(graph, by);
  Graph out;
  std::vector<Value> inputs;
  for (const Value v : graph.inputs()) inputs.push_back(out.add_input(graph.type(v)));
  const primitives::Writer writer(out, kHere);
  inputs.push_back(writer.splat(1, graph.type(graph.outputs()[0])));
  out.set_outputs({writer.inline_graph(transformed, inputs)[1]});
  return out;
}

/// The function differentiated `orders[i]` times by operand i, in the sequence of modes given by `modes`.
Graph derivative(Graph graph, const Orders& orders, const std::string& modes) {
  std::vector<size_t> steps;
  for (size_t i = 0; i < orders.size(); ++i) steps.insert(steps.end(), static_cast<size_t>(orders[i]), i);
  if (modes[0] == 'r') std::ranges::reverse(steps);
  for (size_t i = 0; i < steps.size(); ++i) graph = derivative(graph, steps[i], modes[i] == 'f');
  return graph;
}

template <Elem T>
std::vector<AnyArray> operands_of(const std::vector<Row>& rows) {
  std::vector<AnyArray> operands;
  for (size_t i = 0; i < rows[0].point.size(); ++i) {
    std::vector<T> x;
    for (const Row& row : rows) x.push_back(static_cast<T>(row.point[i]));
    operands.push_back(AnyArray::from(std::span<const T>(x), Shape{static_cast<int64_t>(x.size())}));
  }
  return operands;
}

std::string text(const Row& row, const Orders& orders) {
  std::ostringstream out;
  out.precision(17);
  for (size_t i = 0; i < orders.size(); ++i) out << (i == 0 ? "orders " : ",") << orders[i];
  for (size_t i = 0; i < row.point.size(); ++i) out << (i == 0 ? " at (" : ", ") << row.point[i];
  out << ")";
  return out.str();
}

/// The rows whose points are representable in T.
template <Elem T>
std::vector<Row> representable_rows(const std::vector<Row>& rows) {
  std::vector<Row> kept;
  std::ranges::copy_if(rows, std::back_inserter(kept), [](const Row& row) {
    const auto is_representable = [](double x) { return static_cast<double>(static_cast<T>(x)) == x; };
    return std::ranges::all_of(row.point, is_representable);
  });
  return kept;
}

/// Those whose derivatives are in T's range, too.
template <Elem T>
std::vector<Row> rows_of(const std::vector<Row>& rows) {
  std::vector<Row> kept = representable_rows<T>(rows);
  std::erase_if(kept, [](const Row& row) { return !(row.scale < static_cast<double>(std::numeric_limits<T>::max())); });
  return kept;
}

struct Tolerance {
  double relative;
  double of_scale;  ///< of the largest derivative at the point, or of 1
};

template <Elem T>
void check(const std::string& name, const Orders& orders, const std::vector<Row>& rows, const std::string& modes,
           Tolerance tolerance) {
  const std::vector<AnyArray> x = operands_of<T>(rows);
  const Graph g =
      trace(types_of(x), [&](std::span<const Handle> in) { return Handles{functions().at(name)(in)}; }).graph;
  const Graph d = derivative(g, orders, modes);
  d.verify("derivative");
  const std::vector<T> got = elements<T>(reference::evaluate(d, x)[0]);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double want = rows[i].derivative, is = static_cast<double>(got[i]);
    const double allowed = tolerance.relative * std::abs(want) + tolerance.of_scale * std::max(1.0, rows[i].scale);
    // Written so that NaN fails.
    EXPECT_TRUE(std::abs(is - want) <= allowed)
        << name << " " << text(rows[i], orders) << " in " << modes << ": got " << is << ", want " << want;
  }
}

template <Elem T>
void check_all(const std::string& modes, Tolerance tolerance, int max_order = 3) {
  int count = 0;
  for (const auto& [name, all] : read_table("derivatives.txt")) {
    ASSERT_TRUE(functions().contains(name)) << name;
    for (const auto& [orders, rows] : all) {
      const std::vector<Row> exact = rows_of<T>(rows);
      if (std::accumulate(orders.begin(), orders.end(), 0) > max_order || exact.empty()) continue;
      check<T>(name, orders, exact, modes, tolerance);
      ++count;
    }
  }
  EXPECT_GT(count, 300);
}

/// At the ends of the ranges: within `epsilons` and a few of the least subnormal numbers.
template <Elem T>
void check_ranges(const std::string& modes, double epsilons) {
  int count = 0;
  const auto greatest = static_cast<double>(std::numeric_limits<T>::max());
  const double relative = epsilons * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
  for (const auto& [name, all] : read_table("derivative_ranges.txt")) {
    ASSERT_TRUE(functions().contains(name)) << name;
    if (sizeof(T) == 2 && name.starts_with("complex")) continue;
    for (const auto& [orders, table] : all) {
      std::vector<Row> rows = representable_rows<T>(table);
      std::erase_if(rows, [&](const Row& row) { return std::abs(row.derivative) > greatest; });
      if (rows.empty()) continue;
      const std::vector<AnyArray> x = operands_of<T>(rows);
      const Graph g =
          trace(types_of(x), [&](std::span<const Handle> in) { return Handles{functions().at(name)(in)}; }).graph;
      const std::vector<T> got = elements<T>(reference::evaluate(derivative(g, orders, modes), x)[0]);
      const std::vector<T> values = elements<T>(reference::evaluate(g, x)[0]);
      for (size_t i = 0; i < rows.size(); ++i) {
        if (!std::isfinite(static_cast<double>(values[i]))) continue;
        const double want = rows[i].derivative, is = static_cast<double>(got[i]);
        EXPECT_TRUE(std::abs(is - want) <= relative * std::abs(want) + 4 * least)
            << name << " " << text(rows[i], orders) << " in " << modes << ": got " << is << ", want " << want;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 100);
}

constexpr Tolerance kDouble{1e-10, 1e-14}, kSingle{1e-4, 1e-5};

TEST(DerivativeTable, HoldsInForwardMode) { check_all<double>("fff", kDouble); }
TEST(DerivativeTable, HoldsInReverseMode) { check_all<double>("rrr", kDouble); }
TEST(DerivativeTable, HoldsInReverseModeOfForwardMode) { check_all<double>("frf", kDouble); }
TEST(DerivativeTable, HoldsInForwardModeOfReverseMode) { check_all<double>("rfr", kDouble); }
// Third derivatives of some formulas cancel: they keep half of the digits that f64 has.
TEST(DerivativeTable, HoldsInF32ToTheSecondOrder) { check_all<float>("rfr", kSingle, 2); }

TEST(DerivativeRanges, HoldInF64) {
  check_ranges<double>("ff", 32);
  check_ranges<double>("rr", 32);
}
TEST(DerivativeRanges, HoldInF32) {
  check_ranges<float>("ff", 32);
  check_ranges<float>("rr", 32);
}
TEST(DerivativeRanges, HoldInF16) {
  check_ranges<float16>("ff", 16);
  check_ranges<float16>("rr", 16);
}
TEST(DerivativeRanges, HoldInBf16) {
  check_ranges<bfloat16>("ff", 16);
  check_ranges<bfloat16>("rr", 16);
}

}  // namespace
}  // namespace calque::test
