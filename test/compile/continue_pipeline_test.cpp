// The text that a pass printed, read again and compiled from there on, gives the same code as the straight way.
#include "compile/continue_pipeline.h"

#include <algorithm>
#include <array>
#include <regex>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/gpu/device_code.h"
#include "compile/device_executable.h"
#include "compile/pipeline.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "plan/plan.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::runtime {
namespace {

constexpr std::array kLevels = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

/// `after`: the CPU pass after which the program was printed; empty: an earlier one.
std::string assembly(const kernel::Program& program, const char* level, const CompileOptions& options,
                     std::string_view after = {}, PassLog* log = nullptr) {
  codegen::CodegenOptions code = codegen_options(options);
  code.scheduled_after = after;
  code.log = log;
  code.target = {level, "x86_64-pc-linux-gnu"};
  code.sanitize = false;  // LLVM's pass numbers what it adds differently from one run to the next
  return codegen::assembly(program, code);
}

std::string code_of(const kernel::Program& program, Device::Kind kind, size_t level, const CompileOptions& options) {
  if (kind == Device::Kind::cpu) return assembly(program, kLevels[level % kLevels.size()], options);
  // LLVM numbers the calls of a process.
  static const std::regex call("callseq [0-9]+");
  return std::regex_replace(codegen::compile_ptx(program, {}).ptx, call, "callseq");
}

/// The passes whose text is a graph or a program.
std::vector<PassLog::Entry> readable(const PassLog& log) {
  std::vector<PassLog::Entry> entries;
  const auto plans = plan::plan_passes();
  for (const PassLog::Entry& e : log.entries())
    if (std::none_of(plans.begin(), plans.end(), [&](const plan::PlanPass& pass) { return pass.info.name == e.name; }))
      entries.push_back(e);
  return entries;
}

/// Compares the code for a CPU with that from the text after each pass of the schedule for it.
void expect_same_code_from_schedules(const kernel::Program& program, const char* level, const CompileOptions& options) {
  PassLog log([](std::string_view) { return true; });
  const std::string want = assembly(program, level, options, {}, &log);
  size_t passes = 0;
  for (const PassLog::Entry& e : log.entries()) {
    if (kernel::find_cpu_pass(e.name) == nullptr) continue;
    SCOPED_TRACE(e.name);
    ++passes;
    const kernel::Program continued = continued_program(e.text, e.name, Device::Kind::cpu, options);
    ASSERT_EQ(assembly(continued, level, options, e.name), want) << e.text;
  }
  EXPECT_EQ(passes, kernel::cpu_passes().size());
}

/// Compares the code for `levels` CPUs after each pass, beginning with `first`. Returns the number of passes.
size_t expect_same_code(const Graph& graph, Device::Kind kind, size_t first, size_t levels,
                        const CompileOptions& options = {}) {
  PassLog log([](std::string_view) { return true; });
  log.add(kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << graph; });
  const kernel::Program straight = kind == Device::Kind::cpu
                                       ? plan_graph(simplified_graph(graph, options, &log), {}, options, &log)
                                       : plan_for_device(simplified_for_device(graph, options, &log), options, &log);
  const std::vector<PassLog::Entry> entries = readable(log);
  std::array<std::string, kLevels.size()> expected;
  size_t level = first;
  for (const PassLog::Entry& e : entries) {
    SCOPED_TRACE(e.name);
    const kernel::Program continued = continued_program(e.text, e.name, kind, options);
    for (size_t n = 0; n < levels; ++n, ++level) {
      std::string& want = expected[kind == Device::Kind::cpu ? level % kLevels.size() : 0];
      if (want.empty()) want = code_of(straight, kind, level, options);
      EXPECT_EQ(code_of(continued, kind, level, options), want) << graph << e.text;
    }
    if (testing::Test::HasFailure()) break;
  }
  if (kind == Device::Kind::cpu) {
    for (size_t n = 0; n < levels; ++n)
      expect_same_code_from_schedules(straight, kLevels[(first + n) % kLevels.size()], options);
  }
  return entries.size();
}

void expect_same_code_everywhere(const Graph& graph) {
  EXPECT_GE(expect_same_code(graph, Device::Kind::cpu, 0, kLevels.size()), 17u);
  EXPECT_GE(expect_same_code(graph, Device::Kind::gpu, 0, 1), 17u);
  CompileOptions donating;
  donating.donated.assign(graph.inputs().size(), true);
  expect_same_code(graph, Device::Kind::cpu, 0, 1, donating);
  expect_same_code(graph, Device::Kind::gpu, 0, 1, donating);
}

