// Steps of the entry function: branches, loops, copies and calls back into C++.
#include <gtest/gtest.h>

#include "support/kernel_builder.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using kernel::BufferKind;
using kernel::ProgramBuffer;
using kernel::Step;
using kernel::StepKind;
using kernel::View;

ProgramBuffer memory(BufferKind kind, int32_t index, DType dtype, Shape shape, int64_t offset = 0) {
  ProgramBuffer b;
  b.kind = kind;
  b.index = index;
  b.offset = offset;
  b.strides = row_major_strides(shape);
  b.type = {dtype, std::move(shape)};
  return b;
}

View view(int32_t buffer, int64_t offset = 0, std::vector<View::Term> terms = {}) {
  return {buffer, offset, std::move(terms)};
}

Step call(int32_t kernel, std::vector<View> views) {
  Step s;
  s.kind = StepKind::kernel;
  s.kernel = kernel;
  s.views = std::move(views);
  return s;
}

Step copy(View to, View from, int64_t bytes) {
  Step s;
  s.kind = StepKind::copy;
  s.views = {std::move(to), std::move(from)};
  s.bytes = bytes;
  return s;
}

/// out[i] = f(in[i], constant) over n elements.
Kernel pointwise(const char* name, DType dtype, int64_t n, const char* op, Literal literal, DType result) {
  KernelBuilder k(name);
  const int32_t in = k.input(dtype, n), out = k.output(result, n);
  const Id c = k.constant(dtype, literal);
  k.parallel(n, true, [&](Id i) { k.store(out, i, k.op(op, result, {k.load(in, i), c})); });
  kernel::verify(k.kernel());
  return k.kernel();
}

TEST(Entry, WhileRunsKernelsUntilTheFlagIsFalse) {
  // x = in; while (x < 100) x = x * 2; out = x
  Program p;
  p.buffers = {memory(BufferKind::input, 0, DType::i32, {}), memory(BufferKind::output, 0, DType::i32, {}),
               memory(BufferKind::workspace, 0, DType::i32, {}, 0),
               memory(BufferKind::workspace, 0, DType::bool_, {}, 64)};
  p.num_inputs = p.num_outputs = 1;
  p.workspace_bytes = 128;
  p.kernels = {pointwise("less", DType::i32, 1, "lt", Literal::of(100), DType::bool_),
               pointwise("twice", DType::i32, 1, "mul", Literal::of(2), DType::i32)};
  Step loop;
  loop.kind = StepKind::while_;
  loop.views = {view(3)};
  loop.blocks = {{call(0, {view(2), view(3)})}, {call(1, {view(2), view(2)})}};
  p.steps = {copy(view(2), view(0), 4), loop, copy(view(1), view(2), 4)};
  for (const int start : {1, 3, 99, 100, 1000}) {
    Guarded<int32_t> in(std::vector<int32_t>{start}), out(1);
    alignas(64) char workspace[128];
    run(p, {in.data(), out.data(), workspace});
    int expected = start;
    while (expected < 100) expected *= 2;
    EXPECT_EQ(out[0], expected);
  }
}

TEST(Entry, BranchClampsItsIndex) {
  Program p;
  p.buffers = {memory(BufferKind::input, 0, DType::i32, {}), memory(BufferKind::input, 1, DType::f32, {5}),
               memory(BufferKind::output, 0, DType::f32, {5})};
  p.num_inputs = 2;
  p.num_outputs = 1;
  Step branch;
  branch.kind = StepKind::branch;
  branch.views = {view(0)};
  for (int i = 0; i < 3; ++i) {
    p.kernels.push_back(pointwise(("k" + std::to_string(i)).c_str(), DType::f32, 5, "add",
                                  Literal::of(static_cast<float>(i)), DType::f32));
    branch.blocks.push_back({call(i, {view(1), view(2)})});
  }
  p.steps = {branch};
  const std::pair<int, float> cases[] = {{0, 0}, {1, 1}, {2, 2}, {3, 2}, {1 << 30, 2}, {-1, 0}, {INT32_MIN, 0}};
  for (const auto& [index, added] : cases) {
    Guarded<int32_t> in(std::vector<int32_t>{index});
    Guarded<float> x(std::vector<float>(5, 10.0f)), out(5);
    run(p, {in.data(), x.data(), out.data()});
    EXPECT_EQ(out[4], 10.0f + added) << index;
  }
}

TEST(Entry, BranchOnBoolTakesTheFirstBlockWhenTrue) {
  Program p;
  p.buffers = {memory(BufferKind::input, 0, DType::bool_, {}), memory(BufferKind::input, 1, DType::f32, {}),
               memory(BufferKind::output, 0, DType::f32, {})};
  p.num_inputs = 2;
  p.num_outputs = 1;
  p.kernels = {pointwise("t", DType::f32, 1, "add", Literal::of(1.0f), DType::f32),
               pointwise("f", DType::f32, 1, "add", Literal::of(2.0f), DType::f32)};
  Step branch;
  branch.kind = StepKind::branch;
  branch.views = {view(0)};
  branch.blocks = {{call(0, {view(1), view(2)})}, {call(1, {view(1), view(2)})}};
  p.steps = {branch};
  for (const uint8_t flag : {0, 1, 7}) {
    Guarded<uint8_t> in(std::vector<uint8_t>{flag});
    Guarded<float> x(std::vector<float>{0.0f}), out(1);
    run(p, {in.data(), x.data(), out.data()});
    EXPECT_EQ(out[0], flag ? 1.0f : 2.0f);
  }
}

