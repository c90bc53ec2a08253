// Typical kernels, through NVIDIA's assembler: for the oldest and the newest supported architecture, without spills and
// without local memory.
#include <algorithm>
#include <functional>

#include <calque/calque.h>
#include <gmock/gmock.h>

#include "support/ptxas.h"
#include "support/simulated.h"

namespace calque::test {
namespace {

using F = Array<float>;

struct Case {
  std::string name;
  Graph graph;
};

std::vector<Case> cases() {
  const auto flat = spec<float>({1 << 24});
  const auto rows = spec<float>({4096, 1024}), long_rows = spec<float>({64, 262144}), ragged = spec<float>({777, 1021});
  const auto half = spec<bfloat16>({2048, 2048});
  std::vector<Case> all;
  const auto add = [&](std::string name, const auto& f, const auto&... x) {
    all.push_back({std::move(name), jit(f).trace(x...)});
  };
  add("triad", [](auto x, auto y) { return 2.5f * x + y; }, flat, flat);
  add("chain", [](auto x) { return tanh(x * 2.0f + 1.0f) * exp(-x * x) + sqrt(abs(x)); }, flat);
  add("doubles", [](auto x) { return sin(x) * log(abs(x) + 1.0); }, spec<double>({1 << 20}));
  add("sum", [](auto x) { return sum(x); }, flat);
  add("variance", [](auto x) { return var(x); }, flat);
  add("columns", [](auto x) { return sum(x, {0}); }, rows);
  add("softmax", [](auto x) { return softmax(x, 1); }, rows);
  add("softmax of long rows", [](auto x) { return softmax(x, 1); }, long_rows);
  add("softmax of ragged rows", [](auto x) { return softmax(x, 1); }, ragged);
  add("layernorm", [](auto x) { return layer_norm(x, 1); }, rows);
  add("gradient of layernorm", [](auto x) { return grad([](auto y) { return sum(sin(layer_norm(y, 1))); })(x); }, rows);
  add("logsumexp", [](auto x) { return logsumexp(x, {1}); }, rows);
  add("argmax", [](auto x) { return argmax(x, 1); }, rows);
  add("cumsum", [](auto x) { return cumsum(x, 0); }, flat);
  add("cumsum of rows", [](auto x) { return cumsum(x, 1); }, rows);
  add("take", [](auto x, auto i) { return take(x, i, 0); }, rows, spec<int32_t>({5000}));
  add(
      "scatter_add", [](auto x, auto i, auto u) { return scatter_add(x, i, u); }, rows, spec<int32_t>({5000}),
      spec<float>({5000, 1024}));
  add("transpose", [](auto x) { return x.T() + 1.0f; }, rows);
  add("matmul", [](auto x) { return matmul(x, x.T()); }, rows);
  add("matmul of bf16 with an epilogue", [](auto x, auto w) { return tanh(matmul(x, w)); }, half, half);
  add("matmul of f64", [](auto x) { return matmul(x, x); }, spec<double>({512, 512}));
  add(
      "loops of elements",
      [](auto x) {
        return vmap([](auto a) {
          return while_loop([](auto s) { return s < 1000.0f; }, [](auto s) { return s * s + 1.0f; }, a);
        })(x);
      },
      flat);
  add(
      "n-body", [](auto x) { return vmap([x](auto a) { return sum(1.0f / (0.01f + (x - a) * (x - a))); })(x); },
      spec<float>({8192}));
  return all;
}

void check(const std::string& arch) {
  if (!find_ptxas()) GTEST_SKIP() << kNoPtxas;
  for (const Case& c : cases()) {
    codegen::DeviceOptions options;
    options.arch = arch;
    const codegen::PtxProgram program = codegen::compile_ptx(program_for_gpu(c.graph, {}), options);
    EXPECT_EQ(ptxas_complaint(program.ptx, arch), "") << c.name;
    int registers = 0;
    for (const AssembledKernel& kernel : assemble(program.ptx, arch).kernels)
      registers = std::max(registers, kernel.registers);
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
  const std::string ptx = codegen::compile_ptx(program, {.newest_ptx = 78}).ptx;
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
    return codegen::compile_ptx(program_for_gpu(f.trace(spec<float>({1 << 20})), {}), {}).ptx;
  };
  const std::string ptx = ptx_of(3);
  EXPECT_THAT(ptx, testing::ContainsRegex("\\.func [^\n]*calque_\\$_sin_\\$_f32_\\$_general"));
  EXPECT_THAT(ptx, testing::HasSubstr(".const .align 64 .b8 calque_$_table"));
  EXPECT_THAT(ptx, testing::Not(testing::HasSubstr("\n.global")));
  // Functions with very many calls are not inlined.
  EXPECT_LT(ptx_of(300).size(), 3 * ptx.size());
}

TEST(StandardKernels, NeedNoLocalMemoryOnSm80) { check("sm_80"); }
TEST(StandardKernels, NeedNoLocalMemoryOnSm90a) { check("sm_90a"); }

}  // namespace
}  // namespace calque::test
