// The text of programs reads back exactly after every pass, and damaged texts are read or refused.
#include <cstring>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/native_executable.h"
#include "compile/passes.h"
#include "kernel/lower/program_passes.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "kernel/text/parse.h"
#include "support/control_programs.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::kernel {
namespace {

using testing::HasSubstr;

std::string text_of(const Program& program) {
  std::ostringstream out;
  out << program;
  return out.str();
}

/// The passes whose text is a program.
std::vector<std::string_view> passes_over_programs() {
  std::vector<std::string_view> names;
  for (const Device::Kind kind : {Device::Kind::cpu, Device::Kind::gpu})
    for (const runtime::Pass& pass : runtime::passes_of(kind)) {
      if (pass.form != runtime::Form::program) continue;
      if (std::find(names.begin(), names.end(), pass.info.name) == names.end()) names.push_back(pass.info.name);
      if (pass.info.name == runtime::last_program_pass(kind)) break;
    }
  return names;
}

BuildOptions on_threads() {
  BuildOptions options;
  options.parallel_loops = ParallelLoops::sums;
  return options;
}

/// Builds the program with a log of all texts, and reads each back. Returns the number of texts.
size_t expect_reads_back(const Graph& graph, const BuildOptions& options, bool gpu) {
  PassLog log([](std::string_view) { return true; });
  const Program program = test::stages::build_program(transform::simplify(graph), options, &log);
  verify(program);
  if (gpu) test::stages::schedule_for_gpu(program, {}, &log);
  const std::vector<std::string_view> names = passes_over_programs();
  size_t texts = 0;
  for (const PassLog::Entry& e : log.entries()) {
    if (std::find(names.begin(), names.end(), e.name) == names.end()) continue;
    ++texts;
    try {
      EXPECT_EQ(text_of(parse_program(e.text)), e.text) << e.name;
    } catch (const Error& error) {
      ADD_FAILURE() << e.name << ": " << error.what() << "\n" << e.text;
    }
  }
  return texts;
}

/// Layouts other than row-major: transposed, reversed along the first axis, or broadcast along the last.
std::vector<Shape::Dims> odd_layouts(const Graph& graph, uint64_t seed) {
  std::vector<Shape::Dims> layouts;
  for (const Value v : graph.inputs()) {
    const Shape& shape = graph.shape(v);
    Shape::Dims strides = row_major_strides(shape);
    if (seed % 3 == 0) {
      int64_t step = 1;
      for (size_t d = 0; d < shape.size(); ++d) {
        strides[d] = step;
        step *= std::max<int64_t>(shape[d], 1);
      }
    } else if (seed % 3 == 1 && !shape.empty()) {
      strides[0] = -strides[0];
    } else if (!shape.empty()) {
      strides[shape.size() - 1] = 0;
    }
    layouts.push_back(std::move(strides));
  }
  return layouts;
}

TEST(ProgramText, ProgramsOfRandomGraphsReadBackAfterEveryPass) {
  const size_t names = passes_over_programs().size();
  for (uint64_t seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
    EXPECT_EQ(expect_reads_back(test::random_graph(seed), on_threads(), true), names);
  }
}

TEST(ProgramText, DonationsLayoutsAndEffectsReadBack) {
  test::RandomGraphOptions with_effects;
  with_effects.effects = true;
  for (uint64_t seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
    const Graph graph = test::random_graph(1000 + seed, with_effects);
    BuildOptions options;
    options.input_strides = odd_layouts(graph, seed);
    options.donated.assign(graph.inputs().size(), true);
    expect_reads_back(graph, options, false);
    options.input_strides.clear();
    options.donates_across_dtypes = false;
    options.alignment = 64;
    expect_reads_back(graph, options, true);
  }
}

TEST(ProgramText, ControlFlowReadsBack) {
  for (const test::ControlProgram& program : test::control_programs()) {
    SCOPED_TRACE(program.name);
    const Graph graph = parse("calque 1\n" + std::string(program.text));
    BuildOptions options = on_threads();
    options.donated.assign(graph.inputs().size(), true);
    expect_reads_back(graph, options, true);
  }
}

constexpr const char* kEverything = R"(program "odd name": workspace 640 bytes, 4 loops
  m0 = input 0 donated: f32[2,3] strides [1,-2]
  m1 = input 1: f32[6]
  m2 = output 0: f32[6] in the memory of input 1
  m3 = constant 0: i32[3]
  m4 = workspace: bool[]
  m5 = workspace at 64: f32[6]
  m6 = workspace private to i0 at 128: f32[6]
  m7 = workspace at 128: i32[]
  m8 = workspace at 192: f32[4,16]
  m9 = workspace: f32[6]
  m10 = workspace: f32[6]
  m11 = workspace: f32[6]
steps {
  call copy#1(m5, m0) copies m0 to m5 "f32[6] once" copies m1+4 to i2 odd ? m5 : m1 "again"
  repeat 8 reverse i0 chunks i1 threads(2) private 64 bytes {
    call copy#0(m6, m8+0*i1)
    call "k 2"(m8+64*i1, i0 even ? m5+4+2*i0 : m5)
    iota i0 to m7
  }
  repeat 3 sums m5: f32[6], m5+4: f32[] {
  }
  while m4 i2 at most 70 carries m9 then m10 spare m11 updates result m5 copied "because" {
    copy 1 bytes to m4 from m4
  } {
    iota i2 to m7
  }
  branch m7 {
  } {
    host h0(m5, m1)
  }
  copy 24 bytes to m2 from i2 odd ? m5 : m1
}
not fused: "a \"remark\""
copied: "another"
host h0 = debug_print[format="{} %\n", last=<f>](f32[6], f32[]) gives () loc("a b.cpp":3:4)
constant 0: i32[3] = [1, -2, 3]
kernel copy(out b0: f32[6], b1: f32[1]) {
  origin copy
}
kernel copy(out b0: f32[6], b1: f32[-3]) {
  origin anchor_op
}
kernel "k 2"(out b0: f32[1], b1: f32[1]) {
}
)";

