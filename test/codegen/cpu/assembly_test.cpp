// Generated code: vectors of the full width of the target, fused multiply-add only where it is allowed, texts and
// object files, errors about targets.
#include <cstdlib>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/kernel_builder.h"
#include "support/stages.h"

namespace calque::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Program triad(DType dtype) {
  KernelBuilder k("triad");
  const int32_t a = k.input(dtype, 1), x = k.input(dtype, 4000), y = k.input(dtype, 4000), out = k.output(dtype, 4000);
  const Id scale = k.load(a, k.index(0));
  k.parallel(4000, true, [&](Id i) { k.store(out, i, k.add(k.mul(scale, k.load(x, i)), k.load(y, i))); });
  return k.program();
}

Program sum(DType dtype) {
  KernelBuilder k("sum");
  const int32_t in = k.input(dtype, 100000), out = k.output(dtype, 1);
  const Ids r = k.reduction(100000, true, {k.constant(dtype, Literal{})}, {Combiner::add},
                            [&](Id i) { return Ids{k.load(in, i)}; });
  k.store(out, k.index(0), r[0]);
  return k.program();
}

TEST(Assembly, TriadUsesFullVectorsAndFma) {
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), cpu("x86-64-v4")), ContainsRegex("vfmadd[0-9]+ps[^\n]*%zmm"));
  EXPECT_THAT(test::stages::assembly(triad(DType::f64), cpu("x86-64-v4")), ContainsRegex("vfmadd[0-9]+pd[^\n]*%zmm"));
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), cpu("x86-64-v3")), ContainsRegex("vfmadd[0-9]+ps[^\n]*%ymm"));
  EXPECT_THAT(test::stages::assembly(triad(DType::f64), cpu("x86-64-v3")), ContainsRegex("vfmadd[0-9]+pd[^\n]*%ymm"));
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), cpu("x86-64-v2")), ContainsRegex("mulps[^\n]*%xmm"));
}

TEST(Assembly, SumHasFourVectorAccumulators) {
  const std::string text = test::stages::assembly(sum(DType::f32), cpu("x86-64-v4"));
  for (const char* offset : {"\\(%r[a-z0-9]+", "64\\(%r[a-z0-9]+", "128\\(%r[a-z0-9]+", "192\\(%r[a-z0-9]+"})
    EXPECT_THAT(text, ContainsRegex(std::string("vaddps\t") + offset + "[^\n]*%zmm")) << text;
  EXPECT_THAT(test::stages::assembly(sum(DType::f64), cpu("x86-64-v3")),
              ContainsRegex("vaddpd\t96\\(%r[a-z0-9]+[^\n]*%ymm"));
}

TEST(Assembly, MatchesTheHost) {
  const auto options = cpu("native");
  const std::string width = __builtin_cpu_supports("avx512vl") ? "%zmm"
                            : __builtin_cpu_supports("avx2")   ? "%ymm"
                                                               : "%xmm";
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), options), HasSubstr(width));
}

TEST(Assembly, StrictModeDoesNotContract) {
  auto options = cpu("x86-64-v4");
  options.strict = true;
  const std::string text = test::stages::assembly(triad(DType::f32), options);
  EXPECT_THAT(text, Not(HasSubstr("vfmadd")));
  EXPECT_THAT(text, ContainsRegex("vmulps[^\n]*%zmm"));
  EXPECT_THAT(test::stages::llvm_ir(triad(DType::f32), options), Not(ContainsRegex("fmul (contract|fast)")));
}

// Contraction by instruction selection would not happen without optimization.
TEST(Assembly, ContractionIsExplicit) {
  const std::string text = test::stages::llvm_ir(triad(DType::f32), cpu("x86-64-v4"));
  EXPECT_THAT(text, HasSubstr("@llvm.fma.v16f32"));
  EXPECT_THAT(text, Not(HasSubstr("contract")));
}

TEST(Assembly, FlagsBelongToModes) {
  codegen::CodegenOptions fast;
  fast.fast_math = true;
  EXPECT_THAT(test::stages::llvm_ir(triad(DType::f32), fast), HasSubstr("call fast <"));
}

