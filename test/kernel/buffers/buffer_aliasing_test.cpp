// Buffers of loop carries: updated in place, double buffered, or untouched; no carry is copied in a loop. Results are
// compared with the reference, also on random loops.
#include <functional>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "kernel/lower/build.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using namespace kernel;
using Floats = Tracer<float>;

Program build(const Graph& g) { return test::stages::build_program(transform::simplify(g)); }

/// Visits the steps inside loops.
void in_loops(const std::vector<Step>& steps, bool inside, const std::function<void(const Step&)>& visit) {
  for (const Step& s : steps) {
    const bool loops = s.kind == StepKind::while_ || s.kind == StepKind::repeat;
    if (inside) visit(s);
    for (const auto& block : s.blocks) in_loops(block, inside || loops, visit);
  }
}

/// Counts for arrays; copies of scalars are ignored.
struct InLoops {
  int copies = 0;           ///< copy steps, and kernels that only copy
  int double_buffered = 0;  ///< double-buffered views
  int64_t written = 0;      ///< bytes that the kernels write in one iteration
};

InLoops count(const Program& p) {
  InLoops n;
  in_loops(p.steps, false, [&](const Step& s) {
    n.copies += s.kind == StepKind::copy && s.bytes > 8;
    for (const View& v : s.views)
      n.double_buffered += !v.choices.empty() && p.buffers[static_cast<size_t>(v.buffer)].type.shape.rank() > 0;
    if (s.kind != StepKind::kernel) return;
    const Kernel& k = p.kernels[static_cast<size_t>(s.kernel)];
    n.copies += k.name == "copy" && k.bytes_written > 8;
    n.written += k.bytes_written;
  });
  return n;
}

void expect_like_reference(const Graph& g) {
  for (uint64_t seed = 0; seed < 3; ++seed) EXPECT_EQ(compare_strictly(g, random_inputs(g, seed, false)), "");
}

/// Sums of products are accumulated in a different order than the reference's.
void expect_near_reference(const Graph& g) {
  const std::vector<AnyArray> inputs = random_inputs(g, 1, false);
  const std::vector<AnyArray> want = reference::evaluate(transform::inline_calls(g), inputs),
                              got = run_native(g, inputs);
  EXPECT_EQ(difference(got[0], want[0], 1e-4, 1e-3), "") << g;
}

TEST(Carries, AreOverwrittenByElementwiseBodies) {
  const Graph g = jit([](auto x) {
                    return fori_loop(0, 9, [](auto i, auto v) { return amax(v) * 0.125f + v * cast<float>(i); }, x);
                  }).trace(spec<float>({64}));
  const Program p = build(g);
  EXPECT_EQ(count(p).copies, 0) << p;
  EXPECT_LT(p.workspace_bytes, 512) << p;
  expect_like_reference(g);
}

TEST(Carries, AreOverwrittenByProductsThatAreAddedToThem) {
  for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {7, 5, 3}, {17, 600, 33}, {64, 64, 64}, {65, 3, 129}}) {
    const Graph g = jit([](auto v, auto a, auto b) {
                      return fori_loop(0, 3, [&](auto i, auto v) { return v + matmul(a * cast<float>(i), b); }, v);
                    }).trace(spec<float>({m, n}), spec<float>({m, k}), spec<float>({k, n}));
    const Program p = build(g);
    EXPECT_EQ(count(p).copies, 0) << p;
    EXPECT_EQ(count(p).double_buffered, 0) << p;
    expect_near_reference(g);
  }
}

TEST(Carries, AreDoubleBufferedWhenAProductReadsThem) {
  const auto of = [](const auto& body) {
    return jit([&](auto v, auto a) { return fori_loop(0, 5, [&](auto, auto v) { return body(v, a); }, v); })
        .trace(spec<float>({33, 33}), spec<float>({33, 33}));
  };
  for (const Graph& g : {of([](auto v, auto a) { return v + 0.01f * matmul(v, a); }),
                         of([](auto v, auto a) { return v + 0.01f * matmul(a, v); }),
                         of([](auto v, auto a) { return transpose(v) + 0.01f * matmul(a, a); })}) {
    EXPECT_GT(count(build(g)).double_buffered, 0);
    expect_near_reference(g);
  }
}