TEST(ProgramText, EveryPartReadsBack) {
  const Program p = parse_program(kEverything);
  EXPECT_EQ(text_of(p), kEverything);
  EXPECT_EQ(p.num_inputs, 2);
  EXPECT_EQ(p.in_place, std::vector<int32_t>{1});
  EXPECT_EQ(p.steps[0].kernel, 1);
  EXPECT_EQ(p.steps[1].blocks[0][1].kernel, 2);
  EXPECT_TRUE(p.steps[3].carries[0].updates);
  EXPECT_EQ(p.kernels[1].origin, KernelOrigin::anchor_op);
}

/// Constants are in the text however large they are.
TEST(ProgramText, LargeConstantsReadBack) {
  constexpr int64_t kElements = 100'000;
  AnyArray array = AnyArray::uninitialized({DType::f32, Shape{kElements}});
  auto* data = static_cast<float*>(array.mutable_data());
  for (int64_t i = 0; i < kElements; ++i) data[i] = static_cast<float>(i) * 0.5f;
  Program p;
  p.name = "f";
  p.constants.push_back(array);
  ProgramBuffer buffer;
  buffer.kind = BufferKind::constant;
  buffer.type = array.type();
  buffer.strides = row_major_strides(array.shape());
  p.buffers.push_back(buffer);
  const Program again = parse_program(text_of(p));
  ASSERT_EQ(again.constants.size(), 1u);
  EXPECT_EQ(std::memcmp(again.constants[0].data(), array.data(), array.bytes()), 0);
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse_program(text);
    ADD_FAILURE() << "read: " << text;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr(message)) << text;
  }
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kEverything;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ProgramText, MistakesAreNamedWithTheirPosition) {
  expect_error("graph f() {}", "line 1, column 1: expected 'program' to start the text, got 'graph'");
  expect_error(replaced("m1 = input 1", "m2 = input 1"), "line 3, column 3: expected m1");
  expect_error(replaced("= input 1:", "= inputs 1:"), "expected 'input', 'output', 'constant' or 'workspace'");
  expect_error(replaced("= input 1:", "= input 2:"), "line 3, column 3: there is no such input, output or constant");
  expect_error(replaced("= input 1:", "= input 0:"), "line 3, column 3: an input, output or constant has two buffers");
  expect_error(replaced("call copy#1", "call copy"), "line 15, column 8: 2 kernels are named 'copy': say which after");
  expect_error(replaced("call copy#1", "call copy#7"), "line 15, column 8: there is no such kernel 'copy'");
  expect_error(replaced("call copy#1", "call paste"), "line 15, column 8: there is no kernel 'paste'");
  expect_error(replaced("call copy#1(m5, m0)", "call copy#1(m5)"), "column 3: the kernel has 2 buffers, got 1");
  expect_error(replaced("(m5, m0)", "(m5, m99)"), "line 15, column 3: there is no buffer m99");
  expect_error(replaced("(m5, m0)", "(m3, m0)"), "line 15, column 3: a constant is written to");
  expect_error(replaced("(m5, m0)", "(m0, m0)"), "an input is written to in which there is no output");
  expect_error(replaced("(m5, m0)", "(m5+4, m0)"), "line 15, column 3: a view is outside its buffer m5");
  expect_error(replaced("(m5, m0)", "(m5+4*i0, m0)"), "i0 is not the number of an enclosing counted loop");
  expect_error(replaced("m8+64*i1", "m8+128*i1"), "line 18, column 5: a view is outside its buffer m8");
  expect_error(replaced("i0 even", "i3 even"), "i3 is not the number of an enclosing loop or of an earlier while");
  expect_error(replaced("repeat 8", "repeat -8"), "line 16, column 10: expected the number of iterations from 0");
  expect_error(replaced("4 loops", "1 loops"), "the program has 1 loops, got i1");
  expect_error(replaced("m4 i2", "m4 i0"), "two loops have the number i0");
  expect_error(replaced("then m10", "then m4"), "the buffers of a carry have one type");
  expect_error(replaced("branch m7", "branch m5"), "a branch is selected by an i32 or a bool");
  expect_error(replaced("host h0(", "host h1("), "there is no such host function");
  expect_error(replaced("[1, -2, 3]", "[1, -2]"), "i32[3] has 3 elements, got 2");
  expect_error(replaced("constant 0: i32[3] = [1, -2, 3]\n", ""), "there is no such input, output or constant");
  expect_error(replaced("  origin copy", "  origin paste"), "expected what the kernel was lowered from, got 'paste'");
  std::string deep = "program f: workspace 0 bytes\n  m0 = workspace: i32[]\nsteps {\n";
  for (int i = 0; i < 300; ++i) deep += "branch m0 {";
  expect_error(deep, "steps are nested too deeply");
}

