// Text dumps of kernels, and the verifier's message for every violated rule.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/ir/kernel.h"
#include "support/kernel_builder.h"

namespace calque::test {
namespace {

TEST(KernelText, ShowsLoopsAndInstructions) {
  KernelBuilder k("scaled_sum");
  const int32_t in = k.input(DType::f32, 12), out = k.output(DType::f32, 3);
  k.parallel(3, false, [&](Id r) {
    const Id zero = k.constant(0.0f);
    const Ids sum = k.reduction(4, true, {zero}, {Combiner::add}, [&](Id c) {
      const Id three = k.index(3);
      const Id inside = k.compare("lt", c, three);
      const Id row = k.mul(r, three);
      const Id at = k.add(row, c);
      return Ids{k.load(in, at, inside)};
    });
    const Id half = k.constant(0.5f);
    k.store(out, r, k.mul(sum[0], half));
  });
  std::ostringstream text;
  text << k.kernel();
  EXPECT_EQ(text.str(), R"(kernel scaled_sum(b0: f32[12] align 1, out b1: f32[3] align 1) {
  parallel 3 (%0: i64) {
    %1: f32 = 0
    %8: f32 = reduction 4 vectorize add from %1 (%2: i64) {
      %3: i64 = 3
      %4: bool = lt %2, %3
      %5: i64 = mul %0, %3
      %6: i64 = add %5, %2
      %7: f32 = load b0[%6] where %4
      yield %7
    }
    %9: f32 = 0.5
    %10: f32 = mul %8, %9
    store b1[%0], %10
  }
}
)");
}

TEST(KernelText, ShowsWhileAndIf) {
  KernelBuilder k("loops");
  const int32_t out = k.output(DType::i32, 1);
  const Id zero = k.constant(0);
  const Ids r = k.while_loop(
      {zero}, [&](const Ids& c) { return k.compare("lt", c[0], k.constant(3)); },
      [&](const Ids& c) { return Ids{k.add(c[0], k.constant(1))}; });
  const Ids s =
      k.if_else(k.constant(true), {DType::i32}, [&] { return Ids{r[0]}; }, [&] { return Ids{k.constant(-1)}; });
  k.store(out, k.index(0), s[0]);
  std::ostringstream text;
  text << k.kernel();
  EXPECT_EQ(text.str(), R"(kernel loops(out b0: i32[1] align 1) {
  %0: i32 = 0
  %7: i32 = while from %0 cond (%1: i32) {
    %2: i32 = 3
    %3: bool = lt %1, %2
    yield %3
  } do (%4: i32) {
    %5: i32 = 1
    %6: i32 = add %4, %5
    yield %6
  }
  %8: bool = true
  %10: i32 = if %8 then {
    yield %7
  } else {
    %9: i32 = -1
    yield %9
  }
  %11: i64 = 0
  store b0[%11], %10
}
)");
}

TEST(ProgramText, ShowsBuffersAndSteps) {
  KernelBuilder k("copy_one");
  const int32_t in = k.input(DType::f32, 1), out = k.output(DType::f32, 1);
  k.store(out, k.index(0), k.load(in, k.index(0)));
  Program p = k.program();
  kernel::Step repeat;
  repeat.kind = kernel::StepKind::repeat;
  repeat.count = 4;
  repeat.loop_id = 0;
  repeat.reverse = true;
  p.steps[0].views[0].terms = {{0, 4}};
  p.steps[0].views[0].offset = 8;
  repeat.blocks = {p.steps};
  p.steps = {repeat};
  std::ostringstream text;
  text << p;
  EXPECT_EQ(text.str().substr(0, text.str().find("kernel ")), R"(program test: workspace 0 bytes
  m0 = input 0: f32[1]
  m1 = output 0: f32[1]
steps {
  repeat 4 reverse i0 {
    call copy_one(m0+8+4*i0, m1)
  }
}
)");
}

