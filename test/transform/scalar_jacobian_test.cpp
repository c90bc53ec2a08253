// Jacobians of functions that compute with scalars and branch: random programs with nested conds and switches, whose
// Jacobian is compared with derivatives in single directions, differences and, in batches, with loops over examples.
#include "transform/autodiff/scalar_jacobian.h"

#include <cmath>

#include <gtest/gtest.h>

#include "calque/calque.h"
#include "calque/detail/trace.h"

#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/transforms.h"
#include "transform/autodiff/jvp.h"
#include "transform/batch/vmap.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using Arrays = std::vector<AnyArray>;
using T = Tracer<double>;

/// A random function of scalars; the same seed records the same function.
class Program {
 public:
  explicit Program(uint64_t seed) : rng_(seed), seed_(seed) {}

  /// Two of the values after a few operations.
  std::pair<T, T> run(std::vector<T> values, int depth) {
    for (int i = 0; i < 5; ++i) values.push_back(operation(values, depth));
    return {values.back(), rng_.pick(values)};
  }

 private:
  T operation(const std::vector<T>& values, int depth) {
    const T &a = rng_.pick(values), &b = rng_.pick(values);
    switch (rng_.below(depth > 0 ? 8 : 5)) {
      case 0:
        return sin(a);
      case 1:
        return a * b;
      case 2:
        return a + 0.5 * b;
      case 3:
        return a / (1.0 + b * b);
      case 4:
        return where(a > 0.2, a, b);
      case 5:
        return choice(values, sum(stack({a, b, a * b}, 0)) > 0.1, depth);
      case 6:
        return switched(values, cast<int32_t>(floor(2.0 * a)), depth);
      default:
        return choice(values, a > b, depth);
    }
  }

  /// A branch with an array and a scalar among its operands and results.
  auto branch(int depth) {
    const uint64_t seed = seed_ * 8 + rng_.below(1000) + 1;
    return [seed, depth](const T& packed, const T& one) {
      const auto [x, y] = Program(seed).run({packed[0], packed[1], packed[2], one}, depth - 1);
      return std::pair{x, stack({y, x * one}, 0)};
    };
  }

  T choice(const std::vector<T>& v, const Tracer<bool>& taken, int depth) {
    const auto yes = branch(depth), no = branch(depth);
    const auto [x, y] = cond(taken, yes, no, stack({v[0], v[1], rng_.pick(v)}, 0), rng_.pick(v));
    return x + y[0] * y[1];
  }
  T switched(const std::vector<T>& v, const Tracer<int32_t>& index, int depth) {
    const auto [x, y] = switch_(index, std::tuple{branch(depth), branch(depth), branch(depth)},
                                stack({v[0], v[1], rng_.pick(v)}, 0), rng_.pick(v));
    return x - y[1];
  }
  Rng rng_;
  uint64_t seed_;
};

const auto program = [](uint64_t seed, int depth) {
  return [seed, depth](const T& x, const T& p) {
    const auto [a, b] = Program(seed).run({x[0], x[1], x[2], p}, depth);
    return stack({a, b}, 0);
  };
};

/// The Jacobian from derivatives in one direction after the other.
Arrays by_directions(const Graph& g, const std::vector<uint32_t>& selected, const Arrays& x) {
  Arrays blocks;
  const Graph pushed = transform::jvp(g, std::vector<bool>(x.size(), true));
  for (size_t r = 0; r < g.outputs().size(); ++r) {
    for (const uint32_t i : selected) {
      const Type &by = g.type(g.inputs()[i]), &of = g.type(g.outputs()[r]);
      const auto n = static_cast<size_t>(by.shape.num_elements()), m = static_cast<size_t>(of.shape.num_elements());
      std::vector<double> block(m * n);
      for (size_t k = 0; k < n; ++k) {
        Arrays all = x;
        for (uint32_t j = 0; j < x.size(); ++j) {
          std::vector<double> tangent(static_cast<size_t>(x[j].shape().num_elements()));
          if (j == i) tangent[k] = 1;
          all.push_back(from_numbers(x[j].type(), tangent));
        }
        const std::vector<double> column = numbers(reference::evaluate(pushed, all)[g.outputs().size() + r]);
        for (size_t row = 0; row < m; ++row) block[row * n + k] = column[row];
      }
      std::vector<int64_t> extents(of.shape.begin(), of.shape.end());
      extents.insert(extents.end(), by.shape.begin(), by.shape.end());
      blocks.push_back(from_numbers({of.dtype, Shape(std::span<const int64_t>(extents))}, block));
    }
  }
  return blocks;
}

