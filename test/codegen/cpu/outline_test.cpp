// Basic blocks that are long enough to be split into functions, and programs of several modules.
#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "codegen/native_build.h"
#include "kernel/lower/build.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/random/random.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque {
namespace {

/// `count` operations on `width` values that are all live to the end, with some comparisons, whose results are live
/// too.
template <class X>
X long_block(const X& x, int count, int width) {
  test::Rng random(7);
  const auto pick = [&] { return static_cast<size_t>(random.below(static_cast<size_t>(width))); };
  std::vector<X> v;
  for (int i = 0; i < width; ++i) v.push_back(x * (1.0f + 0.03125f * static_cast<float>(i)));
  auto above = v[0] > v[1];
  for (int i = 0; i < count; ++i) {
    const size_t to = pick(), a = pick(), b = pick();
    switch (i % 5) {
      case 0:
        v[to] = v[a] - v[b];
        break;
      case 1:
        v[to] = v[a] * 0.5f + v[b] * 0.4375f;
        break;
      case 2:
        v[to] = where(above, v[a], v[b]);
        break;
      case 3:
        v[to] = maximum(v[a], v[b] - 0.125f);
        break;
      default:
        if (i % 50 == 4) above = v[a] > v[b];
        v[to] = v[a] + v[b] * 0.25f;
        break;
    }
  }
  X all = v[0];
  for (int i = 1; i < width; ++i) all = all + v[static_cast<size_t>(i)];
  return all;
}

Graph graph_of(int count, int width, const Shape& shape) {
  const auto f = jit([=](auto x) { return long_block(x, count, width); });
  return f.trace(spec<float>(shape));
}

AnyArray data_of(const Shape& shape) {
  AnyArray x = AnyArray::uninitialized({DType::f32, shape});
  for (int64_t i = 0; i < x.size(); ++i)
    static_cast<float*>(x.mutable_data())[i] = 0.37f * static_cast<float>(i % 23) - 3.0f;
  return x;
}

int occurrences(std::string_view text, std::string_view what) {
  int n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++n;
  return n;
}

class Outline : public testing::TestWithParam<std::string> {};

TEST_P(Outline, LongBlocksComputeTheSameAsUnsplit) {
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 71}})
    for (const auto& [count, width] : {std::pair{2500, 3}, {6000, 40}})
      EXPECT_EQ(test::compare_strictly(graph_of(count, width, shape), {data_of(shape)}, GetParam()), "")
          << count << " operations on " << shape;
}

// A long block for each row, whose values a long block for each element of the row reads.
Graph graph_of_nested_blocks(const Shape& shape) {
  const auto f = jit([](auto x, auto y) {
    constexpr size_t kValues = 60;
    std::vector<Tracer<float>> rows;
    for (size_t i = 0; i < kValues; ++i) rows.push_back(x * (0.5f + 0.0078125f * static_cast<float>(i)));
    for (size_t i = 0; i < 4000; ++i) {
      const auto &a = rows[i * 7 % kValues], &b = rows[(i * 11 + 3) % kValues];
      rows[i % kValues] = i % 3 == 0 ? a - b * 0.25f : i % 3 == 1 ? maximum(a, b - 0.125f) : a * 0.5f + b * 0.4375f;
    }
    auto z = y;
    for (size_t i = 0; i < 4000; ++i) {
      const auto row = expand_dims(rows[i * 13 % kValues], 1);
      z = i % 2 == 0 ? z * 0.5f + row : maximum(z, row - z);
    }
    return z;
  });
  return transform::simplify(f.trace(spec<float>({shape[0]}), spec<float>(shape)));
}

TEST_P(Outline, LongBlocksOfNestedLoopsComputeTheSameAsUnsplit) {
  const Shape shape{3, 37};
  const std::vector<AnyArray> inputs{data_of({shape[0]}), data_of(shape)};
  EXPECT_EQ(test::compare_strictly(graph_of_nested_blocks(shape), inputs, GetParam()), "");
}

/// The sections of a text that end in `end`.
std::vector<std::string_view> split(std::string_view text, std::string_view end) {
  std::vector<std::string_view> sections;
  for (size_t at = 0, next; at < text.size(); at = next + end.size()) {
    next = std::min(text.find(end, at), text.size());
    sections.push_back(text.substr(at, next - at));
  }
  return sections;
}

/// An unrolled loop: each step has its own constants, reads a row of y, and its results are read by the next step and
/// at the end. A factor of one is folded, so that step has other instructions.
template <class T>
Graph graph_of_steps(int64_t steps, int64_t n) {
  const auto f = jit([=](auto x, auto y) {
    auto a = x, b = x * T(0.5);
    auto all = x;
    for (int64_t i = 0; i < steps; ++i) {
      const T factor = T(0.03125) * static_cast<T>(i);
      const auto row = y[i], start = a;
      for (int k = 0; k < 12; ++k) {
        const auto c = a * factor + row;
        const auto d = maximum(b - row * T(0.25), c * T(0.125));
        a = where(c > d, c - d * T(0.5), d * (factor + T(0.0625)));
        b = d + start * T(0.4375);
      }
      a = a * T(0.03125);
      b = b * T(0.03125);
      all = all + a * b;
    }
    return all - a * b;
  });
  return transform::simplify(f.trace(spec<T>({n}), spec<T>({steps, n})));
}

