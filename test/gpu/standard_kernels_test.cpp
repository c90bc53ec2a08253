// Typical kernels, through NVIDIA's assembler: for the oldest and the newest supported architecture, without spills,
// without local memory, and with no more registers than are stored here. Fewer registers are no failure: lower the
// limit then.
#include <algorithm>
#include <functional>

#include <calque/calque.h>
#include <gmock/gmock.h>

#include "support/ptxas.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using F = Array<float>;

struct Case {
  std::string name;
  /// The most that a kernel of it uses, on sm_80 and on sm_90a. A compiler that builds the library chooses the order in
  /// which operands of the elementwise functions are emitted: of g++ and clang, the larger number.
  int registers[2];
  Graph graph;
};

std::vector<Case> cases() {
  const auto flat = spec<float>({1 << 24});
  const auto rows = spec<float>({4096, 1024}), long_rows = spec<float>({64, 262144}), ragged = spec<float>({777, 1021});
  const auto half = spec<bfloat16>({2048, 2048});
  std::vector<Case> all;
  const auto add = [&](std::string name, int sm_80, int sm_90a, const auto& f, const auto&... x) {
    all.push_back({std::move(name), {sm_80, sm_90a}, jit(f).trace(x...)});
  };
  add("triad", 32, 32, [](auto x, auto y) { return 2.5f * x + y; }, flat, flat);
  add("chain", 45, 45, [](auto x) { return tanh(x * 2.0f + 1.0f) * exp(-x * x) + sqrt(abs(x)); }, flat);
  add("doubles", 48, 48, [](auto x) { return sin(x) * log(abs(x) + 1.0); }, spec<double>({1 << 20}));
  add("sum", 53, 50, [](auto x) { return sum(x); }, flat);
  add("variance", 53, 50, [](auto x) { return var(x); }, flat);
  add("columns", 32, 32, [](auto x) { return sum(x, {0}); }, rows);
  add("softmax", 56, 56, [](auto x) { return softmax(x, 1); }, rows);
  add("softmax of long rows", 33, 32, [](auto x) { return softmax(x, 1); }, long_rows);
  add("softmax of ragged rows", 34, 32, [](auto x) { return softmax(x, 1); }, ragged);
  add("layernorm", 47, 48, [](auto x) { return layer_norm(x, 1); }, rows);
  add(
      "gradient of layernorm", 128, 128,
      [](auto x) { return grad([](auto y) { return sum(sin(layer_norm(y, 1))); })(x); }, rows);
  add("logsumexp", 52, 54, [](auto x) { return logsumexp(x, {1}); }, rows);
  add("argmax", 48, 46, [](auto x) { return argmax(x, 1); }, rows);
  add("cumsum", 40, 40, [](auto x) { return cumsum(x, 0); }, flat);
  add("cumsum of rows", 32, 32, [](auto x) { return cumsum(x, 1); }, rows);
  add("cumsum of long rows", 40, 39, [](auto x) { return cumsum(x, 1); }, spec<float>({8192, 8192}));
  add("cumsum of ragged rows", 40, 32, [](auto x) { return cumsum(x, 1); }, spec<float>({777, 8191}));
  add("cumsum of doubles", 48, 48, [](auto x) { return cumsum(x, 0); }, spec<double>({1 << 24}));
  add("cumsum of halves", 32, 32, [](auto x) { return cumsum(x, 1); }, half);
  add("take", 32, 32, [](auto x, auto i) { return take(x, i, 0); }, rows, spec<int32_t>({5000}));
  add(
      "scatter_add", 28, 28, [](auto x, auto i, auto u) { return scatter_add(x, i, u); }, rows, spec<int32_t>({5000}),
      spec<float>({5000, 1024}));
  add("transpose", 30, 30, [](auto x) { return x.T() + 1.0f; }, rows);
  const auto plus_transposed = [](auto x) { return x + x.T(); };
  add("sum with the transpose", 40, 40, plus_transposed, spec<float>({8192, 8192}));
  add("sum with the transpose of f64", 26, 26, plus_transposed, spec<double>({8192, 8192}));
  add("sum with the transpose of bf16", 34, 34, plus_transposed, half);
  add("sum with the transpose of ragged rows", 32, 32, plus_transposed, spec<float>({8191, 8191}));
  add("matmul", 238, 254, [](auto x) { return matmul(x, x.T()); }, rows);
  add("matmul of bf16 with an epilogue", 230, 230, [](auto x, auto w) { return tanh(matmul(x, w)); }, half, half);
  add("matmul of f64", 92, 90, [](auto x) { return matmul(x, x); }, spec<double>({512, 512}));
  const auto key_of = [](auto words) { return random::BasicKey<decltype(words)>{words}; };
  add(
      "uniform", 22, 22, [key_of](auto k) { return random::uniform<float>(key_of(k), {1 << 24}); },
      spec<uint32_t>({2}));
  add("normal", 34, 34, [key_of](auto k) { return random::normal<float>(key_of(k), {1 << 24}); }, spec<uint32_t>({2}));
  add(
      "gamma", 47, 47, [key_of](auto k, auto a) { return random::gamma<float>(key_of(k), a, {1 << 24}); },
      spec<uint32_t>({2}), spec<float>({1 << 24}));
  add(
      "poisson", 76, 76, [key_of](auto k, auto a) { return random::poisson<int>(key_of(k), a, {1 << 24}); },
      spec<uint32_t>({2}), spec<float>({1 << 24}));
  add(
      "loops of elements", 22, 18,
      [](auto x) {
        return vmap([](auto a) {
          return while_loop([](auto s) { return s < 1000.0f; }, [](auto s) { return s * s + 1.0f; }, a);
        })(x);
      },
      flat);
  add(
      "n-body", 39, 39, [](auto x) { return vmap([x](auto a) { return sum(1.0f / (0.01f + (x - a) * (x - a))); })(x); },
      spec<float>({8192}));
  return all;
}