TEST(Carries, AreDoubleBufferedWhenNeighboursAreRead) {
  const auto heat = [](int steps) {
    return jit([steps](auto x) {
             return fori_loop(
                 0, steps,
                 [](auto, auto v) {
                   auto inner = v.at(range(1, 31)), sides = v.at(range(0, 30)) + v.at(range(2, 32));
                   return pad(inner + 0.25f * (sides - 2.0f * inner), 0.0f, {1}, {1});
                 },
                 x);
           })
        .trace(spec<float>({32}));
  };
  for (int steps : {0, 1, 2, 7, 8}) {
    const Graph g = heat(steps);
    const Program p = build(g);
    EXPECT_EQ(count(p).copies, 0) << p;
    EXPECT_LE(p.workspace_bytes, 128) << p;
    expect_like_reference(g);
  }
}

TEST(Carries, OfWhileLoopsEndInTheirBufferAfterAnyNumberOfIterations) {
  const Graph g = jit([](auto x, auto n) {
                    return while_loop([n](auto s) { return std::get<1>(s) < n; },
                                      [](auto s) {
                                        auto [v, k] = s;
                                        return std::tuple{flip(v, 0) + cast<float>(k), k + 1};
                                      },
                                      std::tuple{x, int32_t{0}});
                  }).trace(spec<float>({16}), spec<int32_t>({}));
  const Program p = build(g);
  EXPECT_EQ(count(p).copies, 0) << p;
  EXPECT_EQ(count(p).double_buffered, 2) << p;
  for (int32_t n = 0; n < 5; ++n) {
    std::vector<AnyArray> inputs = random_inputs(g, 1, false);
    *static_cast<int32_t*>(inputs[1].mutable_data()) = n;
    EXPECT_EQ(compare_strictly(g, inputs), "") << n;
  }
}

TEST(Carries, AreUpdatedWithoutTouchingOtherElements) {
  constexpr int64_t kMany = 100000;
  const auto each = [](auto body) {
    return jit([body](auto x) { return fori_loop(0, 50, body, x); }).trace(spec<float>({kMany}));
  };
  const Graph element = each([](auto i, auto v) { return v.set(i, v[i] * 2.0f + 1.0f); });
  const Graph slice = each(
      [](auto i, auto v) { return dynamic_update_slice(v, sqrt(abs(dynamic_slice(v, {i}, {8}))) + 1.0f, {i + i}); });
  const Graph scatter = each([](auto i, auto v) {
    auto indices = iota<int32_t>(5) * i;
    return scatter_add(v, indices, take(v, indices, 0) * 0.5f);
  });
  for (const Graph* g : {&element, &slice, &scatter}) {
    const Program p = build(*g);
    EXPECT_EQ(count(p).copies, 0) << p;
    EXPECT_EQ(count(p).double_buffered, 0) << p;
    EXPECT_LT(count(p).written, 256) << p;
    EXPECT_LT(p.workspace_bytes, 1024) << p;
    EXPECT_EQ(compare_strictly(*g, random_inputs(*g, 3, false)), "");
  }
}

TEST(Carries, OfInnerLoopsUseTheBuffersOfTheOuterOnes) {
  const Graph g = jit([](auto x) {
                    return fori_loop(
                        0, 4,
                        [](auto i, auto v) {
                          return fori_loop(0, 3, [i](auto k, auto w) { return w.set(i + k, w[i] + 1.0f); }, v);
                        },
                        x);
                  }).trace(spec<float>({1000}));
  const Program p = build(g);
  EXPECT_EQ(count(p).copies, 0) << p;
  EXPECT_EQ(count(p).double_buffered, 0) << p;
  expect_like_reference(g);
}

