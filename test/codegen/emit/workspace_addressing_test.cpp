// Kernels of many buffers, which address those in the workspace by offsets.
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/native_build.h"
#include "kernel/lower/build.h"
#include "support/cpu_levels.h"
#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using kernel::BufferKind;
using kernel::Step;
using kernel::StepKind;
using kernel::View;

constexpr int32_t kBuffers = 20;

/// The workspace holds `kBuffers` rows of `n` floats. Doubles the third row through a separate view, then adds up all
/// rows and the fourth once more, then writes values of the third row through that view.
Program doubled_and_added(int64_t n) {
  KernelBuilder k("doubled_and_added");
  const int32_t out = k.output(DType::f32, n), total = k.output(DType::f32, 1);
  std::vector<int32_t> rows;
  for (int32_t r = 0; r < kBuffers; ++r) rows.push_back(k.input(DType::f32, n));
  const int32_t again = k.output(DType::f32, n);
  k.parallel(n, true, [&](Id i) {
    k.store(out, i, k.load(rows[3], i));
    k.store(again, i, k.mul(k.load(rows[2], i), k.constant(2.0f)));
  });
  k.parallel(n, true, [&](Id i) {
    Id sum = k.load(out, i);
    for (const int32_t row : rows) sum = k.add(sum, k.load(row, i));
    k.store(out, i, sum);
  });
  // Each step reads the third row's first element, which the first step writes through the other view.
  const Ids sum = k.sequential(n, {k.constant(0.0f)}, [&](Id i, const Ids& carries) {
    const Id first = k.load(rows[2], k.index(0));
    k.store(again, i, k.add(first, k.constant(1.0f)));
    return Ids{k.add(carries[0], first)};
  });
  k.store(total, k.index(0), sum[0]);
  kernel::verify(k.kernel());

  Program p;
  const auto memory = [&](BufferKind kind, int32_t index, int64_t size, int64_t offset) {
    kernel::ProgramBuffer b;
    b.kind = kind;
    b.index = index;
    b.offset = offset;
    b.strides = {1};
    b.type = {DType::f32, {size}};
    p.buffers.push_back(b);
  };
  const int64_t row = (4 * n + 63) / 64 * 64;
  memory(BufferKind::output, 0, n, 0);
  memory(BufferKind::output, 1, 1, 0);
  for (int32_t r = 0; r < kBuffers; ++r) memory(BufferKind::workspace, 0, n, row * r);
  p.num_outputs = 2;
  p.workspace_bytes = row * kBuffers;
  p.kernels = {k.kernel()};
  Step call;
  call.kind = StepKind::kernel;
  call.kernel = 0;
  for (int32_t b = 0; b < kBuffers + 2; ++b) call.views.push_back({b, 0, {}});
  call.views.push_back({4, 0, {}});
  p.steps = {call};
  return p;
}

class WorkspaceOffsets : public testing::TestWithParam<std::string> {};

TEST_P(WorkspaceOffsets, WritesThroughAnotherViewAreRead) {
  for (const int64_t n : {1, 5, 16, 37, 300}) {
    const Program p = doubled_and_added(n);
    const int64_t row = (4 * n + 63) / 64 * 16;
    std::vector<float> memory(static_cast<size_t>(row * kBuffers + 16));
    auto* workspace = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    for (int64_t r = 0; r < kBuffers; ++r)
      for (int64_t i = 0; i < n; ++i) workspace[r * row + i] = static_cast<float>(r * 3 + i % 7);
    Guarded<float> out(static_cast<size_t>(n)), total(1);
    run(p, {out.data(), total.data(), workspace}, cpu(GetParam()));
    for (int64_t i = 0; i < n; ++i) {
      float expected = static_cast<float>(3 * 3 + i % 7) + static_cast<float>(2 * 3 + i % 7);
      for (int64_t r = 0; r < kBuffers; ++r) expected += static_cast<float>(r * 3 + i % 7);
      ASSERT_EQ(out[static_cast<size_t>(i)], expected) << i << " of " << n;
    }
    EXPECT_EQ(total[0], 12 + 13 * static_cast<float>(n - 1)) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, WorkspaceOffsets, testing::ValuesIn(cpu_levels()));

TEST(ManyBuffers, TheWorkspaceIsOnePointer) {
  EXPECT_THAT(
      test::stages::llvm_ir(doubled_and_added(300), cpu("x86-64-v4")),
      testing::ContainsRegex("void @kernel[.]doubled_and_added[(]ptr [^,]*, ptr [^,]*, ptr [^,]*, ptr [^,]*[)]"));
}

TEST(ManyBuffers, HundredsOfResultsOfOneKernel) {
  constexpr int kResults = 600;
  const auto f = jit([](auto x) {
    std::vector<decltype(x)> all;
    for (int i = 0; i < kResults; ++i) all.push_back(x * (1.0f + 0.25f * static_cast<float>(i)) - x * x);
    return all;
  });
  const Graph graph = f.trace(spec<float>({45}));
  PassLog log;
  test::stages::compile(test::stages::build_program(graph), logged_to(log));
  EXPECT_GT(log.runs(codegen::kMachineCodePass), 1);
  AnyArray x = AnyArray::uninitialized({DType::f32, {45}});
  for (int64_t i = 0; i < x.size(); ++i) static_cast<float*>(x.mutable_data())[i] = 0.5f * static_cast<float>(i) - 9.0f;
  for (const std::string& cpu : cpu_levels()) EXPECT_EQ(compare_strictly(graph, {x}, cpu), "") << cpu;
}

TEST(Loops, BodiesThatAreNotShortAreEmittedOnce) {
  KernelBuilder k("powers");
  const int32_t in = k.input(DType::f32, 1001), out = k.output(DType::f32, 1001);
  k.parallel(1001, true, [&](Id i) {
    const Id x = k.load(in, i);
    Id y = x;
    for (int n = 0; n < 20; ++n) y = k.mul(y, x);
    k.store(out, i, y);
  });
  const std::string text = test::stages::llvm_ir(k.program(), cpu("x86-64-v4"));
  int products = 0;
  for (size_t at = text.find("fmul"); at != std::string::npos; at = text.find("fmul", at + 1)) ++products;
  EXPECT_EQ(products, 20);
}

}  // namespace
}  // namespace calque::test