void check(const std::string& arch, int which) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  for (const Case& c : cases()) {
    codegen::DeviceOptions options;
    options.arch = arch;
    const Assembled assembled = assemble(test::stages::ptx(program_for_gpu(c.graph, {}), options), arch);
    EXPECT_TRUE(assembled.accepted) << c.name << '\n' << assembled.messages;
    int registers = 0;
    for (const AssembledKernel& kernel : assembled.kernels) {
      registers = std::max(registers, kernel.registers);
      EXPECT_EQ(kernel.stack_bytes + kernel.spill_stores + kernel.spill_loads, 0) << c.name << ", " << kernel.name;
    }
    EXPECT_LE(registers, c.registers[which]) << c.name;
    testing::Test::RecordProperty("registers of " + c.name, registers);
  }
}

// Older versions of PTX allow 544 parameters: kernels have fewer.
TEST(StandardKernels, OfManyArraysNeedNoNewPtx) {
  const auto f = jit([](const auto& list) {
    auto sum = list[0];
    for (size_t i = 1; i < list.size(); ++i) sum = sum * 0.5f + list[i];
    return sum;
  });
  const std::vector<F> arrays(700, F::ones({33}));
  const kernel::Program program = program_for_gpu(f.trace(arrays), {});
  for (const kernel::Kernel& kernel : program.kernels) EXPECT_LE(kernel.buffers.size(), 544);
  const std::string ptx = test::stages::ptx(program, {.newest_ptx = 78});
  if (find_ptxas()) {
    EXPECT_TRUE(assemble(ptx, "sm_80").accepted);
  }
  std::vector<F> there;
  for (const F& a : arrays) there.push_back(a.to(gpu_sim()));
  EXPECT_TRUE(allclose(f(there), f(arrays)));
}

TEST(StandardKernels, CallFunctionsForRareArguments) {
  const auto ptx_of = [](int sines) {
    const auto f = jit([sines](auto x) {
      auto y = x;
      for (int i = 0; i < sines; ++i) y = sin(y);
      return y;
    });
    return test::stages::ptx(program_for_gpu(f.trace(spec<float>({1 << 20})), {}), {});
  };
  const std::string ptx = ptx_of(3);
  EXPECT_THAT(ptx, testing::ContainsRegex("\\.func [^\n]*calque_\\$_sin_\\$_f32_\\$_general"));
  EXPECT_THAT(ptx, testing::HasSubstr(".const .align 64 .b8 calque_$_table"));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("\n.global")));
  // Functions with very many calls are not inlined.
  EXPECT_LT(ptx_of(300).size(), 3 * ptx.size());
}

// A tile takes one barrier, and two stand around the loop; each thread accesses vectors.
TEST(StandardKernels, CumulativeSumsAccessVectors) {
  const auto count = [](const std::string& text, const std::string& what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  const auto ptx_of = [](const auto& x) {
    return test::stages::ptx(program_for_gpu(jit([](auto a) { return cumsum(a, 1); }).trace(x), {}), {});
  };
  const std::string floats = ptx_of(spec<float>({8192, 8192}));
  EXPECT_EQ(count(floats, "ld.global.nc.v4"), 4) << floats;
  EXPECT_EQ(count(floats, "st.global.v4"), 4) << floats;
  EXPECT_EQ(count(floats, "bar.sync"), 3) << floats;
  // Rows that begin unaligned: neighbouring threads access neighbouring elements.
  const std::string ragged = ptx_of(spec<float>({8192, 8191}));
  EXPECT_EQ(count(ragged, ".v4"), 0) << ragged;
}

TEST(StandardKernels, KeepToTheirRegistersOnSm80) { check("sm_80", 0); }
TEST(StandardKernels, KeepToTheirRegistersOnSm90a) { check("sm_90a", 1); }

}  // namespace
}  // namespace calque::test
