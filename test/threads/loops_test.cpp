// Loops of the entry function whose iterations run on several threads.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "kernel/lower/build.h"
#include "runtime/memory/workspace.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/random/random_graph.h"
#include "support/splitting.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

using kernel::ParallelLoops;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

kernel::BuildOptions options_of(ParallelLoops loops) {
  kernel::BuildOptions options;
  options.parallel_loops = loops;
  return options;
}

std::string program_of(const Graph& graph, ParallelLoops loops = ParallelLoops::sums) {
  const Splitting splitting(true);
  std::ostringstream out;
  out << test::stages::build_program(transform::simplify(graph), options_of(loops));
  return out.str();
}

NativeGraph compiled(const Graph& graph, bool split, ParallelLoops loops) {
  const Splitting splitting(split);
  return NativeGraph(graph, options_of(loops));
}

std::vector<AnyArray> run_on(int threads, const NativeGraph& graph, const std::vector<AnyArray>& inputs) {
  const Threads number(threads);
  return graph(inputs);
}

/// The results of the loop as it is written, on one thread.
std::vector<AnyArray> run_in_order(const Graph& graph, const std::vector<AnyArray>& inputs) {
  return run_on(1, compiled(graph, false, ParallelLoops::none), inputs);
}

/// Expects a parallel loop with the same bits as the sequential loop.
void expect_same_bits(const Graph& graph, const std::vector<AnyArray>& inputs) {
  EXPECT_THAT(program_of(graph), ContainsRegex("repeat [^\n]* threads\\(")) << print(graph);
  const std::vector<AnyArray> want = run_in_order(graph, inputs);
  const NativeGraph split = compiled(graph, true, ParallelLoops::maps);
  for (const int threads : {1, 2, 5})
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::vector<AnyArray> got = run_on(threads, split, inputs);
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(difference(got[i], want[i]), "") << "output " << i << " on " << threads << " threads";
    }
}

/// Expects chunked sums that differ from sequential ones only by rounding and do not depend on the number of threads.
void expect_same_sums(const Graph& graph, const std::vector<AnyArray>& inputs, double rtol) {
  EXPECT_THAT(program_of(graph), ContainsRegex("repeat [^\n]* chunks [^\n]* threads\\(")) << print(graph);
  const std::vector<AnyArray> in_order = run_in_order(graph, inputs);
  const NativeGraph chunked = compiled(graph, true, ParallelLoops::sums);
  const std::vector<AnyArray> want = run_on(1, chunked, inputs);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(want[i], in_order[i], rtol, rtol), "") << i;
  for (const int threads : {2, 3, 5}) {
    const std::vector<AnyArray> got = run_on(threads, chunked, inputs);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(difference(got[i], want[i]), "") << "output " << i << " on " << threads << " threads";
  }
}

template <class T>
AnyArray random_of(const Shape& shape, uint64_t seed = 5) {
  Rng rng(seed);
  return random_array({dtype_of<T>, shape}, rng, false);
}

/// Several kernels, each reading the results of the previous one.
constexpr auto kRows = [](auto m) {
  const auto scaled = m - mean(m, {1}, keepdims);
  return softmax(matmul(scaled, transpose(scaled)), 1);
};

TEST(ParallelLoops, MapsHaveTheBitsOfLoopsInOrder) {
  for (const int64_t count : {2, 3, 7, 64, 65, 131}) {
    const AnyArray xs = random_of<float>({count, 5, 9});
    expect_same_bits(jit([](auto x) { return map(kRows, x); }).trace(Array<float>(xs)), {xs});
  }
}

