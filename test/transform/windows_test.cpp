// Concatenated cotangents of slices: the same sum as padding each of them, with far fewer equations.
#include "transform/autodiff/windows.h"

#include <sstream>

#include <gtest/gtest.h>

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/samples.h"
#include "transform/autodiff/vjp.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using transform::Window;

/// A graph with both ways to add the same windows.
Graph both_sums(const Type& whole, const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>& ranges) {
  Graph g;
  const primitives::Writer w(g, {});
  std::vector<Window> windows;
  Value sum = w.zeros(whole);
  for (const auto& [start, limit] : ranges) {
    std::vector<int64_t> extents, high;
    for (size_t d = 0; d < start.size(); ++d) {
      extents.push_back(limit[d] - start[d]);
      high.push_back(whole.shape[d] - limit[d]);
    }
    const Value part = g.add_input({whole.dtype, Shape(std::span<const int64_t>(extents))});
    windows.push_back({start, limit, part});
    const Equation& pad =
        g.append(*find_primitive("pad"), {part, w.zeros({whole.dtype, {}})},
                 {{"high", high}, {"interior", std::vector<int64_t>(start.size(), 0)}, {"low", start}});
    sum = w.add(sum, pad.result());
  }
  g.set_outputs({transform::sum_of_windows(w, windows, whole), sum});
  g.verify();
  return g;
}

TEST(Windows, AddUpToTheSumOfThemPadded) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> shape;
    for (int d = 0, rank = static_cast<int>(rng.between(1, 3)); d < rank; ++d) shape.push_back(rng.between(1, 5));
    std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> ranges;
    for (int i = 0, n = static_cast<int>(rng.between(1, 12)); i < n; ++i) {
      std::vector<int64_t> start, limit;
      for (const int64_t extent : shape) {
        start.push_back(rng.between(0, extent));
        limit.push_back(rng.between(start.back(), extent));
      }
      ranges.emplace_back(std::move(start), std::move(limit));
    }
    const Graph g = both_sums({DType::i64, Shape(std::span<const int64_t>(shape))}, ranges);
    std::vector<AnyArray> inputs;
    for (const Type& t : g.input_types()) inputs.push_back(sample_array(t, rng, Domain::moderate));
    const std::vector<AnyArray> sums = reference::evaluate(g, inputs);
    ASSERT_TRUE(same_numbers(sums[0], sums[1])) << g;
  }
}

/// The sum of products of neighbours, element by element.
size_t gradient_size(int n) {
  std::ostringstream text;
  text << "calque 1\ngraph f(%x: f64[" << n << "]) {\n  %s0 = mul 0:f64[] 1:f64[]\n";
  for (int i = 0; i < n; ++i) {
    text << "  %r" << i << " = slice[limit=[" << i + 1 << "], start=[" << i << "], stride=[1]] %x\n  %e" << i
         << " = reshape[shape=[]] %r" << i << "\n";
  }
  for (int i = 0; i + 1 < n; ++i) {
    text << "  %p" << i << " = mul %e" << i << " %e" << i + 1 << "\n  %s" << i + 1 << " = add %s" << i << " %p" << i
         << "\n";
  }
  text << "  return %s" << n - 1 << "\n}\n";
  const Graph g = transform::vjp(parse(text.str()), {true});
  size_t size = 0;
  for (const Equation& e : std::as_const(g).equations()) size += e.operands().size();
  return size;
}

TEST(Windows, KeepTheGradientOfElementReadsLinearInTheirNumber) {
  EXPECT_LE(gradient_size(200), 2 * gradient_size(100) + 50);
}

}  // namespace
}  // namespace calque::test