// 64-bit index arithmetic does not halve the vectors of 32-bit data.
TEST(Assembly, IndicesDoNotNarrowVectors) {
  KernelBuilder k("gather");
  const int32_t in = k.input(DType::f32, 4000), index = k.input(DType::i64, 4000), out = k.output(DType::f32, 4000);
  k.parallel(4000, true, [&](Id i) { k.store(out, i, k.mul(k.load(in, k.load(index, i)), k.constant(2.0f))); });
  EXPECT_THAT(test::stages::llvm_ir(k.program(), cpu("x86-64-v4")), HasSubstr("fmul <16 x float>"));
  KernelBuilder m("iota");
  const int32_t o = m.output(DType::f32, 4000);
  m.parallel(4000, true, [&](Id i) { m.store(o, i, m.convert(DType::f32, i)); });
  EXPECT_THAT(test::stages::assembly(m.program(), cpu("x86-64-v4")), ContainsRegex("vcvtdq2ps[^\n]*%zmm"));
}

// (a b) + c and (a b) - c share a product, which can be fused into both sums.
Program two_sums_of_a_product() {
  KernelBuilder k("sums");
  const int32_t a = k.input(DType::f32, 4096), b = k.input(DType::f32, 4096), c = k.input(DType::f32, 4096),
                sum = k.output(DType::f32, 4096), difference = k.output(DType::f32, 4096);
  k.parallel(4096, true, [&](Id i) {
    const Id product = k.mul(k.load(a, i), k.load(b, i)), addend = k.load(c, i);
    k.store(sum, i, k.add(product, addend));
    k.store(difference, i, k.op("sub", {product, addend}));
  });
  return k.program();
}

TEST(Assembly, SharedProductsAreFusedIntoEachSum) {
  const std::string text = test::stages::assembly(two_sums_of_a_product(), cpu("x86-64-v3"));
  EXPECT_THAT(text, ContainsRegex("vfmadd[0-9]+ps[^\n]*%ymm"));
  EXPECT_THAT(text, ContainsRegex("vfmsub[0-9]+ps[^\n]*%ymm"));
  EXPECT_THAT(text, Not(HasSubstr("vmulps")));
  codegen::CodegenOptions strict = cpu("x86-64-v3");
  strict.strict = true;
  EXPECT_THAT(test::stages::assembly(two_sums_of_a_product(), strict), HasSubstr("vmulps"));
  EXPECT_THAT(test::stages::assembly(two_sums_of_a_product(), cpu("x86-64-v2")), HasSubstr("mulps"));
}

// A condition that a loop does not change is a mask of the loop, not a branch in it.
TEST(Assembly, UniformConditionsAreMasks) {
  KernelBuilder k("chosen");
  const int32_t in = k.input(DType::f32, 4096), flag = k.input(DType::bool_, 1), out = k.output(DType::f32, 4096);
  const Id chosen = k.load(flag, k.index(0));
  k.parallel(4096, true, [&](Id i) {
    k.store(out, i, k.op("select", {chosen, k.op("sub", {k.load(in, i), k.constant(1.0f)}), k.constant(0.0f)}));
  });
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v4")),
              ContainsRegex("v(add|sub)ps[^\n]*%zmm[0-9]+ \\{%k[1-7]\\} \\{z\\}"));
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v3")), ContainsRegex("v(pand|andps|blendvps)[^\n]*%ymm"));
}

// Spilled vectors lie on lines of the cache of their own: the frame is aligned as the vectors are. Scalar code and
// vectors of 16 bytes need no more than what every caller aligns.
TEST(Assembly, FramesOfWideVectorsAreAligned) {
  KernelBuilder k("spills");
  const int32_t in = k.input(DType::f32, 4096), out = k.output(DType::f32, 4096);
  k.parallel(4096, true, [&](Id i) {
    Ids values{k.load(in, i)};
    for (int n = 1; n < 40; ++n) values.push_back(k.op("sqrt", {k.add(values.back(), k.constant(float(n)))}));
    Id total = values[0];
    for (const Id v : values) total = k.op("sub", {v, total});
    k.store(out, i, total);
  });
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v4")), HasSubstr("andq\t$-64, %rsp"));
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v3")), HasSubstr("andq\t$-32, %rsp"));
  EXPECT_THAT(test::stages::assembly(k.program(), cpu("x86-64-v2")), Not(ContainsRegex("andq\t[^\n]*%rsp")));
}

