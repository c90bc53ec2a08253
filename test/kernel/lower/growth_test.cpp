// Programs with thousands of arrays: compile time is linear, not quadratic, in their number. The tests count the
// quantities that determine the time, since the clock is unreliable in a test.
#include <algorithm>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "kernel/buffers/merge_buffers.h"
#include "kernel/ir/same_code.h"
#include "kernel/lower/build.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using namespace kernel;
using Arrays = std::vector<Array<float>>;

/// Every load and store of a kernel is compared with every other one: a bound on this makes compile time linear.
constexpr size_t kMostBuffers = 300;

Program build(const Graph& g) { return test::stages::build_program(transform::simplify(g)); }

size_t most_buffers(const Program& p) {
  size_t most = 0;
  for (const Kernel& k : p.kernels) most = std::max(most, k.buffers.size());
  return most;
}

size_t count(const Region& r) {
  size_t n = r.instructions.size();
  for (const Instruction& i : r.instructions)
    for (const Region& inner : i.regions) n += count(inner);
  return n;
}
size_t instructions(const Program& p) {
  size_t n = 0;
  for (const Kernel& k : p.kernels) n += count(k.body);
  return n;
}

Arrays leaves(int64_t count, const Shape& shape = {3}) { return Arrays(count, Array<float>::ones(shape)); }
Arrays leaves_of_many_shapes(int64_t count) {
  Arrays out;
  for (int64_t i = 0; i < count; ++i) out.push_back(Array<float>::ones({i % 61 + 1}));
  return out;
}

/// `trace` makes a graph of about the given number of arrays.
template <class Trace>
void expect_linear(const Trace& trace) {
  const int64_t kArrays = kAddressSanitizer ? 300 : 600;
  const Program small = build(trace(kArrays)), large = build(trace(4 * kArrays));
  EXPECT_LE(most_buffers(small), kMostBuffers);
  EXPECT_LE(most_buffers(large), kMostBuffers);
  EXPECT_LE(instructions(large), 6 * instructions(small));
  EXPECT_LE(large.kernels.size(), 6 * small.kernels.size());
  const Graph g = trace(kArrays);
  EXPECT_EQ(compare_strictly(g, random_inputs(g, 1, false)).substr(0, 2000), "");
}

