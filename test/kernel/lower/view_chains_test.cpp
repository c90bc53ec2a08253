// Chains of views with no memory between: each step reads its operand at several indices, so that code for one element
// would double with each step. Code is linear in the number of steps, and computes what the reference does.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "kernel/lower/build.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using T = Tracer<float>;
using Step = std::function<T(T, int64_t)>;

T rows(const T& x, int64_t first, int64_t last) { return x.at(range(first, last)); }

Graph chain(const Shape& shape, int64_t steps, const Step& step) {
  return jit([&](T x) {
           for (int64_t i = 0; i < steps; ++i) x = step(x, i);
           return x;
         })
      .trace(spec<float>(shape));
}
Graph gradient_of_chain(const Shape& shape, int64_t steps, const Step& step) {
  return jit(grad([&](T x) {
           for (int64_t i = 0; i < steps; ++i) x = step(x, i);
           return sum(x * x);
         }))
      .trace(spec<float>(shape));
}

size_t count(const kernel::Region& r) {
  size_t n = r.instructions.size();
  for (const kernel::Instruction& i : r.instructions)
    for (const kernel::Region& inner : i.regions) n += count(inner);
  return n;
}
/// Of the program of a graph. Unless simplified, equal views stay apart and views of views too.
size_t instructions(const Graph& g, bool simplified) {
  size_t n = 0;
  for (const kernel::Kernel& k : test::stages::build_program(simplified ? transform::simplify(g) : g).kernels)
    n += count(k.body);
  return n;
}

template <class Trace>
void expect_linear_code(const Trace& trace, bool simplified) {
  // Few steps first: code that doubles with each does not end for many.
  const size_t eight = instructions(trace(8), simplified);
  ASSERT_LE(instructions(trace(14), simplified), 3 * eight);
  // Twice as many steps: twice the code, or less than three times while the first arrays are few.
  const size_t some = instructions(trace(80), simplified);
  EXPECT_LE(instructions(trace(160), simplified), 3 * some);
}

void expect_linear(const Shape& shape, const Step& step) {
  expect_linear_code([&](int64_t steps) { return chain(shape, steps, step); }, true);
  // The number of instructions is that of the other builds; instrumented code takes long to compile.
  const bool kShort = kAddressSanitizer || kThreadSanitizer;
  if (!kShort) {
    expect_linear_code([&](int64_t steps) { return chain(shape, steps, step); }, false);
    expect_linear_code([&](int64_t steps) { return gradient_of_chain(shape, steps, step); }, true);
  }
  for (const int64_t steps : kShort ? std::vector<int64_t>{13} : std::vector<int64_t>{3, 13, 40}) {
    const Graph g = chain(shape, steps, step);
    EXPECT_EQ(compare_strictly(transform::simplify(g), random_inputs(g, 1, false)).substr(0, 2000), "");
  }
}

TEST(ViewChains, ThatAppendASliceOfThemselvesAreLinear) {
  expect_linear({1}, [](T x, int64_t i) { return concatenate({x, rows(x, i, i + 1)}, 0); });
  expect_linear({1}, [](T x, int64_t i) { return concatenate({x, rows(x, i / 2, i / 2 + 1)}, 0); });
  expect_linear({9}, [](T x, int64_t i) { return concatenate({x, rows(x, i, i + 7)}, 0); });
  expect_linear({1}, [](T x, int64_t i) { return concatenate({rows(x, 2 * i, 2 * i + 1), x, rows(x, 0, 1)}, 0); });
}

TEST(ViewChains, ThatAppendToRowsAndReshapeAreLinear) {
  expect_linear({1, 4}, [](T x, int64_t i) {
    const T more = flip(rows(x, i / 2, i / 2 + 1), {1});
    return reshape(concatenate({reshape(x, {(i + 1) * 4}), reshape(more, {4})}, 0), {i + 2, 4});
  });
  expect_linear({3, 1}, [](T x, int64_t i) { return concatenate({x, x.at(all, range(i / 2, i / 2 + 1))}, 1); });
}

// The number of copies of the first array doubles, up to one for each element.
TEST(ViewChains, OfDoubledArraysHaveFewerPartsThanElements) {
  const auto doubled = [](int64_t steps) {
    return chain({1}, steps, [](T x, int64_t) { return concatenate({x, x}, 0); });
  };
  const size_t eight = instructions(doubled(8), true);
  EXPECT_LE(instructions(doubled(16), true), 3 * eight);
  const Graph g = doubled(10);
  EXPECT_EQ(compare_strictly(g, random_inputs(g, 1, false)).substr(0, 2000), "");
}

TEST(ViewChains, OfPermutationsAreLinear) {
  expect_linear({12}, [](T x, int64_t i) {
    const int64_t k = 1 + (i * 7) % 10;
    return concatenate({flip(rows(x, 0, k)), rows(x, k, 12)}, 0);
  });
  expect_linear({5, 5}, [](T x, int64_t i) {
    const T t = transpose(x);
    return concatenate({rows(t, 1 + i % 3, 5), rows(t, 0, 1 + i % 3)}, 0);
  });
  expect_linear({16}, [](T x, int64_t i) {
    const T low = rows(x, 0, 8), high = rows(x, 8, 16);
    const auto swapped = low > static_cast<float>(i % 3);
    return concatenate({where(swapped, low, high), where(swapped, high, low)}, 0);
  });
  expect_linear({16}, [](T x, int64_t i) {
    const Array<int> order = Array<int>::from({1, 5, 2, 9, 12, 3, 0, 15}, {8});
    return concatenate({take(x, (order + static_cast<int>(i)) % 16, 0), rows(x, 0, 8)}, 0);
  });
}