TEST(ContinuedPipeline, Softmax) {
  expect_same_code_everywhere(parse(R"(calque 1
graph softmax(%0: f32[10,64]) {
  %1 = reduce_max[axes=[1]] %0
  %2 = broadcast[axes=[0], shape=[10,64]] %1
  %3 = sub %0 %2
  %4 = exp %3
  %5 = reduce_sum[axes=[1]] %4
  %6 = broadcast[axes=[0], shape=[10,64]] %5
  %7 = div %4 %6
  return %7
})"));
}

TEST(ContinuedPipeline, ProductWithBiasAndRelu) {
  expect_same_code_everywhere(parse(R"(calque 1
graph layer(%0: f32[64,128], %1: f32[128,96], %2: f32[96]) {
  %3 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %0 %1
  %4 = broadcast[axes=[1], shape=[64,96]] %2
  %5 = add %3 %4
  %6 = max %5 0.0:f32[64,96]
  return %6
})"));
}

TEST(ContinuedPipeline, LoopsOfTheEntry) {
  expect_same_code_everywhere(parse(R"(calque 1
graph loops(%0: f32[8,8], %1: i32[]) {
  %2 = scan[carry=1, consts=0, length=3, reverse=false, unroll=1] %0 {
    (%0: f32[8,8]) {
      %1 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %0 %0
      %2 = mul %1 0.1:f32[8,8]
      return %2
    }
  }
  %3, %4 = while[body_consts=0, cond_consts=0] %1 %2 {
    (%0: i32[], %1: f32[8,8]) {
      %2 = lt %0 9:i32[]
      return %2
    }
    (%0: i32[], %1: f32[8,8]) {
      %2 = add %0 1:i32[]
      %3 = transpose[perm=[1,0]] %1
      %4 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %3 %1
      %5 = mul %4 0.01:f32[8,8]
      return %2, %5
    }
  }
  return %4
})"));
}

TEST(ContinuedPipeline, UpdatesOfCarries) {
  const auto updates = [](auto i, auto v) { return v.set(i, v[i] * 2.0f + 1.0f); };
  // Reads what it has overwritten: updates a copy.
  const auto reads_later = [](auto i, auto v) { return v.set(i, sum(v)) + v[0]; };
  expect_same_code_everywhere(jit([&](auto x) { return fori_loop(0, 50, updates, x); }).trace(spec<float>({100'000})));
  expect_same_code_everywhere(jit([&](auto x) {
                                return fori_loop(0, 7, [&](auto i, auto v) { return flip(v.set(i, v[i + 1]), 0); }, x);
                              }).trace(spec<float>({300})));
  expect_same_code_everywhere(jit([&](auto x) { return fori_loop(0, 5, reads_later, x); }).trace(spec<float>({64})));
}

TEST(ContinuedPipeline, GathersAndScatters) {
  const Graph graph = jit([](auto x, auto i) {
                        const auto taken = take(x, i, 0);
                        return cumsum(scatter_add(x, i, taken * 2.0f), 0) / sum(x);
                      }).trace(spec<float>({100'000}), spec<int32_t>({500}));
  expect_same_code_everywhere(graph);
}

TEST(ContinuedPipeline, RandomGraphs) {
  test::RandomGraphOptions options;
  options.max_equations = 20;
  options.max_elements = 300;  // larger constants are a hash in the text of graphs
  const uint64_t graphs = test::kAddressSanitizer || test::kThreadSanitizer ? 10 : 50;
  for (uint64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = test::random_graph(seed, options);
    CompileOptions compile;
    if (seed % 2 == 1) compile.donated.assign(graph.inputs().size(), true);
    expect_same_code(graph, seed % 4 == 3 ? Device::Kind::gpu : Device::Kind::cpu, seed, 1, compile);
  }
}

TEST(ContinuedPipeline, TextsOfOtherPassesAreRefused) {
  for (const char* pass : {"materialize", "emit-llvm", "no-such-pass"})
    EXPECT_THROW(continued_program("program f: workspace 0 bytes\nsteps {\n}\n", pass, Device::Kind::cpu, {}), Error);
  EXPECT_THROW(continued_program("program f: workspace 0 bytes\nsteps {\n}\n", "split-launches", Device::Kind::cpu, {}),
               Error);
}

TEST(ContinuedPipeline, OffsetsOutsideTheWorkspaceAreRefused) {
  const std::string text = R"(program f: workspace 64 bytes
  m0 = workspace at 64: i32[]
  m1 = workspace: i32[]
steps {
  copy 4 bytes to m0 from m1
}
)";
  EXPECT_THROW(continued_program(text, "assign-workspace", Device::Kind::cpu, {}), CompileError);
  EXPECT_NO_THROW(continued_program(text, "drop-unused", Device::Kind::cpu, {}));
}

}  // namespace
}  // namespace calque::runtime
