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

/// How far compilation goes on from the text after a pass. `to_next` compares what the next pass made of it with what
/// it made of the straight way's: as that is where the next comparison begins, the steps add up to the whole way.
enum class Continue : uint8_t { to_next, to_code };

/// What compilation makes of the text after `entry`: the text after the pass of `next`, or the code if that is null.
std::string continued_text(const PassLog::Entry& entry, const PassLog::Entry* next, Device::Kind kind,
                           const char* level, const CompileOptions& options) {
  PassLog log([&](std::string_view pass) { return next != nullptr && pass == next->name; });
  Compilation continued(kind, options, &log);
  set_level(continued, level);
  read_back(continued, entry.text, entry.name);
  if (next == nullptr) return without_numbers(make_assembly(continued, entry.name));
  run_passes(continued, entry.name, next->name);
  return log.entries().back().text;
}

/// Compares the code for a CPU, or for a GPU, with that from the text after each pass that has one. Returns the number
/// of passes.
size_t expect_same_code(const Graph& graph, Device::Kind kind, const char* level, const CompileOptions& options,
                        Continue how_far) {
  PassLog log([](std::string_view) { return true; });
  log.add(kTracePass.name, 0, PassLog::Over::whole, [&](std::ostream& out) { out << graph; });
  Compilation straight(kind, options, &log);
  straight.graph = graph;
  set_level(straight, level);
  const std::string want = without_numbers(make_assembly(straight, kTracePass.name));
  struct Readable {
    const PassLog::Entry* entry;
    Form form;
  };
  std::vector<Readable> readable;
  for (const Pass& pass : passes_of(kind)) {
    const auto entry = std::find_if(log.entries().begin(), log.entries().end(),
                                    [&](const PassLog::Entry& e) { return e.name == pass.info.name; });
    if (entry != log.entries().end() && pass.form != Form::code) readable.push_back({&*entry, pass.form});
  }
  for (size_t i = 0; i < readable.size() && !testing::Test::HasFailure(); ++i) {
    const PassLog::Entry& entry = *readable[i].entry;
    // The numbers of attributes and metadata in LLVM IR depend on what was there before.
    const bool has_next = i + 1 < readable.size() && readable[i + 1].form != Form::llvm;
    const PassLog::Entry* next = how_far == Continue::to_next && has_next ? readable[i + 1].entry : nullptr;
    SCOPED_TRACE(entry.name + (next ? ", " + next->name : ""));
    EXPECT_EQ(continued_text(entry, next, kind, level, options), next ? next->text : want) << graph << entry.text;
  }
  return readable.size();
}

/// The passes of the list whose text is a graph, a plan, a program or LLVM IR.
size_t readable_passes(Device::Kind kind) {
  const auto all = passes_of(kind);
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const Pass& p) { return p.form != Form::code; }));
}

void expect_same_code_everywhere(const Graph& graph) {
  for (const char* level : kLevels) {
    const Continue how_far = level == kLevels[0] ? Continue::to_code : Continue::to_next;
    EXPECT_EQ(expect_same_code(graph, Device::Kind::cpu, level, {}, how_far), readable_passes(Device::Kind::cpu));
  }
  EXPECT_EQ(expect_same_code(graph, Device::Kind::gpu, kLevels[0], {}, Continue::to_code),
            readable_passes(Device::Kind::gpu));
  CompileOptions donating;
  donating.donated.assign(graph.inputs().size(), true);
  expect_same_code(graph, Device::Kind::cpu, kLevels[0], donating, Continue::to_next);
  expect_same_code(graph, Device::Kind::gpu, kLevels[0], donating, Continue::to_next);
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

TEST(Passes, FactorizationsOfSmallMatrices) {
  expect_same_code_everywhere(parse(R"(calque 1
graph solve(%0: f32[20,4,4], %1: f32[20,4,3]) {
  %2 = cholesky %0
  %3 = triangular_solve[lower=true, transpose=false, unit_diagonal=false] %2 %1
  return %2, %3
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
  const uint64_t graphs = test::kAddressSanitizer || test::kThreadSanitizer ? 5 : 50;
  for (uint64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = test::random_graph(seed, options);
    CompileOptions compile;
    if (seed % 2 == 1) compile.donated.assign(graph.inputs().size(), true);
    const Device::Kind kind = seed % 4 == 3 ? Device::Kind::gpu : Device::Kind::cpu;
    expect_same_code(graph, kind, kLevels[seed % kLevels.size()], compile, Continue::to_next);
  }
}

TEST(Passes, MalformedLlvmIrIsRefused) {
  for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::gpu}) {
    for (const char* text : {"define void @f( {", "define i32 @f() {\n  ret void\n}\n",
                             "define void @f() #0 {\n  ret void\n}\nattributes #0 = { \"cq-launch\"=\"1 33 0\" }\n"}) {
      if (kind == Device::Kind::cpu && std::string_view(text).find("cq-launch") != std::string_view::npos) continue;
      Compilation c(kind, {});
      read_back(c, text, "emit-llvm");
      EXPECT_THROW(make_assembly(c, "emit-llvm"), CompileError) << text;
    }
  }
}

/// Changes of a plan's text are refused, or the code that they lead to is made.
TEST(Passes, DamagedPlansAreRefusedOrCompiled) {
  std::vector<std::pair<std::string, std::string>> texts;
  test::RandomGraphOptions options;
  options.max_equations = 12;
  options.max_elements = 300;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    PassLog log([](std::string_view) { return true; });
    Compilation c(Device::Kind::cpu, {}, &log);
    c.graph = test::random_graph(seed, options);
    run_passes(c, kTracePass.name, "lower");
    for (const Pass& pass : passes_of(Device::Kind::cpu))
      for (const PassLog::Entry& e : log.entries())
        if (pass.form == Form::plan && e.name == pass.info.name) texts.emplace_back(e.name, e.text);
  }
  uint64_t state = 1;
  const auto next = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  int refused = 0, compiled = 0;
  const int rounds = test::kAddressSanitizer || test::kThreadSanitizer ? 150 : 3000;
  for (int round = 0; round < rounds; ++round) {
    auto [pass, text] = texts[static_cast<size_t>(round) % texts.size()];
    const size_t section = text.find("\nplan {\n") + 8;
    for (size_t n = 1 + next(2); n > 0 && text.size() > section; --n) {
      const size_t at = section + next(text.size() - section);
      switch (next(4)) {
        case 0: {  // a line goes
          const size_t begin = text.rfind('\n', at - 1) + 1, end = text.find('\n', at);
          if (begin > section && end != text.npos) text.erase(begin, end - begin + 1);
          break;
        }
        case 1:  // another value
          if (text[at] >= '0' && text[at] <= '9') text[at] = static_cast<char>('0' + next(10));
          break;
        case 2:
          text.erase(at, 1 + next(6));
          break;
        default:
          text.insert(at, text.substr(section + next(text.size() - section), 1 + next(30)));
      }
    }
    try {
      Compilation c(Device::Kind::cpu, {});
      read_back(c, text, pass);
      run_passes(c, pass, last_program_pass(c.kind));
      ++compiled;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds / 5);
  EXPECT_GT(compiled, rounds / 20);
}

TEST(Passes, TextsOfOtherPassesAreRefused) {
  const char* text = "program f: workspace 0 bytes\nsteps {\n}\n";
  for (const char* pass : {"machine-code", "no-such-pass", "split-launches"}) {
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