TEST(ViewChains, OfPaddedArraysAreLinear) {
  expect_linear({4}, [](T x, int64_t i) { return pad(x, 0.5f, {i % 2}, {1}); });
  expect_linear({4}, [](T x, int64_t) { return pad(x, x.at(0), {1}, {1}); });
  expect_linear({16}, [](T x, int64_t i) { return rows(pad(x, static_cast<float>(i), {2}, {1}), 1, 17); });
}

TEST(ViewChains, OfBlocksWithGhostCellsAreLinear) {
  constexpr int64_t kBlocks = 4, kCells = 6, kAll = kBlocks * kCells;
  const auto exchange = [](bool advance) {
    return [advance](T x, int64_t) {
      std::vector<T> next;
      for (int64_t k = 0; k < kBlocks; ++k) {
        const auto cell = [&](int64_t i) { return rows(x, (i + kAll) % kAll, (i + kAll) % kAll + 1); };
        const T own = rows(x, k * kCells, (k + 1) * kCells);
        const T with_ghosts = concatenate({cell(k * kCells - 1), own, cell((k + 1) * kCells)}, 0);
        next.push_back(advance ? rows(with_ghosts, 1, kCells + 1) * 0.5f + rows(with_ghosts, 2, kCells + 2) * 0.25f +
                                     rows(with_ghosts, 0, kCells) * 0.25f
                               : concatenate({rows(with_ghosts, 2, kCells + 2)}, 0));
      }
      return concatenate(next, 0);
    };
  };
  expect_linear({kAll}, exchange(true));
  expect_linear({kAll}, exchange(false));
}

TEST(ViewChains, OfTrajectoriesAreLinear) {
  const auto advance = [](const T& x) { return x * 0.75f + 0.5f; };
  expect_linear(
      {1, 3}, [&](T all_steps, int64_t i) { return concatenate({all_steps, advance(rows(all_steps, i, i + 1))}, 0); });
  expect_linear({2, 3}, [&](T all_steps, int64_t i) {
    return concatenate({all_steps, advance(rows(all_steps, i + 1, i + 2)) - rows(all_steps, i, i + 1)}, 0);
  });
  expect_linear({1, 3}, [&](T all_steps, int64_t i) {
    return concatenate({advance(rows(all_steps, i / 2, i / 2 + 1)), all_steps}, 0);
  });
}

/// One random view, or an operation of one element, of an array with one or two dimensions. Extents stay bounded.
T random_step(const T& x, std::mt19937& random) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const auto slice = [&](const T& v) {
    const int64_t n = v.shape()[0], first = below(n), last = first + 1 + below(n - first);
    return v.at(range(first, last, 1 + below(2)));
  };
  switch (below(11)) {
    case 0:
    case 1:
      return concatenate({x, slice(x)}, 0);
    case 2:
      return concatenate({slice(x), x, slice(x)}, 0);
    case 3:
      return concatenate({slice(x), flip(slice(x))}, 0);
    case 4:
      return flip(x, {0});
    case 5:
      return x.shape().rank() == 2 ? transpose(x) : reshape(x, {1, x.shape()[0]});
    case 6:
      return reshape(x, {x.shape().num_elements()});
    case 7:
      return where(x > flip(x), x, slice(concatenate({x, x}, 0)).at(0));
    case 8: {
      std::vector<int64_t> low(static_cast<size_t>(x.shape().rank())), high = low;
      low[0] = below(3) - (x.shape()[0] > 3);
      high[0] = below(2);
      return pad(x, static_cast<float>(below(5)), low, high);
    }
    case 9: {
      std::vector<int> indices;
      for (int64_t i = 0; i < 1 + below(8); ++i) indices.push_back(static_cast<int>(below(x.shape()[0])));
      return take(x, Array<int>::from(indices, {static_cast<int64_t>(indices.size())}), 0);
    }
    default:
      return x * 2.0f - flip(x);
  }
}

Graph random_chain(uint32_t seed) {
  std::mt19937 random(seed);
  return jit([&](T x) {
           std::vector<T> results;
           for (uint32_t i = 0, steps = 3 + random() % 30; i < steps; ++i) {
             x = random_step(x, random);
             constexpr int64_t kMostRows = 40, kMostElements = 400;
             if (x.shape().num_elements() > kMostElements) x = reshape(x, {x.shape().num_elements()});
             if (x.shape()[0] > kMostRows) x = rows(x, x.shape()[0] % 7, x.shape()[0] % 7 + kMostRows / 2);
             if (random() % 16 == 0) results.push_back(x);
           }
           results.push_back(x);
           return results;
         })
      .trace(spec<float>({5}));
}

TEST(ViewChains, OfRandomStepsEqualTheReference) {
  uint32_t seeds = kAddressSanitizer ? 5 : 30;
  if (const char* text = std::getenv("CALQUE_TEST_SEEDS"))
    seeds = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    const Graph g = random_chain(seed);
    const std::vector<AnyArray> inputs = random_inputs(g, seed, false);
    ASSERT_EQ(compare_strictly(g, inputs).substr(0, 4000), "") << "seed " << seed;
    const Graph simplified = transform::simplify(g);
    ASSERT_EQ(compare_strictly(simplified, inputs).substr(0, 4000), "") << "seed " << seed;
    const auto before = reference::evaluate(g, inputs), after = reference::evaluate(simplified, inputs);
    for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(difference(after[i], before[i]), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace calque::test