Graph traced(uint64_t seed, int depth) { return jit(program(seed, depth)).trace(spec<double>({3}), spec<double>({})); }

size_t count(const Graph& g, std::string_view primitive) {
  size_t n = 0;
  for (const Equation& e : g.equations()) {
    n += e.primitive() == primitive ? 1 : 0;
    for (const Graph& sub : e.subgraphs()) n += count(sub, primitive);
  }
  return n;
}

TEST(ScalarJacobian, OfRandomBranchesHasTheDerivativesInEachDirection) {
  size_t branches = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Graph g = traced(seed, 1 + static_cast<int>(seed % 2));
    const std::vector<uint32_t> selected = seed % 3 == 0 ? std::vector<uint32_t>{0} : std::vector<uint32_t>{1, 0};
    const std::optional<Graph> jacobian = transform::scalar_jacobian(g, selected);
    ASSERT_TRUE(jacobian) << seed << "\n" << g;
    jacobian->verify("scalar_jacobian");
    branches += count(*jacobian, "cond") + count(*jacobian, "switch");
    EXPECT_LE(count(*jacobian, "cond"), count(g, "cond")) << *jacobian;
    Rng rng(seed);
    const Arrays x = uniform(g.input_types(), rng);
    const Arrays want = by_directions(g, selected, x);
    ASSERT_EQ(far_apart(reference::evaluate(*jacobian, x), want, 1e-12, 1e-12), "") << seed << "\n" << g << *jacobian;
    ASSERT_EQ(far_apart(run_native(*jacobian, x), want, 1e-11, 1e-11), "") << seed << "\n" << g << *jacobian;

    const std::vector<transform::BatchAxis> in(2, 0), out(jacobian->outputs().size(), 0);
    const Graph batched = transform::vmap(*jacobian, in, 5, out);
    std::vector<Type> types = g.input_types();
    for (Type& t : types) t.shape = t.shape.with_inserted(0, 5);
    const Arrays examples = uniform(types, rng);
    ASSERT_EQ(far_apart(run_native(batched, examples), looped(*jacobian, examples, in, 5, out), 1e-11, 1e-11), "")
        << seed << "\n"
        << *jacobian;
    EXPECT_EQ(count(batched, "cond") + count(batched, "switch"), 0u);
  }
  EXPECT_GT(branches, 60u);
}