// A while loop has several vectors in flight, each with a separate mask register.
TEST(Assembly, MasksOfVectorsInFlightAreSeparate) {
  KernelBuilder k("steps");
  const int32_t in = k.input(DType::f32, 4096), out = k.output(DType::i32, 4096);
  k.parallel(4096, true, [&](Id i) {
    const Id x = k.load(in, i), one = k.constant(1.0f);
    const Ids r = k.while_loop(
        {k.constant(0.0f), k.constant<int32_t>(0)}, [&](const Ids& s) { return k.compare("lt", s[0], x); },
        [&](const Ids& s) { return Ids{k.add(k.mul(s[0], s[0]), one), k.add(s[1], k.constant<int32_t>(1))}; });
    k.store(out, i, r[1]);
  });
  const std::string text = test::stages::assembly(k.program(), cpu("x86-64-v4"));
  EXPECT_THAT(text, ContainsRegex("vp(add|sub)d[^\n]*%zmm[0-9]+ \\{%k"));
  EXPECT_THAT(text, Not(HasSubstr("kunpck")));
  EXPECT_THAT(text, Not(HasSubstr("vpmovm2d")));
}

TEST(Object, IsAnElfFile) { EXPECT_EQ(test::stages::object(triad(DType::f32), {}).substr(1, 3), "ELF"); }

TEST(Target, IsDescribedByNameAndFeatures) {
  codegen::TargetOptions options;
  options.cpu = "x86-64-v3";
  EXPECT_THAT(codegen::target_description(options), HasSubstr("x86-64-v3"));
  EXPECT_THAT(codegen::target_description({"native", ""}), HasSubstr("+sse2"));
}

TEST(Target, TextsExistForOtherProcessors) {
  codegen::CodegenOptions options;
  options.target.triple = "aarch64-unknown-linux-gnu";
  options.target.cpu = "generic";
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), options), ContainsRegex("fml[as]\tv[0-9]+.4s"));
}

std::string message(const codegen::CodegenOptions& options) {
  try {
    test::stages::compile(triad(DType::f32), options);
  } catch (const CompileError& e) {
    return e.what();
  }
  return "";
}

TEST(Target, UnknownNamesAreErrors) {
  EXPECT_THAT(message(cpu("pentium-9")), HasSubstr("compile: unknown CPU pentium-9 for x86_64"));
  codegen::CodegenOptions options;
  options.target.triple = "nosuch-unknown-elf";
  EXPECT_EQ(message(options), "compile: unknown target triple nosuch-unknown-elf");
  options.target.triple = "aarch64-unknown-linux-gnu";
  EXPECT_EQ(message(options), "compile: code for aarch64-unknown-linux-gnu cannot run here");
}

/// $CALQUE_CPU for a scope.
class ChosenCpu {
 public:
  explicit ChosenCpu(const char* name) { setenv("CALQUE_CPU", name, 1); }
  ~ChosenCpu() {
    if (before_) {
      setenv("CALQUE_CPU", before_->c_str(), 1);
    } else {
      unsetenv("CALQUE_CPU");
    }
  }

 private:
  std::optional<std::string> before_ =
      std::getenv("CALQUE_CPU") ? std::optional<std::string>(std::getenv("CALQUE_CPU")) : std::nullopt;
};

TEST(Target, CpusOf32BitsAreErrors) {
  if (!codegen::target_description({"native", ""}).starts_with("x86_64"))
    GTEST_SKIP() << "the CPUs named are x86 ones, and this host is not x86-64";
  for (const char* name : {"i386", "pentium4", "athlon", "pentium-m", "lakemont"}) {
    EXPECT_THAT(message(cpu(name)), HasSubstr("compile: CPU " + std::string(name) + " has no 64-bit instructions"));
    const ChosenCpu chosen(name);
    EXPECT_THAT(message({}), AllOf(HasSubstr("compile: CALQUE_CPU=" + std::string(name) + ": CPU"),
                                   HasSubstr("has no 64-bit instructions"), HasSubstr("x86-64-v3")));
  }
}