TEST(ParallelLoops, SeveralInputsAndOutputsAndWhatAllShare) {
  const AnyArray a = random_of<double>({37, 6, 4}), b = random_of<double>({37, 4}), w = random_of<double>({4, 4}, 8);
  const auto f = [](auto a, auto b, auto w) {
    return map(
        [&](auto row) {
          const auto [x, y] = row;
          const auto z = matmul(x, w) + y;
          return std::tuple{cumsum(z, 0), amax(z, {1}), sum(matmul(transpose(z), z))};
        },
        std::pair{a, b});
  };
  expect_same_bits(jit(f).trace(Array<double>(a), Array<double>(b), Array<double>(w)), {a, b, w});
}

TEST(ParallelLoops, LoopsInside) {
  const AnyArray xs = random_of<double>({19, 8, 8});
  const auto nested = [](auto x) {
    return map(
        [](auto m) {
          const auto inner =
              scan([](auto state, auto row) { return std::pair{matmul(state, state) * 0.01 + row, sum(state)}; }, m, m);
          const auto last = while_loop([](auto s) { return sum(abs(s)) > 1e-3; },
                                       [](auto s) { return matmul(s, s) / (1.0 + sum(abs(s))) * 0.5; }, inner.first);
          return std::pair{last, inner.second};
        },
        x);
  };
  expect_same_bits(jit(nested).trace(Array<double>(xs)), {xs});
  const auto twice = [](auto x) {
    return map([](auto m) { return map([](auto r) { return cumsum(r * sum(r), 0); }, m); }, x);
  };
  expect_same_bits(jit(twice).trace(Array<double>(xs)), {xs});
  // The parallel loop is inside a sequential one.
  const auto outer = [](auto x) {
    return scan(
               [&](auto c, auto m) {
                 return std::pair{map([](auto r) { return cumsum(r * amax(r), 0); }, c) * 0.5 + m, sum(c)};
               },
               x.at(0) * 0.0, x)
        .first;
  };
  expect_same_bits(jit(outer).trace(Array<double>(xs)), {xs});
}