// Rows of a matrix, forwards and backwards, with the iteration number stored for the kernel to read.
TEST(Entry, RepeatMovesItsViewsAndCounts) {
  for (const bool reverse : {false, true}) {
    KernelBuilder k("step");
    const int32_t row = k.input(DType::f32, 3), number = k.input(DType::i32, 1), carry_in = k.input(DType::f32, 3),
                  carry = k.output(DType::f32, 3), out = k.output(DType::f32, 3);
    const Id t = k.convert(DType::f32, k.load(number, k.index(0)));
    k.parallel(3, true, [&](Id i) {
      const Id v = k.add(k.mul(k.load(carry_in, i), k.constant(2.0f)), k.mul(k.load(row, i), t));
      k.store(carry, i, v);
      k.store(out, i, v);
    });
    Program p;
    p.buffers = {memory(BufferKind::input, 0, DType::f32, {4, 3}), memory(BufferKind::output, 0, DType::f32, {4, 3}),
                 memory(BufferKind::constant, 0, DType::f32, {3}), memory(BufferKind::workspace, 0, DType::f32, {3}, 0),
                 memory(BufferKind::workspace, 0, DType::i32, {}, 64)};
    p.num_inputs = p.num_outputs = 1;
    p.num_loops = 1;
    p.workspace_bytes = 128;
    p.constants = {AnyArray::full<float>({3}, 1.0f)};
    p.kernels = {k.kernel()};
    Step iota;
    iota.kind = StepKind::iota_i32;
    iota.views = {view(4)};
    iota.loop_id = 0;
    Step repeat;
    repeat.kind = StepKind::repeat;
    repeat.count = 4;
    repeat.loop_id = 0;
    repeat.reverse = reverse;
    repeat.blocks = {{iota, call(0, {view(0, 0, {{0, 12}}), view(4), view(3), view(3), view(1, 0, {{0, 12}})})}};
    p.steps = {copy(view(3), view(2), 12), repeat};
    std::vector<float> x(12);
    for (size_t i = 0; i < 12; ++i) x[i] = static_cast<float>(i);
    Guarded<float> in(x), out_memory(12);
    std::vector<float> constant(3, 1.0f);
    alignas(64) char workspace[128];
    run(p, {in.data(), out_memory.data(), constant.data(), workspace});
    std::vector<float> c(3, 1.0f);
    for (int step = 0; step < 4; ++step) {
      const int at = reverse ? 3 - step : step;
      for (int i = 0; i < 3; ++i) {
        const auto e = static_cast<size_t>(at * 3 + i);
        c[static_cast<size_t>(i)] = c[static_cast<size_t>(i)] * 2 + x[e] * static_cast<float>(at);
        EXPECT_EQ(out_memory[e], c[static_cast<size_t>(i)]) << reverse;
      }
    }
  }
}

struct Host {
  codegen::ContextHeader header;
  int calls = 0;
  int fail_at = -1;
};

int32_t add_one(void* context, int32_t index, void* const* pointers) noexcept {
  auto& host = *static_cast<Host*>(context);
  if (host.calls++ == host.fail_at) return 1;
  const auto* in = static_cast<const float*>(pointers[0]);
  auto* out = static_cast<float*>(pointers[1]);
  for (int i = 0; i < 4; ++i) out[i] = in[i] + static_cast<float>(index);
  return 0;
}

TEST(Entry, HostCallGetsPointersAndMayFail) {
  Program p;
  p.buffers = {memory(BufferKind::input, 0, DType::f32, {4}), memory(BufferKind::output, 0, DType::f32, {4})};
  p.num_inputs = p.num_outputs = 1;
  p.num_loops = 1;
  const Type four{DType::f32, {4}};
  p.host_functions.resize(8);
  for (kernel::HostFunctionRef& f : p.host_functions) f.arguments = f.results = {four};
  Step host_call;
  host_call.kind = StepKind::host_call;
  host_call.host_function = 7;
  host_call.views = {view(1), view(1)};
  Step repeat;
  repeat.kind = StepKind::repeat;
  repeat.count = 3;
  repeat.loop_id = 0;
  repeat.blocks = {{host_call}};
  p.steps = {copy(view(1), view(0), 16), repeat};
  const auto compiled = test::stages::compile(p, {});
  codegen::RuntimeTable table;
  table.host_call = add_one;
  for (const int fail_at : {-1, 0, 2}) {
    Host host;
    host.header.table = &table;
    host.fail_at = fail_at;
    Guarded<float> in(std::vector<float>{1, 2, 3, 4}), out(4);
    void* buffers[] = {in.data(), out.data()};
    EXPECT_EQ(compiled->entry()(&host, buffers), fail_at < 0 ? 0 : 1);
    EXPECT_EQ(host.calls, fail_at < 0 ? 3 : fail_at + 1);
    EXPECT_EQ(out[3], 4.0f + 7.0f * static_cast<float>(fail_at < 0 ? 3 : fail_at));
  }
}

}  // namespace
}  // namespace calque::test
