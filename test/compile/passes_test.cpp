// The text that a pass printed, read again and compiled from there on, gives the same code as the straight way.
#include "compile/passes.h"

#include <algorithm>
#include <array>
#include <regex>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/random/random_graph.h"
#include "support/sanitizers.h"

namespace calque::runtime {
namespace {

constexpr std::array kLevels = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

// LLVM numbers the calls of a process.
std::string without_numbers(const std::string& ptx) {
  static const std::regex call("callseq [0-9]+");
  return std::regex_replace(ptx, call, "callseq");
}

void set_level(Compilation& c, const char* level) {
  c.native.target = {level, "x86_64-pc-linux-gnu"};
  c.native.sanitize = false;  // LLVM's pass numbers what it adds differently from one run to the next
}

/// Compares the code for a CPU, or for a GPU, with that from the text after each pass that has one. Returns the number
/// of passes.
size_t expect_same_code(const Graph& graph, Device::Kind kind, const char* level, const CompileOptions& options) {
  PassLog log([](std::string_view) { return true; });
  log.add(kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << graph; });
  Compilation straight(kind, options, &log);
  straight.graph = graph;
  set_level(straight, level);
  const std::string want = without_numbers(make_assembly(straight, kTracePass.name));
  size_t passes = 0;
  for (const Pass& pass : passes_of(kind)) {
    const auto entry = std::find_if(log.entries().begin(), log.entries().end(),
                                    [&](const PassLog::Entry& e) { return e.name == pass.info.name; });
    if (entry == log.entries().end() || pass.form == Form::plan || pass.form == Form::code) continue;
    SCOPED_TRACE(entry->name);
    ++passes;
    Compilation continued(kind, options);
    set_level(continued, level);
    read_back(continued, entry->text, entry->name);
    EXPECT_EQ(without_numbers(make_assembly(continued, entry->name)), want) << graph << entry->text;
    if (testing::Test::HasFailure()) break;
  }
  return passes;
}

/// The passes of the list whose text is a graph or a program.
size_t readable_passes(Device::Kind kind) {
  const auto all = passes_of(kind);
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [](const Pass& p) { return p.form == Form::graph || p.form == Form::program; }));
}

void expect_same_code_everywhere(const Graph& graph) {
  for (const char* level : kLevels)
    EXPECT_EQ(expect_same_code(graph, Device::Kind::cpu, level, {}), readable_passes(Device::Kind::cpu));
  EXPECT_EQ(expect_same_code(graph, Device::Kind::gpu, kLevels[0], {}), readable_passes(Device::Kind::gpu));
  CompileOptions donating;
  donating.donated.assign(graph.inputs().size(), true);
  expect_same_code(graph, Device::Kind::cpu, kLevels[0], donating);
  expect_same_code(graph, Device::Kind::gpu, kLevels[0], donating);
}

/// What ran is the list, in its order: all of it but what a compilation leaves out.
TEST(Passes, TheLogIsTheListOfPasses) {
  const Graph graph = jit([](auto x) { return sin(x) + cos(x) * sum(x); }).trace(spec<float>({1000}));
  for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::gpu}) {
    PassLog log;
    Compilation c(kind, {}, &log);
    c.graph = graph;
    run_passes(c, kTracePass.name);
    std::vector<std::string_view> listed, ran;
    for (const Pass& pass : passes_of(kind))
      if (pass.info.name != kTracePass.name && pass.info.name != "partition") listed.push_back(pass.info.name);
    for (const PassLog::Entry& e : log.entries()) ran.push_back(e.name);
    EXPECT_EQ(ran, listed);
  }
}