// A static composite value has no component that a loop could change.
TEST(ParallelLoops, StaticComponentsOfCarries) {
  const auto f = [](auto xs) {
    return scan(
               [](auto carry, auto x) {
                 auto [total, names] = carry;
                 return std::pair{std::pair{total + sum(x), names}, static_cast<float>(names.second.size()) * x};
               },
               std::pair{sum(xs.at(0)), std::pair{std::string("a"), std::string("bc")}}, xs)
        .second;
  };
  const auto got = jit(f)(Array<float>::from({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(got.at(1, 1).item(), 8.0f);
}

TEST(ParallelLoops, ReversedAndOfEveryDtype) {
  const auto reversed = [](auto x) {
    return scan([](auto none, auto m) { return std::pair{none, cumsum(m * amax(m), 0)}; }, std::tuple<>{}, x,
                {.reverse = true})
        .second;
  };
  const AnyArray f = random_of<float>({33, 11}), h = random_of<float16>({33, 11}), i = random_of<int32_t>({33, 11});
  expect_same_bits(jit(reversed).trace(Array<float>(f)), {f});
  expect_same_bits(jit(reversed).trace(Array<float16>(h)), {h});
  expect_same_bits(jit(reversed).trace(Array<int32_t>(i)), {i});
}

TEST(ParallelLoops, DonatedInputsKeepTheirBits) {
  const AnyArray xs = random_of<double>({41, 6, 6});
  const Graph g =
      jit([](auto x) { return map([](auto m) { return matmul(m, m) + sum(m); }, x); }).trace(Array<double>(xs));
  const std::vector<AnyArray> want = run_in_order(g, {xs});
  const Splitting splitting(true);
  for (const int threads : {1, 2, 5}) {
    const Threads number(threads);
    size_t taken = 0;
    EXPECT_EQ(difference(run_donating(g, {xs}, taken)[0], want[0]), "");
  }
}

TEST(ParallelLoops, SumsAreComputedInChunks) {
  const AnyArray w = random_of<double>({6, 3}, 2);
  const auto f = [](auto w, auto xs) {
    return scan(
        [&](auto sums, auto m) {
          const auto [total, matrix] = sums;
          const auto p = softmax(matmul(m, w), 1);
          return std::pair{std::pair{total + sum(p * p), matrix + matmul(transpose(p), p)}, amax(p)};
        },
        std::pair{sum(w), matmul(transpose(w), w)}, xs);
  };
  for (const int64_t count : {4, 5, 63, 64, 65, 200}) {
    const AnyArray xs = random_of<double>({count, 400, 6});
    expect_same_sums(jit(f).trace(Array<double>(w), Array<double>(xs)), {w, xs}, 1e-12);
  }
}

TEST(ParallelLoops, SumsOfColumns) {
  const AnyArray start = random_of<double>({13}, 2), xs = random_of<double>({40, 90, 13});
  const auto f = [](auto start, auto xs) {
    return scan([](auto total, auto m) { return std::pair{total + sum(m, {0}), amax(m)}; }, start, xs);
  };
  expect_same_sums(jit(f).trace(Array<double>(start), Array<double>(xs)), {start, xs}, 1e-12);
}

TEST(ParallelLoops, IntegersAreSummedExactly) {
  const AnyArray xs = random_of<int32_t>({77, 9, 9});
  const auto f = [](auto xs) {
    return scan([](auto total, auto m) { return std::pair{m.at(0) + (total + cumsum(matmul(m, m), 0).at(3)), sum(m)}; },
                xs.at(0, 1), xs);
  };
  expect_same_sums(jit(f).trace(Array<int32_t>(xs)), {xs}, 0);
}

TEST(ParallelLoops, IntegersAreSummedInChunksInEveryMode) {
  const Graph g = jit([](auto xs) {
                    return scan([](auto total, auto m) { return std::pair{total + sum(matmul(m, m)), amax(m)}; },
                                xs.at(0, 0, 0), xs);
                  }).trace(spec<int32_t>({50, 7, 7}));
  EXPECT_THAT(program_of(g, ParallelLoops::maps), ContainsRegex("repeat 50 [^\n]* chunks [^\n]* threads"));
}

TEST(ParallelLoops, SumsStartFromTheInitialValue) {
  const auto total_of = [](double initial, double term) {
    const AnyArray start = Array<double>::from({initial}, {1}).any(),
                   xs = Array<double>::from(std::vector<double>(400 * 300, term), {400, 300, 1}).any();
    const Graph g =
        jit([](auto start, auto xs) {
          return scan([](auto total, auto m) { return std::pair{total + amax(m, {0}), sum(m)}; }, start, xs).first;
        }).trace(Array<double>(start), Array<double>(xs));
    EXPECT_THAT(program_of(g), HasSubstr("chunks"));
    return Array<double>(run_on(2, compiled(g, true, ParallelLoops::sums), {start, xs})[0]).at(0).item();
  };
  EXPECT_TRUE(std::signbit(total_of(-0.0, -0.0)));
  EXPECT_FALSE(std::signbit(total_of(0.0, -0.0)));
  // The sum of 400 elements overflows.
  EXPECT_NEAR(total_of(-1.7e308, 5e305), 3e307, 1e295);
}

TEST(ParallelLoops, PartialSumsAreBounded) {
  const auto f = [](auto w, auto xs) {
    return scan([](auto total, auto m) { return std::pair{total + matmul(transpose(m), m), sum(m)}; }, w, xs).first;
  };
  const auto workspace = [&](int64_t n) {
    const Graph g = jit(f).trace(spec<float>({n, n}), spec<float>({64, 200, n}));
    return test::stages::build_program(transform::simplify(g), options_of(ParallelLoops::sums)).workspace_bytes;
  };
  EXPECT_GT(workspace(300), 8 * 300 * 300 * 4);
  for (const int64_t n : {300, 1000, 3000, 10000}) EXPECT_LT(workspace(n), 17 << 20) << n;
}

TEST(ParallelLoops, OnlyTheOutermostSumsInChunks) {
  const auto f = [](auto xs) {
    return map(
        [](auto m) { return scan([](auto s, auto r) { return std::pair{s + sum(cumsum(r, 0)), amax(r)}; }, 0.0, m); },
        xs);
  };
  const AnyArray xs = random_of<double>({40, 30, 20});
  const Graph g = jit(f).trace(Array<double>(xs));
  EXPECT_THAT(program_of(g), Not(HasSubstr("chunks")));
  expect_same_bits(g, {xs});
}

TEST(ParallelLoops, GradientsOfMaps) {
  const AnyArray w = random_of<double>({6, 3}, 2), xs = random_of<double>({50, 5, 6});
  const auto loss = [](auto w, auto xs) {
    return sum(map([&](auto m) { return sum(logsumexp(matmul(tanh(matmul(m, w)), transpose(w)), {1})); }, xs));
  };
  expect_same_sums(jit(value_and_grad(loss)).trace(Array<double>(w), Array<double>(xs)), {w, xs}, 1e-12);
  const auto both = [loss](auto w, auto xs) { return grad(loss, argnums<0, 1>)(w, xs); };
  expect_same_sums(jit(both).trace(Array<double>(w), Array<double>(xs)), {w, xs}, 1e-12);
}

TEST(ParallelLoops, StrictModeSumsInOrder) {
  const AnyArray xs = random_of<float>({50, 7, 7});
  const auto f = [](auto xs) {
    return scan([](auto total, auto m) { return std::pair{total + sum(matmul(m, m)), amax(m)}; }, 0.0f, xs);
  };
  const Graph g = jit(f).trace(Array<float>(xs));
  EXPECT_THAT(program_of(g, ParallelLoops::maps), Not(ContainsRegex("repeat [^\n]* threads")));
  const Splitting splitting(true);
  const auto strict = jit(f, {.strict = true})(Array<float>(xs));
  codegen::CodegenOptions options;
  options.strict = true;
  const std::vector<AnyArray> want = run_native(g, {xs}, options, options_of(ParallelLoops::none));
  EXPECT_EQ(difference(strict.first.any(), want[0]), "");
}

TEST(ParallelLoops, LoopsThatMustRunInOrderDo) {
  const AnyArray xs = random_of<double>({50, 7, 7});
  const auto in_order = [&](const char* what, const auto& f) {
    const Graph g = jit(f).trace(Array<double>(xs));
    EXPECT_THAT(program_of(g), ContainsRegex("repeat 50 i[0-9]+ \\{")) << what;
    const std::vector<AnyArray> want = run_in_order(g, {xs});
    const std::vector<AnyArray> got = run_on(3, compiled(g, true, ParallelLoops::sums), {xs});
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(difference(got[i], want[i]), "") << what;
  };
  in_order("the sum is used", [](auto x) {
    return scan([](auto s, auto m) { return std::pair{s + sum(matmul(m, m)), amax(m) * s}; }, 0.0, x);
  });
  in_order("the partial sum is a result", [](auto x) {
    return scan(
        [](auto s, auto m) {
          const auto next = s + sum(matmul(m, m));
          return std::pair{next, next};
        },
        0.0, x);
  });
  in_order("the partial sum is used for a result", [](auto x) {
    return scan(
        [](auto s, auto m) {
          const auto next = s + sum(matmul(m, m));
          return std::pair{next, next * 2.0};
        },
        0.0, x);
  });
  in_order("the partial sum is a result in another shape", [](auto x) {
    return scan(
        [](auto s, auto m) {
          const auto next = s + sum(matmul(m, m));
          return std::pair{next, reshape(next, {1, 1})};
        },
        0.0, x);
  });
  in_order("another sum adds the partial sum", [](auto x) {
    return scan(
        [](auto s, auto m) {
          const auto velocity = s.first + sum(matmul(m, m));
          return std::pair{std::pair{velocity, s.second + 0.5 * velocity}, amax(m)};
        },
        std::pair{0.0 * x.at(0, 0, 0), 0.0 * x.at(0, 0, 1)}, x);
  });
  in_order("a product", [](auto x) {
    return scan([](auto s, auto m) { return std::pair{s * sum(matmul(m, m)), amax(m)}; }, 1.0, x);
  });
  in_order("twice itself", [](auto x) {
    return scan([](auto s, auto m) { return std::pair{s + s * 0.5 + sum(matmul(m, m)), amax(m)}; }, 1.0, x);
  });
  in_order("one of two is no sum", [](auto x) {
    return scan(
        [](auto s, auto m) { return std::pair{std::pair{s.first + sum(matmul(m, m)), matmul(m, s.second)}, amax(m)}; },
        std::pair{0.0 * x.at(0, 0, 0), x.at(1)}, x);
  });
  in_order("16 bits", [](auto x) {
    return scan([](auto s, auto m) { return std::pair{s + cast<float16>(sum(matmul(m, m))), amax(m)}; },
                cast<float16>(x.at(0, 0, 0)), x);
  });
}

TEST(ParallelLoops, CallsIntoTheHostKeepTheirOrder) {
  std::vector<double> seen;
  const auto f = [&](auto xs) {
    return map(
        [&](auto m) {
          return host_call(
              [&](const Array<double>& x) {
                seen.push_back(x.item());
                return x;
              },
              spec<double>({}), sum(matmul(m, m)));
        },
        xs);
  };
  const Splitting splitting(true);
  const Threads threads(4);
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(i);
  const auto got = jit(f)(Array<double>::from(values, {64, 1, 1}));
  ASSERT_EQ(seen.size(), 64u);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(seen[i], static_cast<double>(i * i));
}

TEST(ParallelLoops, PrivateMemoryIsBounded) {
  // The product of 1100 x 1100 doubles in each iteration is too much for a cache.
  const auto f = [](auto xs) { return map([](auto m) { return amax(matmul(m, m), {1}); }, xs); };
  const std::string small = program_of(jit(f).trace(spec<double>({8, 64, 64}))),
                    large = program_of(jit(f).trace(spec<double>({8, 1100, 1100})));
  EXPECT_THAT(small, ContainsRegex("repeat 8 [^\n]*threads\\(1\\)"));
  EXPECT_THAT(large, Not(ContainsRegex("repeat 8 [^\n]*threads")));
}

TEST(ParallelLoops, WithoutMemoryTheCallThrows) {
  const AnyArray xs = random_of<double>({64, 30, 30});
  const Splitting splitting(true);
  const Threads threads(2);
  const auto f = jit([](auto xs) { return map([](auto m) { return amax(matmul(m, m) + cumsum(m, 0), {1}); }, xs); });
  EXPECT_THAT(f.lower(Array<double>(xs)).plan().str(), ContainsRegex("repeat 64 [^\n]*private"));
  const auto want = f(Array<double>(xs));
  runtime::largest_thread_memory = 0;
  // Threads retain their memory; this needs a larger block.
  const AnyArray larger = random_of<double>({64, 80, 80});
  EXPECT_THROW(f(Array<double>(larger)), DeviceError);
  runtime::largest_thread_memory = SIZE_MAX;
  EXPECT_EQ(difference(f(Array<double>(xs)).any(), want.any()), "");
}

TEST(ParallelLoops, SmallLoopsRunOnOneThread) {
  const auto f = jit([](auto xs) { return map([](auto m) { return amax(matmul(m, m), {1}); }, xs); });
  EXPECT_THAT(f.lower(spec<double>({8, 4, 4})).plan().str(), Not(ContainsRegex("repeat [^\n]*threads")));
  EXPECT_THAT(f.lower(spec<double>({800, 40, 40})).plan().str(), ContainsRegex("repeat 800 [^\n]*threads"));
}

}  // namespace
}  // namespace calque::test
