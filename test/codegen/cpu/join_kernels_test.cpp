// Short kernels that run one after another are one function.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/codegen.h"
#include "support/cpu_levels.h"
#include "support/native.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque {
namespace {

size_t functions_of_kernels(const kernel::Program& p, bool quick = false) {
  codegen::CodegenOptions options;
  options.quick = quick;
  const std::string text = test::stages::assembly(p, options);
  size_t n = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end);
    n += line.starts_with("kernel.") && line.find(':') != std::string_view::npos;
    rest.remove_prefix(end + 1);
  }
  return n;
}

kernel::Program program_of(const Graph& g) { return test::stages::build_program(transform::simplify(g)); }

/// Scans do not fuse: four kernels.
Graph scans(const Shape& shape) {
  return jit([](auto x) {
           return cumsum(cummax(cumprod(cumsum(x, 0) * 0.5f, 0) - x, 0) * x, {.axis = 0, .reverse = true});
         })
      .trace(spec<float>(shape));
}

TEST(JoinedKernels, AreOneFunction) {
  const kernel::Program p = program_of(scans({7}));
  EXPECT_EQ(p.kernels.size(), 4U);
  EXPECT_LE(functions_of_kernels(p), 1U);
}

TEST(JoinedKernels, AreShort) {
  const kernel::Program p = program_of(scans({100'000}));
  EXPECT_EQ(functions_of_kernels(p), p.kernels.size());
}

TEST(JoinedKernels, AreAllOfQuickCode) {
  const kernel::Program p = program_of(scans({5000}));
  EXPECT_EQ(functions_of_kernels(p), p.kernels.size());
  EXPECT_LE(functions_of_kernels(p, true), 1U);
}

class JoinedKernelsOnCpus : public testing::TestWithParam<std::string> {
 protected:
  void compare(const Graph& g) {
    for (const bool special : {false, true})
      EXPECT_EQ(test::compare_strictly(g, test::random_inputs(g, 3, special), GetParam()).substr(0, 300), "");
  }
};

TEST_P(JoinedKernelsOnCpus, HaveTheReferencesBits) {
  for (const int64_t n : {0, 1, 2, 7, 16, 33, 200}) compare(scans({n}));
}

// One of two calls is copied; one of three stays a function.
TEST_P(JoinedKernelsOnCpus, MayBeCalledSeveralTimes) {
  for (const int times : {2, 3, 5}) {
    compare(jit([=](auto x) {
              for (int i = 0; i < times; ++i) x = cummax(cumsum(x, 0), 0);
              return x;
            }).trace(spec<float>({9})));
  }
}

TEST_P(JoinedKernelsOnCpus, RunInLoopsWhoseCarriesRotate) {
  compare(jit([](auto x, auto y) {
            return fori_loop(
                0, 5,
                [](auto, auto s) {
                  auto [a, b, c] = s;
                  return std::tuple{cumsum(b, 0), cummax(c, 0) + 1.0f, cumprod(a, 0) * 0.25f};
                },
                std::tuple{x, y, x - y});
          }).trace(spec<float>({6}), spec<float>({6})));
}

// What one kernel stores another reads through another offset of the same memory.
TEST_P(JoinedKernelsOnCpus, SeeWhatThoseBeforeHaveStored) {
  compare(jit([](auto x) {
            auto rows = concatenate({cumsum(x, 0), cummax(x, 0)}, 0);
            auto changed = rows.set(range(1, 3), cumsum(rows[range(2, 4)], 0));
            return std::tuple{cumsum(changed, 0), sum(changed), argmax(cumsum(changed, 0), 0)};
          }).trace(spec<float>({4})));
}

TEST_P(JoinedKernelsOnCpus, ComputeInSeveralTypes) {
  compare(jit([](auto x, auto i, auto d) {
            auto counts = cumsum(i, 0);
            auto wide = cumsum(d, 0) + cast<double>(cumprod(x, 0));
            return std::tuple{counts, cummax(wide, 0), sum(where(cumsum(wide, 0) > 0.0, counts, 0))};
          }).trace(spec<float16>({5}), spec<int8_t>({5}), spec<double>({5})));
}

INSTANTIATE_TEST_SUITE_P(Cpus, JoinedKernelsOnCpus,
                         testing::ValuesIn(test::kAddressSanitizer ? std::vector<std::string>{"native"}
                                                                   : test::cpu_levels()));

}  // namespace
}  // namespace calque