template <class T>
AnyArray random_data(const Shape& shape) {
  test::Rng random(11);
  AnyArray x = AnyArray::uninitialized({dtype_of<T>, shape});
  for (int64_t i = 0; i < x.size(); ++i)
    static_cast<T*>(x.mutable_data())[i] = T(0.0078125) * static_cast<T>(random.below(256)) - T(1);
  return x;
}

TEST_P(Outline, StepsOfUnrolledLoopsComputeTheSameAsUnsplit) {
  for (const int64_t n : {1, 5, 67}) {
    const int64_t steps = 70;
    const auto of = [&]<class T>(T) {
      const std::vector<AnyArray> inputs{random_data<T>({n}), random_data<T>({steps, n})};
      return test::compare_strictly(graph_of_steps<T>(steps, n), inputs, GetParam());
    };
    EXPECT_EQ(of(float()), "") << n;
    EXPECT_EQ(of(double()), "") << n;
  }
}

// The code of an unrolled loop does not grow with the number of its steps: there are more calls of the same functions.
TEST(Outline, StepsOfUnrolledLoopsShareTheirCode) {
  const auto count = [](int64_t steps) {
    const std::string text = test::stages::llvm_ir(test::stages::build_program(graph_of_steps<float>(steps, 64)), {});
    return std::pair(occurrences(text, "define internal void @kernel."), occurrences(text, "call void @kernel."));
  };
  const auto [few, few_calls] = count(100);
  const auto [many, many_calls] = count(400);
  EXPECT_GE(many_calls, few_calls * 3);
  EXPECT_LE(many, few + few / 2);
}

// The blocks of inner loops read the values of an outer block from the same frame: no value is stored again before a
// loop.
TEST(Outline, BlocksOfNestedLoopsShareTheirFrame) {
  const std::string text = test::stages::llvm_ir(test::stages::build_program(graph_of_nested_blocks({64, 64})), {});
  int loop_nests = 0;
  for (const std::string_view function : split(text, "\n}")) {
    int long_blocks = 0;
    for (const std::string_view block : split(function, "\n\n"))
      long_blocks += occurrences(block, "call void @kernel.") > 2;
    if (long_blocks < 2) continue;
    ++loop_nests;
    EXPECT_LT(occurrences(function, "store float"), 10) << function;
  }
  EXPECT_EQ(loop_nests, 1);
}

// Instrumented code takes long to compile.
INSTANTIATE_TEST_SUITE_P(Cpus, Outline,
                         testing::ValuesIn(test::kAddressSanitizer ? std::vector<std::string>{"native"}
                                                                   : test::cpu_levels()));

// The chunks of threads are whole vectors if the array is: there is no second copy of the body for a remainder.
TEST(LongBodies, OfThreadsAreEmittedOnce) {
  constexpr int kCount = 2500;
  for (const int64_t n : {int64_t{1} << 16, (int64_t{1} << 16) + 3}) {
    const std::string text = test::stages::llvm_ir(test::stages::build_program(graph_of(kCount, 3, {n})), {});
    EXPECT_NE(text.find(".body"), std::string::npos);
    EXPECT_LE(occurrences(text, " = fsub "), kCount / 5) << n;
  }
}

kernel::Program program_of(int count, int width) { return test::stages::build_program(graph_of(count, width, {100})); }

TEST(Modules, SmallProgramsAreOne) {
  PassLog log;
  test::stages::compile(program_of(100, 3), test::logged_to(log));
  EXPECT_EQ(log.runs(codegen::kMachineCodePass), 1);
}

TEST(Modules, LargeProgramsAreSeveralOnAnyNumberOfThreads) {
  const kernel::Program program = program_of(8000, 3);
  PassLog alone, shared;
  test::stages::compile(program, test::logged_to(alone));
  codegen::CodegenOptions options;
  static int chunks = 0;
  options.parallel_for = [](void*, int64_t count, int64_t, void (*body)(void*, int64_t, int64_t),
                            void* environment) noexcept {
    for (int64_t i = count; i-- > 0; ++chunks) body(environment, i, i + 1);
  };
  options.log = &shared;
  test::stages::compile(program, options);
  EXPECT_GE(alone.runs(codegen::kMachineCodePass), 3);
  EXPECT_EQ(shared.runs(codegen::kMachineCodePass), alone.runs(codegen::kMachineCodePass));
  EXPECT_EQ(chunks, alone.runs(codegen::kMachineCodePass));
}

TEST(Modules, ManyKernelsGiveTheSameTogether) {
  // Sums split the graph into kernels.
  const auto f = jit([](auto x) {
    auto y = x;
    for (int i = 0; i < 12; ++i) y = long_block(y, 400, 3) * 0.001f + sum(y) * 0.01f;
    return y;
  });
  const Shape shape{300};
  const Graph graph = f.trace(spec<float>(shape));
  const std::vector<AnyArray> inputs{data_of(shape)};
  PassLog log;
  test::stages::compile(test::stages::build_program(graph), test::logged_to(log));
  EXPECT_GT(log.runs(codegen::kMachineCodePass), 1);
  codegen::CodegenOptions strict;
  strict.strict = true;
  const AnyArray native = test::run_native(graph, inputs, strict)[0];
  EXPECT_EQ(test::difference(native, test::run_native(graph, inputs, strict)[0]), "");
  EXPECT_EQ(test::difference(native, f(AnyArray(inputs[0]).as<float>()).any(), 1e-4, 1e-4), "");
}

}  // namespace
}  // namespace calque