TEST(ScalarJacobian, OfRandomBranchesUnderEveryOrderOfTransformations) {
  for (uint64_t seed = 100; seed < 112; ++seed) {
    const auto f = program(seed, 2);
    const auto total = [f](const T& x, const T& p) { return sum(f(x, p)); };
    Rng rng(seed);
    const auto x = Array<double>::from(numbers(uniform({DType::f64, {4, 3}}, rng)), {4, 3});
    const auto p = Array<double>::from(numbers(uniform({DType::f64, {4}}, rng)), {4});
    const auto compare = [&](const auto& transformed, const char* name) {
      const Array<double> all = jit(vmap(transformed))(x, p);
      for (int64_t i = 0; i < 4; ++i) {
        const Array<double> one = jit(transformed)(x[i], p[i]);
        EXPECT_TRUE(allclose(all[i], one, 1e-10, 1e-10)) << name << ", seed " << seed;
      }
    };
    compare(jacfwd(f), "jacfwd");
    compare(jacrev(f), "jacrev");
    compare(grad(total), "grad");
    compare(hessian(total), "hessian");
    compare(jacfwd(jacfwd(f)), "jacfwd of jacfwd");
    EXPECT_TRUE(allclose(jit(jacfwd(f))(x[0], p[0]), jit(jacrev(f))(x[0], p[0]), 1e-10, 1e-10)) << seed;
    EXPECT_TRUE(allclose(jit(hessian(total))(x[0], p[0]), jit(jacfwd(jacfwd(total)))(x[0], p[0]), 1e-10, 1e-10))
        << seed;
    const Array<double> outer = jit(jacfwd([f](const T& a, const T& b) { return vmap(f)(a, b); }))(x, p);
    const Array<double> inner = jit(vmap(jacfwd(f)))(x, p);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t k = 0; k < 6; ++k) EXPECT_NEAR(outer(i, k / 3, i, k % 3), inner(i, k / 3, k % 3), 1e-10) << seed;
    }
  }
}

/// The rotation of a vector, whose derivatives by the usual formula are not numbers at angle zero.
const auto rotated = [](const T& w, const T& v) {
  return cond(
      sum(w * w) > 0.0,
      [](const T& a, const T& b) {
        const T t = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        const T s = sin(t) / t, c = cos(t);
        return stack({b[0] * c + (a[1] * b[2] - a[2] * b[1]) * s, b[1] * c + (a[2] * b[0] - a[0] * b[2]) * s,
                      b[2] * c + (a[0] * b[1] - a[1] * b[0]) * s},
                     0);
      },
      [](const T& a, const T& b) {
        return stack(
            {b[0] + a[1] * b[2] - a[2] * b[1], b[1] + a[2] * b[0] - a[0] * b[2], b[2] + a[0] * b[1] - a[1] * b[0]}, 0);
      },
      w, v);
};

TEST(ScalarJacobian, OfABranchThatIsNotTakenHasNoPart) {
  const Array<double> w = {{0, 0, 0}, {0.1, 0.2, -0.3}, {0, 0, 0}}, v = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto finite = [&](const auto& f) {
    const auto results = jit(vmap(f))(w, v);
    return all(isfinite(results)).item();
  };
  EXPECT_TRUE(finite(jacfwd(rotated)));
  EXPECT_TRUE(finite(jacrev(rotated)));
  EXPECT_TRUE(finite(jacfwd(jacfwd(rotated))));
  EXPECT_TRUE(finite(jacrev(jacfwd(rotated))));
  EXPECT_TRUE(finite(hessian([](const T& a, const T& b) { return sum(rotated(a, b)); })));
  EXPECT_TRUE(finite(grad([](const T& a, const T& b) { return sum(rotated(a, b)); })));
  const Array<double> j = jit(jacfwd(rotated))(w[0], v[0]);
  EXPECT_TRUE(array_equal(j, Array<double>{{0, 3, -2}, {-3, 0, 1}, {2, -1, 0}}));
}

TEST(ScalarJacobian, OfABranchIsOneBranch) {
  const Graph g = jit(jacfwd(rotated, argnums<0, 1>)).trace(spec<double>({3}), spec<double>({3}));
  EXPECT_EQ(count(g, "cond"), 1u) << g;
  EXPECT_EQ(count(g, "sin"), 1u) << g;
  const Graph batched = jit(vmap(jacfwd(rotated, argnums<0, 1>))).trace(spec<double>({9, 3}), spec<double>({9, 3}));
  EXPECT_EQ(count(batched, "cond"), 0u) << batched;
  EXPECT_EQ(count(batched, "sin"), 1u) << batched;
  for (const Equation& e : batched.equations()) {
    if (e.primitive() != "mul") continue;
    EXPECT_LE(batched.shape(e.result()).num_elements(), 27) << batched;
  }
}