TEST(Target, UnknownNamesOfTheEnvironmentNameIt) {
  const ChosenCpu chosen("pentium-9");
  EXPECT_THAT(message({}), HasSubstr("compile: CALQUE_CPU=pentium-9: unknown CPU pentium-9 for "));
}

TEST(Target, CodeThatThisProcessorCannotRunIsOnlyShown) {
  const std::string host = codegen::target_description({"native", ""});
  if (!host.starts_with("x86_64")) GTEST_SKIP() << "bdver1 is an x86 CPU, and this host is not x86-64";
  if (host.find("+xop") != host.npos) GTEST_SKIP() << "this processor has XOP, so it runs code for bdver1";
  EXPECT_THAT(message(cpu("bdver1")), AllOf(HasSubstr("cannot run code for bdver1, it lacks"), HasSubstr("xop")));
  EXPECT_THAT(test::stages::assembly(triad(DType::f32), cpu("bdver1")), HasSubstr("vfmadd"));
  const ChosenCpu chosen("bdver1");
  EXPECT_THAT(message({}), HasSubstr("cannot run code for bdver1"));
  EXPECT_EQ(message(cpu("native")), "");
}

TEST(Target, CodeForLessThanThisProcessorRuns) {
  if (!codegen::target_description({"native", ""}).starts_with("x86_64"))
    GTEST_SKIP() << "the CPUs named are x86 ones, and this host is not x86-64";
  for (const char* name : {"x86-64", "nehalem", "core2"}) EXPECT_EQ(message(cpu(name)), "") << name;
}

TEST(Compile, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int64_t n = 1; n <= 6; ++n) {
        KernelBuilder k("k" + std::to_string(t));
        const int32_t in = k.input(DType::f32, n), out = k.output(DType::f32, n);
        k.parallel(n, true, [&](Id i) { k.store(out, i, k.add(k.load(in, i), k.constant(static_cast<float>(t)))); });
        std::vector<float> x(static_cast<size_t>(n), 1.0f), y(x.size());
        run(k.program(), {x.data(), y.data()});
        for (const float v : y) wrong[t] += v != static_cast<float>(t) + 1.0f;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

// The same program compiled twice: each has separate code, which is kept as long as it is referenced.
TEST(Compile, ProgramsDoNotShareTheirCode) {
  const auto a = test::stages::compile(triad(DType::f32), {});
  auto b = test::stages::compile(triad(DType::f32), {});
  EXPECT_NE(a->entry(), b->entry());
  b.reset();
  std::vector<float> s{2}, x(4000, 3), y(4000, 4), z(4000);
  void* pointers[] = {s.data(), x.data(), y.data(), z.data()};
  codegen::RuntimeTable table;
  codegen::ContextHeader context{&table};
  EXPECT_EQ(a->entry()(&context, pointers), 0);
  EXPECT_EQ(z[3999], 10.0f);
}

#ifdef __SANITIZE_ADDRESS__
TEST(SanitizeDeathTest, GeneratedCodeIsInstrumented) {
  KernelBuilder k("beyond");
  const int32_t in = k.input(DType::f32, 101), out = k.output(DType::f32, 101);
  k.parallel(101, true, [&](Id i) { k.store(out, i, k.load(in, i)); });
  std::vector<float> x(101), y(101), shorter(90);
  run(k.program(), {x.data(), y.data()});
  EXPECT_DEATH(run(k.program(), {shorter.data(), y.data()}), "heap-buffer-overflow");
}
#else
TEST(Sanitize, NeedsASanitizedProcess) {
  codegen::CodegenOptions options;
  options.sanitize = true;
  EXPECT_EQ(message(options), "compile: sanitize: this process does not contain AddressSanitizer");
}
#endif

}  // namespace
}  // namespace calque::test