class Damage {
 public:
  explicit Damage(uint64_t seed) : state_(seed) {}
  std::string damaged(const std::string& text) {
    if (next(4) == 0) return text.substr(0, next(text.size()));
    std::string result = text;
    for (size_t i = 0, n = 1 + next(3); i < n && !result.empty(); ++i) {
      const size_t at = next(result.size());
      switch (next(5)) {
        case 0:
          result[at] = text[next(text.size())];
          break;
        case 1:
          result.erase(at, 1 + next(8));
          break;
        case 2:
          result[at] = static_cast<char>(next(256));
          break;
        case 3:
          result.insert(at, std::to_string(next(2) == 0 ? next(100) : size_t{1} << next(63)));
          break;
        default:
          result.insert(at, text.substr(next(text.size()), 1 + next(40)));
      }
    }
    return result;
  }

 private:
  size_t next(size_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % below;
  }
  uint64_t state_;
};

/// Damaged texts are read, and then read back, or refused.
TEST(ProgramText, DamagedTextsAreReadOrRefused) {
  std::vector<std::string> texts = {kEverything};
  for (uint64_t seed = 0; seed < 12; ++seed) {
    PassLog log([](std::string_view) { return true; });
    test::RandomGraphOptions small;
    small.max_equations = 12;
    const Program p =
        test::stages::build_program(transform::simplify(test::random_graph(seed, small)), on_threads(), &log);
    test::stages::schedule_for_gpu(p, {}, &log);
    for (const PassLog::Entry& e : log.entries())
      if (e.text.starts_with("program")) texts.push_back(e.text);
  }
  Damage damage(1);
  const int rounds = test::kAddressSanitizer || test::kThreadSanitizer ? 2000 : 20000;
  int refused = 0, read = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string text = damage.damaged(texts[static_cast<size_t>(round) % texts.size()]);
    try {
      const Program p = parse_program(text);
      const std::string printed = text_of(p);
      ASSERT_EQ(text_of(parse_program(printed)), printed);
      ++read;
    } catch (const ParseError&) {
      ++refused;
    } catch (const CompileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds / 2);
  EXPECT_GT(read, rounds / 100);
}

}  // namespace
}  // namespace calque::kernel