TEST(ScalarJacobian, OfManyExamplesIsOneLoopOverThem) {
  const auto plan = [](const auto& f) {
    return jit(vmap(f)).lower(spec<double>({10000, 3}), spec<double>({10000, 3})).plan().str();
  };
  const auto occurrences = [](const std::string& text, const std::string& what) {
    int n = 0;
    for (size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++n;
    return n;
  };
  for (const std::string& text :
       {plan(rotated), plan(jacfwd(rotated, argnums<0, 1>)), plan(jacfwd(jacfwd(rotated, argnums<0>)))}) {
    EXPECT_EQ(occurrences(text, "\nkernel "), 1) << text;
    EXPECT_EQ(occurrences(text, "parallel "), 1) << text;
    EXPECT_EQ(occurrences(text, " = reduction "), 0) << text;  // the sum of the predicate, over three elements
  }
}

TEST(ScalarJacobian, OfArraysInBranchesIsLeftToBatches) {
  const Graph g = jit([](const T& x) {
                    return cond(x[0] > 0.0, [](const T& y) { return sum(y * y); }, [](const T& y) { return y[0]; }, x);
                  }).trace(spec<double>({3}));
  EXPECT_FALSE(transform::scalar_jacobian(g, std::vector<uint32_t>{0}));
}

TEST(ScalarJacobian, OfRandomGraphs) {
  RandomGraphOptions o;
  o.max_equations = 12;
  o.max_rank = 1;
  o.max_elements = 3;
  o.dtypes = {DType::f64, DType::f64, DType::f64, DType::bool_};
  o.discontinuous = o.corners = false;
  o.exclude = {"custom_jvp", "custom_vjp", "nextafter", "zeta", "while"};
  size_t found = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Graph g = random_graph(seed, o);
    std::vector<uint32_t> selected;
    for (uint32_t i = 0; i < g.inputs().size(); ++i) {
      if (g.dtype(g.inputs()[i]) == DType::f64) selected.push_back(i);
    }
    bool real = !selected.empty();
    for (const Value v : g.outputs()) real = real && g.dtype(v) == DType::f64;
    if (!real) continue;
    const std::optional<Graph> jacobian = transform::scalar_jacobian(g, selected);
    if (!jacobian) continue;
    ++found;
    jacobian->verify("scalar_jacobian");
    const Arrays x = random_inputs(g, seed, false);
    const Arrays want = by_directions(g, selected, x);
    if (!all_finite(want)) continue;
    ASSERT_EQ(far_apart(reference::evaluate(*jacobian, x), want, 1e-10, 1e-10 * (1 + largest(want))), "")
        << seed << "\n"
        << g << *jacobian;
  }
  EXPECT_GT(found, 20u);
}

/// Branches one after the other, each on the results of those before.
T chain(T x, int length) {
  for (int i = 0; i < length; ++i) {
    x = cond(
        x[0] > 0.1 * i, [](const T& y) { return stack({sin(y[0]) + y[1], y[1] * y[0]}, 0); },
        [](const T& y) { return stack({y[1], y[0] + 0.5}, 0); }, x);
  }
  return x;
}

TEST(ScalarJacobian, OfManyBranchesGrowsWithTheirNumber) {
  const auto equations = [](int length) {
    const Graph g = jit([length](const T& x) { return chain(x, length); }).trace(spec<double>({2}));
    const std::optional<Graph> jacobian = transform::scalar_jacobian(g, std::vector<uint32_t>{0});
    EXPECT_TRUE(jacobian);
    size_t n = jacobian->num_equations();
    for (const Equation& e : jacobian->equations()) {
      for (const Graph& branch : e.subgraphs()) n += branch.num_equations();
    }
    return n;
  };
  const size_t some = equations(25);
  EXPECT_LE(equations(100), 5 * some);
}

}  // namespace
}  // namespace calque::test