TEST(Growth, OfLeavesScaledEachIsLinear) {
  const auto scale = jit([](const auto& v) {
    auto out = v;
    for (auto& x : out) x = x * 2.0f;
    return out;
  });
  expect_linear([&](int64_t n) { return scale.trace(leaves(n)); });
  expect_linear([&](int64_t n) { return scale.trace(leaves(n, {})); });
  expect_linear([&](int64_t n) { return scale.trace(leaves(n, {20'000})); });
  expect_linear([&](int64_t n) { return scale.trace(leaves_of_many_shapes(n)); });
}

TEST(Growth, OfASumOfArgumentsIsLinear) {
  const auto sum_of = jit([](const auto& v) {
    auto s = v[0];
    for (size_t i = 1; i < v.size(); ++i) s = s + v[i];
    return s;
  });
  expect_linear([&](int64_t n) { return sum_of.trace(leaves(n)); });
  expect_linear([&](int64_t n) { return sum_of.trace(leaves(n, {})); });
  expect_linear([&](int64_t n) { return sum_of.trace(leaves(n, {20'000})); });
}

// Two sums over the same 100 arrays, then both over others. Few values cross between the first two, where the kernel is
// split although more equations have been visited by then: the next kernel reads the 100 arrays too.
TEST(Growth, ArraysOfTwoKernelsCountInBoth) {
  constexpr size_t kShared = 100;
  const auto sums = jit([](const auto& v) {
    auto a = v[0], b = v[0];
    for (size_t i = 1; i < kShared; ++i) a = a + v[i];
    b = b * a;
    for (size_t i = 1; i < kShared; ++i) b = b + a * v[i];
    for (size_t i = kShared; i < v.size(); ++i) b = b + a * v[i];
    return b;
  });
  const Program p = build(sums.trace(leaves(400)));
  EXPECT_LE(most_buffers(p), 160U);
}

int64_t flops(const Program& p) {
  int64_t n = 0;
  for (const Kernel& k : p.kernels) n += k.flops;
  return n;
}

// All parts need the same long computation, which reads more buffers than a kernel should: it is computed once.
TEST(Growth, ValuesSharedByPartsAreComputedOnce) {
  constexpr int64_t kArrays = 400, kParts = 31, kElements = 600;
  const auto parts = jit([](const auto& v) {
    std::vector<Tracer<float>> state(v.begin(), v.begin() + kParts);
    for (size_t i = kParts; i < v.size(); ++i)
      state[i % kParts] = state[i % kParts] * v[i] + state[(i * 3 + 1) % kParts];
    for (auto& x : state) x = expand_dims(x * 3.0f, 0);
    return concatenate(state, 0);
  });
  const Program p = build(parts.trace(leaves(kArrays, {kElements})));
  EXPECT_LE(flops(p), 4 * kArrays * kElements);
  EXPECT_GT(most_buffers(p), 320U);  // twice what a kernel should have
  // But not where a device's limit is lower.
  const Graph simplified = transform::simplify(parts.trace(leaves(kArrays, {kElements})));
  BuildOptions options;
  options.limits.most_buffers = 200;
  EXPECT_LE(most_buffers(test::stages::build_program(simplified, options)), 200U + kParts);
}

// The same where every other part needs little of it.
TEST(Growth, ValuesSharedByEveryOtherPartAreComputedOnce) {
  constexpr int64_t kArrays = 400, kParts = 31, kElements = 600;
  const auto parts = jit([](const auto& v) {
    std::vector<Tracer<float>> state(v.begin(), v.begin() + kParts);
    for (size_t i = kParts; i < v.size(); ++i)
      state[i % kParts] = state[i % kParts] * v[i] + state[(i * 3 + 1) % kParts];
    std::vector<Tracer<float>> all;
    for (size_t i = 0; i < state.size(); ++i) {
      all.push_back(expand_dims(state[i] * 3.0f, 0));
      all.push_back(expand_dims(v[i] * 2.0f, 0));
    }
    return concatenate(all, 0);
  });
  const Program p = build(parts.trace(leaves(kArrays, {kElements})));
  EXPECT_LE(flops(p), 4 * kArrays * kElements);
}

// A state of 30 large arrays is live at every split point between updates by small arrays: storing it costs more than a
// kernel with many small buffers.
TEST(Growth, AWideStateStaysInOneKernel) {
  constexpr int64_t kArrays = 300, kRows = 64, kColumns = 100;
  const auto steps = jit([](const auto& v) {
    std::vector<Tracer<float>> state(30, broadcast_to(v[0], {kRows, kColumns}));
    for (size_t k = 0; k < state.size(); ++k) state[k] = state[k] * static_cast<float>(k + 2);
    for (size_t i = 1; i < v.size(); ++i)
      state[i % state.size()] = state[i % state.size()] * v[i] + state[(i * 7 + 3) % state.size()];
    auto total = state[0];
    for (size_t k = 1; k < state.size(); ++k) total = total + state[k];
    return total;
  });
  const Program p = build(steps.trace(leaves(kArrays, {kColumns})));
  EXPECT_LT(p.workspace_bytes, 4 * kRows * kColumns * 4);
  EXPECT_LE(flops(p), 3 * kArrays * kRows * kColumns);
}

// Eight short results of thousands of scalars, as a Hessian has them: the arrays that are live between kernels are
// stored, since every kernel that computed them again would read all scalars.
TEST(Growth, OfScalarsReadByShortArraysIsLinear) {
  const auto columns = jit([](const auto& v) {
    auto y = broadcast_to(v[0], {8}) + 1.0f;
    std::vector<decltype(y)> tangents, state(8, y);
    for (const auto& x : v) tangents.push_back(y = y * sin(x) + 0.5f);
    for (size_t i = v.size(); i-- > 0;)
      for (size_t k = 0; k < state.size(); ++k) state[k] = state[k] * 0.5f + tangents[i] * state[(k + 1) % 8];
    return state;
  });
  expect_linear([&](int64_t n) { return columns.trace(leaves(n, {})); });
  const Program p = build(columns.trace(leaves(2400, {})));
  EXPECT_LE(flops(p), 2400 * 8 * 40);
}

TEST(Growth, OfSumsOfArraysOfManyShapesIsLinear) {
  const auto loss = jit([](const auto& v) {
    auto s = sum(v[0] * v[0]);
    for (size_t i = 1; i < v.size(); ++i) s = s + sum(v[i] * v[i]);
    return s;
  });
  expect_linear([&](int64_t n) { return loss.trace(leaves_of_many_shapes(n)); });
}

TEST(Growth, OfOutputsIsLinear) {
  for (const bool same : {false, true}) {
    expect_linear([&](int64_t n) {
      return jit([&](auto x) {
               std::vector<decltype(x)> out(static_cast<size_t>(n), x * 3.0f);
               for (size_t i = 0; i < out.size() && !same; ++i) out[i] = x * static_cast<float>(i + 3);
               return out;
             })
          .trace(spec<float>({5}));
    });
  }
}

TEST(Growth, OfConcatenatedPartsIsLinear) {
  const auto whole = jit([](const auto& v) { return concatenate(v, 0); });
  const auto used = jit([](const auto& v) { return concatenate(v, 0) * 0.5f + 1.0f; });
  const auto columns = jit([](const auto& v) { return stack(v, 1) * 0.5f; });
  expect_linear([&](int64_t n) { return whole.trace(leaves(n)); });
  expect_linear([&](int64_t n) { return used.trace(leaves_of_many_shapes(n)); });
  expect_linear([&](int64_t n) { return columns.trace(leaves(n)); });
}

TEST(Growth, OfCarriesThatShiftIsLinear) {
  const auto shift = jit([](const auto& v) {
    return fori_loop(
        0, 5,
        [](auto, auto s) {
          auto next = s;
          for (size_t i = 0; i < s.size(); ++i) next[i] = s[(i + 1) % s.size()];
          return next;
        },
        v);
  });
  expect_linear([&](int64_t n) { return shift.trace(leaves(n)); });
  expect_linear([&](int64_t n) { return shift.trace(leaves(n, {})); });
}

TEST(Growth, OfArraysThatAScanStepsOverIsLinear) {
  const auto steps = jit([](const auto& v) {
    return scan(
        [](auto carry, auto xs) {
          auto ys = xs;
          for (auto& y : ys) y = carry + y;
          return std::pair{carry * 0.5f, ys};
        },
        v[0] * 0.0f + 1.0f, std::vector(v.begin() + 1, v.end()));
  });
  expect_linear([&](int64_t n) {
    Arrays v = leaves(n, {6, 3});
    v.insert(v.begin(), Array<float>::ones({3}));
    return steps.trace(v);
  });
}

/// A ring: kernel k reads carry k + 1 and writes carry k. Returns the number of steps visited to merge all carries.
size_t visited_in_a_ring(int32_t n) {
  const Program one = build(jit([](auto x) { return x + 1.0f; }).trace(spec<float>({4})));
  Program p = one;
  p.kernels.assign(static_cast<size_t>(n), one.kernels[0]);
  p.steps.assign(static_cast<size_t>(n), one.steps[0]);
  int32_t read = -1, written = -1;  // positions of the kernel's buffers
  for (int32_t b = 0; b < 2; ++b) (one.kernels[0].buffers[static_cast<size_t>(b)].written ? written : read) = b;
  for (int32_t k = 0; k < n; ++k) {
    Step& step = p.steps[static_cast<size_t>(k)];
    step.kernel = k;
    step.views[static_cast<size_t>(read)].buffer = (k + 1) % n;
    step.views[static_cast<size_t>(written)].buffer = n + k;
  }
  BufferMerger merger(p, p.steps);
  int32_t merged = 0;
  for (int32_t k = 0; k < n; ++k) merged += merger.merge(k, n + k);
  EXPECT_EQ(merged, n - 1);  // one merge would close the cycle
  return merger.steps_visited();
}

TEST(Growth, OfMergingCarriesIsLinear) { EXPECT_LE(visited_in_a_ring(1600), 5 * visited_in_a_ring(400)); }

TEST(SameCode, IsIndependentOfBindings) {
  const Graph g = jit([](auto x, auto y) {
                    return std::tuple{cumsum(x, 0), cumsum(y, 0), cumprod(x, 0)};
                  }).trace(spec<float>({5}), spec<float>({5}));
  const Program p = build(g);
  ASSERT_EQ(p.kernels.size(), 3u);
  EXPECT_TRUE(same_code(p.kernels[0], p.kernels[1]));
  EXPECT_EQ(hash_of_code(p.kernels[0]), hash_of_code(p.kernels[1]));
  EXPECT_FALSE(same_code(p.kernels[0], p.kernels[2]));
  EXPECT_EQ(compare_strictly(g, random_inputs(g, 1, false)), "");
}

}  // namespace
}  // namespace calque::test