TEST(Carries, ThatNeverChangeOrChangeInOneBranchAloneCostNothing) {
  const Graph g =
      jit([](auto x, auto table) {
        return fori_loop(
            0, 6,
            [](auto i, auto s) {
              auto [v, t] = s;
              auto next = cond(
                  i % 2 == 0, [i](auto u, auto w) { return u.set(i, w[i]); }, [](auto u, auto) { return u; }, v, t);
              return std::tuple{next, t};
            },
            std::tuple{x, table});
      }).trace(spec<float>({1000}), spec<float>({1000}));
  const Program p = build(g);
  EXPECT_EQ(count(p).copies, 0) << p;
  EXPECT_EQ(count(p).double_buffered, 0) << p;
  expect_like_reference(g);
}

// ---- random loops

using State = std::vector<Floats>;
constexpr int64_t kLength = 11;

Floats drawn(Rng& rng, const State& s, const Tracer<int32_t>& i) {
  const auto& x = s[static_cast<size_t>(rng.between(0, std::ssize(s) - 1))];
  const auto& y = s[static_cast<size_t>(rng.between(0, std::ssize(s) - 1))];
  switch (rng.between(0, 11)) {
    case 0:
      return x;
    case 1:
      return x + y * 0.5f;
    case 2:
      return flip(x, 0) - y;
    case 3:
      return roll(x, 2, 0);
    case 4:
      return x.set(i, y[i] + 1.0f);
    case 5:
      return x.set(i, x[i + 1] - y[0]);
    case 6:
      return dynamic_update_slice(x, dynamic_slice(y, {i}, {3}) * 2.0f, {i + 1});
    case 7:
      return dynamic_update_slice(dynamic_update_slice(x, y.at(range(0, 2)), {i}), x.at(range(3, 5)), {0});
    case 8: {
      auto indices = iota<int32_t>(4) * i % 5;
      return scatter_add(x, indices, take(y, indices, 0));
    }
    case 9:
      return x - amax(y);
    case 10:
      return where(x > y, x, cast<float>(i));
    default:
      return cumsum(x, 0) * 0.25f;
  }
}

State step(uint64_t seed, State s, const Tracer<int32_t>& i, int depth);

/// Draws the same numbers each time the body is traced.
State loop(uint64_t seed, const State& s, int depth) {
  Rng rng(seed);
  const auto n = rng.between(0, 5);
  if (rng.chance(50)) return fori_loop(0, n, [=](auto i, auto v) { return step(seed, v, i, depth); }, s);
  auto [last, number] = while_loop([n](auto c) { return std::get<1>(c) < static_cast<int32_t>(n); },
                                   [=](auto c) {
                                     auto [v, i] = c;
                                     return std::tuple{step(seed, v, i, depth), i + 1};
                                   },
                                   std::tuple{s, Tracer<int32_t>(Array<int32_t>(0))});
  return last;
}

State step(uint64_t seed, State s, const Tracer<int32_t>& i, int depth) {
  Rng rng(seed * 31 + 7);
  for (auto count = rng.between(1, 4); count > 0; --count) {
    const auto which = static_cast<size_t>(rng.between(0, std::ssize(s) - 1));
    if (rng.chance(15)) std::swap(s[0], s[which]);
    if (depth > 0 && rng.chance(20)) s = loop(seed + 1000, s, depth - 1);
    if (rng.chance(20)) {
      const uint64_t inner = seed + 77;
      const auto draw = [&](uint64_t salt) {
        return [=](auto v) {
          Rng branch(inner + salt);
          v[which] = drawn(branch, v, i);
          return v;
        };
      };
      s = cond(i % 2 == 0, draw(0), draw(1), s);
    } else {
      s[which] = drawn(rng, s, i);
    }
  }
  return s;
}

TEST(Carries, OfRandomLoopsMatchTheReference) {
  const uint64_t seeds = kAddressSanitizer || kThreadSanitizer ? 30 : 150;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const auto f = jit([seed](auto a, auto b, auto c) {
      State s{a, b, c};
      for (Floats& v : s) v = v * 1.0f;
      return loop(seed, s, 1);
    });
    const Graph g = f.trace(spec<float>({kLength}), spec<float>({kLength}), spec<float>({kLength}));
    ASSERT_EQ(compare_strictly(g, random_inputs(g, seed, false)), "") << "seed " << seed << "\n" << build(g);
  }
}

}  // namespace
}  // namespace calque::test