std::string broken(KernelBuilder& k) {
  try {
    kernel::verify(k.kernel());
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}

TEST(KernelVerify, UseBeforeDefinition) {
  KernelBuilder k;
  const int32_t out = k.output(DType::f32, 1);
  const Id later = k.kernel().add_value(DType::f32);
  k.store(out, k.index(0), later);
  EXPECT_EQ(broken(k), "verify: kernel k: %0 is used where it is not defined (instruction store)");
}

TEST(KernelVerify, UseOutsideItsRegion) {
  KernelBuilder k;
  const int32_t out = k.output(DType::f32, 4);
  Id inside = kNone;
  k.parallel(4, false, [&](Id) { inside = k.constant(1.0f); });
  k.store(out, k.index(0), inside);
  EXPECT_EQ(broken(k), "verify: kernel k: %1 is used where it is not defined (instruction store)");
}

TEST(KernelVerify, DTypesFollowTheTypingRules) {
  KernelBuilder k;
  k.op("add", DType::f64, {k.constant(1.0f), k.constant(2.0f)});
  EXPECT_EQ(broken(k), "verify: kernel k: add gives f32, not f64 (instruction scalar add of %2)");
  KernelBuilder m;
  m.op("add", DType::f32, {m.constant(1.0f), m.constant(2)});
  EXPECT_NE(broken(m).find("verify: kernel k: add: "), std::string::npos);
}

TEST(KernelVerify, StoresNeedAWrittenBufferOfTheirDType) {
  KernelBuilder k;
  const int32_t in = k.input(DType::f32, 1);
  k.store(in, k.index(0), k.constant(1.0f));
  EXPECT_EQ(broken(k), "verify: kernel k: only a buffer that is marked as written is stored to (instruction store)");
  KernelBuilder m;
  const int32_t out = m.output(DType::f32, 1);
  const Id at = m.index(0);
  m.store(out, at, m.constant(1));
  EXPECT_EQ(broken(m), "verify: kernel k: %1 is i32, expected f32 (instruction store)");
}

TEST(KernelVerify, IndicesAreI64) {
  KernelBuilder k;
  const int32_t in = k.input(DType::f32, 1);
  k.load(in, k.constant(0));
  EXPECT_EQ(broken(k), "verify: kernel k: %0 is i32, expected i64 (instruction load of %1)");
}

/// Stores to a local buffer of one loop and loads it, with the mistake that `change` makes.
std::string broken_local(const std::function<void(kernel::Instruction&, Kernel&)>& change) {
  KernelBuilder k;
  const int32_t out = k.output(DType::f32, 4), local = k.local(DType::f32, 2);
  k.parallel(4, false,
             [&](Id i) {
               k.store(local, k.index(0), k.constant(1.0f));
               k.store(out, i, k.load(local, k.index(0)));
             },
             {local});
  change(k.kernel().body.instructions[0], k.kernel());
  return broken(k);
}

TEST(KernelVerify, LocalBuffersBelongToOneLoop) {
  using kernel::Instruction;
  const auto message = [](const char* rule, const char* at) {
    return "verify: kernel k: " + std::string(rule) + (*at ? " (instruction " + std::string(at) + ")" : "");
  };
  EXPECT_EQ(broken_local([](Instruction&, Kernel&) {}), "");
  EXPECT_EQ(broken_local([](Instruction& loop, Kernel&) { loop.locals.clear(); }),
            message("a local buffer is accessed inside its loop", "store"));
  EXPECT_EQ(broken_local([](Instruction& loop, Kernel& k) {
              auto& body = loop.regions[0].instructions;
              std::erase_if(body, [](const Instruction& i) { return i.op == Op::store && i.buffer == 1; });
              (void)k;
            }),
            message("a local buffer is stored to before it is loaded", "load of %4"));
  EXPECT_EQ(broken_local([](Instruction& loop, Kernel& k) {
              k.body.instructions.push_back(loop);
              k.body.instructions[1].regions[0] = Region{{k.add_value(DType::i64)}, {}};
            }),
            message("a local buffer belongs to one loop", "loop"));
  EXPECT_EQ(broken_local([](Instruction& loop, Kernel&) { loop.locals.push_back(0); }),
            message("a loop lists a buffer that is not local", "loop"));
  EXPECT_EQ(broken_local([](Instruction&, Kernel& k) { k.buffers.push_back(k.buffers[1]); }),
            message("a local buffer belongs to a loop", ""));
  EXPECT_EQ(broken_local([](Instruction&, Kernel& k) { std::swap(k.buffers[0], k.buffers[1]); }),
            message("local buffers follow the parameters", ""));
  EXPECT_EQ(broken_local([](Instruction& loop, Kernel&) { loop.loop = LoopKind::sequential; }),
            message("only a parallel loop has local buffers", "loop"));
}

TEST(KernelVerify, VectorisedLoopsDoNotNest) {
  KernelBuilder k;
  const int32_t out = k.output(DType::f32, 16);
  k.parallel(4, true, [&](Id i) {
    k.parallel(4, true, [&](Id j) { k.store(out, k.add(k.mul(i, k.index(4)), j), k.constant(0.0f)); });
  });
  EXPECT_EQ(broken(k), "verify: kernel k: a vectorised loop inside another (instruction loop)");
}

TEST(KernelVerify, ReductionsHaveACombinerForEachResult) {
  KernelBuilder k;
  k.reduction(4, false, {k.constant(0.0f), k.constant(0.0f)}, {Combiner::add},
              [&](Id) { return Ids{k.constant(1.0f), k.constant(2.0f)}; });
  EXPECT_EQ(broken(k), "verify: kernel k: a reduction has a combiner for each result (instruction loop of %5, %6)");
  KernelBuilder m;
  m.reduction(4, false, {m.constant(0.0f), m.constant(0)}, {Combiner::argmax, Combiner::argmax},
              [&](Id) { return Ids{m.constant(1.0f), m.constant(2)}; });
  EXPECT_EQ(broken(m),
            "verify: kernel k: argmax and argmin have two results: a value and an i64 index (instruction loop of %5, "
            "%6)");
}

TEST(KernelVerify, YieldsMatchTheirRegion) {
  KernelBuilder k;
  k.while_loop({k.constant(0)}, [&](const Ids&) { return k.constant(1); }, [&](const Ids& c) { return c; });
  EXPECT_EQ(broken(k), "verify: kernel k: %2 is i32, expected bool (instruction yield)");
  KernelBuilder m;
  m.sequential(3, {m.constant(0.0f)}, [&](Id, const Ids&) { return Ids{m.constant(0)}; });
  EXPECT_EQ(broken(m), "verify: kernel k: %3 is i32, expected f32 (instruction yield)");
}

TEST(KernelIdentity, LeavesContributionsUnchanged) {
  EXPECT_EQ(kernel::identity(Combiner::add, DType::f64).as<double>(), 0.0);
  EXPECT_EQ(kernel::identity(Combiner::mul, DType::i16).as<int16_t>(), 1);
  EXPECT_EQ(kernel::identity(Combiner::max, DType::f32).as<float>(), -INFINITY);
  EXPECT_EQ(kernel::identity(Combiner::min, DType::f32).as<float>(), INFINITY);
  EXPECT_EQ(kernel::identity(Combiner::argmax, DType::i8).as<int8_t>(), -128);
  EXPECT_EQ(kernel::identity(Combiner::min, DType::u16).as<uint16_t>(), 65535);
  EXPECT_EQ(kernel::identity(Combiner::and_, DType::i32).as<int32_t>(), -1);
  EXPECT_TRUE(kernel::identity(Combiner::and_, DType::bool_).as<bool>());
  EXPECT_FALSE(kernel::identity(Combiner::or_, DType::bool_).as<bool>());
  EXPECT_TRUE(std::isinf(static_cast<float>(kernel::identity(Combiner::min, DType::f16).as<float16>())));
}

}  // namespace
}  // namespace calque::test
