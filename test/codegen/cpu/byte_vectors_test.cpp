// Code for vectors of bytes is generated in finite time on CPUs with AVX512-VBMI, whose permutations of 64 bytes LLVM
// may lower for ever: every operation of the op table on every type of 8 bits, over arrays long enough for all
// schedules.
#include <csignal>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/kernel_builder.h"
#include "support/native.h"
#include "support/op_table.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

const unsigned kSecondsPerGraph = kAddressSanitizer || kThreadSanitizer ? 200 : 60;

/// What is being compiled, for the handler.
std::string& current() {
  static std::string text;
  return text;
}

void out_of_time(int) {
  const ssize_t written = ::write(STDERR_FILENO, current().data(), current().size());
  ::_exit(written < 0 ? 2 : 1);
}

void compile(const Graph& graph, const kernel::BuildOptions& build, const std::string& cpu) {
  std::ostringstream text;
  text << "no code within " << kSecondsPerGraph << " s for " << cpu << ":\n" << graph;
  current() = text.str();
  ::alarm(kSecondsPerGraph);
  codegen::CodegenOptions options;
  options.target = {cpu, "x86_64-pc-linux-gnu"};
  test::stages::assembly(test::stages::build_program(transform::simplify(graph), build), options);
  ::alarm(0);
}

constexpr int64_t kElements = 1'000'000;
constexpr DType kBytes[] = {DType::i8, DType::u8, DType::bool_};

/// A graph, and the strides of its inputs.
struct Example {
  Graph graph;
  kernel::BuildOptions build = {};
};

void add_table(std::vector<Example>& examples, int stride) {
  for (const OpRow& row : op_table()) {
    if (row.primitive().has_effect || (stride > 1 && position(row) % static_cast<uint64_t>(stride) != 0)) continue;
    Rng rng(position(row) + 1);
    for (const DType d : kBytes) {
      if (!primitives::contains(row.dtypes, d)) continue;
      for (const Shape& shape : {Shape{kElements}, Shape{1000, 1000}}) {
        const auto c = row.make({d, shape, Domain::any}, rng);
        if (c) examples.push_back({graph_of(row, *c)});
      }
    }
  }
}

/// Cumulative loops and reversals of something computed.
void add_permutations(std::vector<Example>& examples) {
  for (const DType d : kBytes) {
    for (const bool reversed : {false, true}) {
      for (const int64_t stride : {1, -1}) {
        Graph g;
        const Value x = g.add_input({d, Shape{kElements}}), y = g.add_input({d, Shape{kElements}});
        const auto op = [&]<class P>(std::type_identity<P>, ValueList operands, Attributes attributes = {}) {
          return g.append(primitives::get<P>(), std::move(operands), std::move(attributes)).result();
        };
        const Value sum = op(std::type_identity<primitives::Max>(), {x, y});
        const Value back = op(std::type_identity<primitives::Reverse>(), {sum}, {{"axes", std::vector<int64_t>{0}}});
        const Value running = op(std::type_identity<primitives::Cummax>(), {reversed ? back : sum},
                                 {{"axis", int64_t{0}}, {"reverse", reversed}});
        g.set_outputs({back, running});
        kernel::BuildOptions build;
        build.input_strides = {{stride}, {stride}};
        examples.push_back({std::move(g), std::move(build)});
      }
    }
  }
}

/// CALQUE_TEST_CPUS: names separated by blanks.
std::vector<std::string> cpus() {
  const char* const chosen = std::getenv("CALQUE_TEST_CPUS");
  std::istringstream names(chosen != nullptr ? chosen : "sapphirerapids znver4");
  std::vector<std::string> out;
  for (std::string name; names >> name;) out.push_back(name);
  return out;
}

TEST(ByteVectors, AreCompiledForCpusWithVbmi) {
  if (kThreadSanitizer) GTEST_SKIP() << "forks";
  std::vector<Example> examples;
  add_permutations(examples);
  add_table(examples, kAddressSanitizer ? 5 : 1);
  for (const std::string& cpu : cpus()) {
    // In a child, which alone ends when LLVM does not.
    EXPECT_EXIT(
        {
          std::signal(SIGALRM, &out_of_time);
          for (const Example& e : examples) compile(e.graph, e.build, cpu);
          ::_exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace calque::test