TEST(Passes, StopsAfterThePassThatIsNamed) {
  const Graph graph = jit([](auto x) { return exp(x) * 2.0f; }).trace(spec<float>({10}));
  for (const Pass& last : passes_of(Device::Kind::cpu)) {
    PassLog log;
    Compilation c(Device::Kind::cpu, {}, &log);
    c.graph = graph;
    run_passes(c, kTracePass.name, last.info.name);
    if (log.entries().empty() || last.info.name == "partition") continue;
    EXPECT_EQ(log.entries().back().name, last.info.name);
  }
  Compilation c(Device::Kind::cpu, {});
  EXPECT_THROW(run_passes(c, "no-such-pass"), CompileError);
}

TEST(Passes, Softmax) {
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

TEST(Passes, ProductWithBiasAndRelu) {
  expect_same_code_everywhere(parse(R"(calque 1
graph layer(%0: f32[64,128], %1: f32[128,96], %2: f32[96]) {
  %3 = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], rhs_contract=[0]] %0 %1
  %4 = broadcast[axes=[1], shape=[64,96]] %2
  %5 = add %3 %4
  %6 = max %5 0.0:f32[64,96]
  return %6
})"));
}

TEST(Passes, LoopsOfTheEntry) {
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

TEST(Passes, UpdatesOfCarries) {
  const auto updates = [](auto i, auto v) { return v.set(i, v[i] * 2.0f + 1.0f); };
  // Reads what it has overwritten: updates a copy.
  const auto reads_later = [](auto i, auto v) { return v.set(i, sum(v)) + v[0]; };
  expect_same_code_everywhere(jit([&](auto x) { return fori_loop(0, 50, updates, x); }).trace(spec<float>({100'000})));
  expect_same_code_everywhere(jit([&](auto x) {
                                return fori_loop(0, 7, [&](auto i, auto v) { return flip(v.set(i, v[i + 1]), 0); }, x);
                              }).trace(spec<float>({300})));
  expect_same_code_everywhere(jit([&](auto x) { return fori_loop(0, 5, reads_later, x); }).trace(spec<float>({64})));
}

TEST(Passes, GathersAndScatters) {
  const Graph graph = jit([](auto x, auto i) {
                        const auto taken = take(x, i, 0);
                        return cumsum(scatter_add(x, i, taken * 2.0f), 0) / sum(x);
                      }).trace(spec<float>({100'000}), spec<int32_t>({500}));
  expect_same_code_everywhere(graph);
}

TEST(Passes, RandomGraphs) {
  test::RandomGraphOptions options;
  options.max_equations = 20;
  options.max_elements = 300;  // larger constants are a hash in the text of graphs
  const uint64_t graphs = test::kAddressSanitizer || test::kThreadSanitizer ? 10 : 50;
  for (uint64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = test::random_graph(seed, options);
    CompileOptions compile;
    if (seed % 2 == 1) compile.donated.assign(graph.inputs().size(), true);
    const Device::Kind kind = seed % 4 == 3 ? Device::Kind::gpu : Device::Kind::cpu;
    expect_same_code(graph, kind, kLevels[seed % kLevels.size()], compile);
  }
}

TEST(Passes, TextsOfOtherPassesAreRefused) {
  const char* text = "program f: workspace 0 bytes\nsteps {\n}\n";
  for (const char* pass : {"materialize", "emit-llvm", "no-such-pass", "split-launches"}) {
    Compilation c(Device::Kind::cpu, {});
    EXPECT_THROW(read_back(c, text, pass), Error) << pass;
  }
}

TEST(Passes, OffsetsOutsideTheWorkspaceAreRefused) {
  const std::string text = R"(program f: workspace 64 bytes
  m0 = workspace at 64: i32[]
  m1 = workspace: i32[]
steps {
  copy 4 bytes to m0 from m1
}
)";
  Compilation c(Device::Kind::cpu, {});
  EXPECT_THROW(read_back(c, text, "assign-workspace"), CompileError);
  EXPECT_NO_THROW({
    read_back(c, text, "drop-unused");
    run_passes(c, "drop-unused", last_program_pass(c.kind));
  });
}

}  // namespace
}  // namespace calque::runtime
