// Cross compilation: random graphs are compiled to AArch64 objects, and a program linked from them runs under QEMU. Its
// results have the reference evaluator's bits, as on x86.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/lower/build.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/op_table.h"
#include "support/random/random_graph.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/linalg/expand_linalg.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::test {
namespace {

namespace fs = std::filesystem;

/// Calls each entry on buffers that it reads from standard input (their number and lengths, then the bytes of those
/// that are read), and writes the bytes of its outputs to standard output.
constexpr const char* kRunner = R"(
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static int32_t host_call(void* c, int32_t i, void* const* p) { return 1; }
static void parallel_for(void* c, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t), void* e) {
  body(e, 0, count);
}
static void* scratch(void* c, int64_t bytes) {
  static void* memory;
  free(memory);
  return memory = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
}
static int32_t num_threads(void* c) { return 1; }
static struct {
  uint32_t version;
  int32_t (*host_call)(void*, int32_t, void* const*);
  void (*parallel_for)(void*, int64_t, int64_t, void (*)(void*, int64_t, int64_t), void*);
  void* (*scratch)(void*, int64_t);
  int32_t (*num_threads)(void*);
} table = {2, host_call, parallel_for, scratch, num_threads};
static uint64_t number(void) {
  uint64_t n;
  if (fread(&n, 8, 1, stdin) != 1) exit(2);
  return n;
}
int run(int32_t (*entry)(void*, void* const*)) {
  enum { READ, WRITTEN, WORKSPACE };
  const uint64_t count = number();
  void* pointers[1000];
  uint64_t kinds[1000], bytes[1000];
  for (uint64_t i = 0; i < count; ++i) {
    kinds[i] = number();
    bytes[i] = number();
    pointers[i] = aligned_alloc(64, (bytes[i] + 64) / 64 * 64);
    if (kinds[i] == READ && bytes[i] > 0 && fread(pointers[i], bytes[i], 1, stdin) != 1) return 3;
  }
  void* context = &table;
  const int32_t status = entry(&context, pointers);
  for (uint64_t i = 0; i < count; ++i) {
    if (kinds[i] == WRITTEN) fwrite(pointers[i], bytes[i], 1, stdout);
    free(pointers[i]);
  }
  return status;
}
)";

bool runs(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

class AArch64 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!runs("aarch64-linux-gnu-gcc --version")) GTEST_SKIP() << "there is no aarch64-linux-gnu-gcc to link with";
    if (!runs("qemu-aarch64 --version")) GTEST_SKIP() << "there is no qemu-aarch64 to run it";
    folder_ = fs::temp_directory_path() / ("calque_aarch64_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  fs::path path(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
};

/// The runner's input for the buffers of one call.
class Buffers {
 public:
  void read(const AnyArray& a) {
    head(0, a.bytes());
    bytes_.insert(bytes_.end(), static_cast<const char*>(a.data()), static_cast<const char*>(a.data()) + a.bytes());
  }
  void written(const AnyArray& a) { head(1, a.bytes()); }
  void workspace(size_t bytes) { head(2, bytes); }
  void write(std::ostream& out) const {
    out.write(reinterpret_cast<const char*>(&count_), sizeof count_);
    out.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }

 private:
  void head(uint64_t kind, uint64_t bytes) {
    ++count_;
    for (const uint64_t n : {kind, bytes}) {
      const auto* first = reinterpret_cast<const char*>(&n);
      bytes_.insert(bytes_.end(), first, first + sizeof n);
    }
  }
  uint64_t count_ = 0;
  std::vector<char> bytes_;
};

/// A graph, its inputs, and what it must give.
struct Case {
  Graph graph;
  std::vector<AnyArray> inputs, wanted;
};

/// Compiles all for one CPU, links and runs them, and compares bits.
void check(const std::vector<Case>& cases, const char* cpu, const fs::path& folder) {
  const auto path = [&](const std::string& name) { return folder / name; };
  std::string objects, entries, calls;
  std::ofstream data(path("in"), std::ios::binary);
  for (size_t k = 0; k < cases.size(); ++k) {
    const kernel::Program program = test::stages::build_program(transform::simplify(cases[k].graph));
    codegen::CodegenOptions to;
    to.strict = true;
    to.target = {cpu, "aarch64-linux-gnu"};
    to.entry_name = "entry" + std::to_string(k);
    const std::string object = path(to.entry_name + ".o");
    std::ofstream(object, std::ios::binary) << test::stages::object(program, to);
    objects += " " + object;
    entries += "int32_t " + to.entry_name + "(void*, void* const*);\n";
    calls += "  if (run(" + to.entry_name + ") != 0) return 1;\n";
    Buffers buffers;
    for (const AnyArray& a : cases[k].inputs) buffers.read(a);
    for (const AnyArray& a : cases[k].wanted) buffers.written(a);
    for (const AnyArray& a : program.constants) buffers.read(a);
    buffers.workspace(static_cast<size_t>(program.workspace_bytes) + 1);
    buffers.write(data);
  }
  data.close();
  std::ofstream(path("run.c")) << kRunner << entries << "int main(void) {\n" << calls << "  return 0;\n}\n";
  const std::string program = path("run");
  ASSERT_EQ(
      std::system(("aarch64-linux-gnu-gcc -static -o " + program + " " + program + ".c" + objects + " -lm").c_str()),
      0);
  ASSERT_EQ(
      std::system(("qemu-aarch64 " + program + " < " + path("in").string() + " > " + path("out").string()).c_str()), 0);
  std::ifstream results(path("out"), std::ios::binary);
  const std::string got{std::istreambuf_iterator<char>(results), {}};
  size_t at = 0;
  for (const Case& c : cases) {
    for (const AnyArray& want : c.wanted) {
      ASSERT_LE(at + want.bytes(), got.size());
      AnyArray have = AnyArray::uninitialized(want.type());
      std::copy_n(got.data() + at, want.bytes(), static_cast<char*>(have.mutable_data()));
      at += want.bytes();
      ASSERT_EQ(difference(have, want), "") << print(c.graph);
    }
  }
  EXPECT_EQ(at, got.size());
}

TEST_P(AArch64, RandomGraphsHaveTheReferencesBits) {
  const uint64_t kFirst = 7000, kGraphs = kAddressSanitizer ? 10 : 60;
  RandomGraphOptions options;
  options.reassociated = false;
  options.exclude = {"bitcast", "copysign", "signbit"};  // the sign of a NaN is unspecified
  options.max_elements = 150;
  std::vector<Case> cases;
  for (uint64_t k = 0; k < kGraphs; ++k) {
    Graph g = random_graph(kFirst + k, options);
    std::vector<AnyArray> inputs = random_inputs(g, k);
    std::vector<AnyArray> wanted = reference::evaluate(transform::inline_calls(g), inputs, kStrictReference);
    cases.push_back({std::move(g), std::move(inputs), std::move(wanted)});
  }
  check(cases, GetParam(), folder_);
}

/// Their expansions are not rounded as the reference is: the bits are those of this machine's code.
TEST_P(AArch64, SmallMatricesHaveTheBitsOfOtherProcessors) {
  const char* const kBodies[] = {"%2 = cholesky %0\n  return %2", "%2, %3 = lu %0\n  return %2, %3",
                                 "%2, %3 = qr %0\n  return %2, %3",
                                 "%2, %3 = lu %0\n  %4 = lu_solve[transpose=true] %0 %2 %3 %1\n  return %4",
                                 "%2 = det %0\n  %3, %4 = slogdet %0\n  return %2, %3, %4"};
  std::vector<Case> cases;
  Rng rng(3);
  for (const std::string type : {"f32", "f64"}) {
    for (const int64_t n : {1, 3, 5}) {
      for (const char* body : kBodies) {
        const std::string rows = std::to_string(n);
        const Graph g =
            transform::expand_linalg(parse("calque 1\ngraph f(%0: " + type + "[9," + rows + "," + rows +
                                           "], %1: " + type + "[9," + rows + ",2]) {\n  " + body + "\n}\n"));
        std::vector<AnyArray> inputs;
        for (const Type& t : g.input_types()) inputs.push_back(sample_array(t, rng, Domain::moderate));
        codegen::CodegenOptions strict;
        strict.strict = true;
        std::vector<AnyArray> wanted = run_native(transform::simplify(g), inputs, strict);
        cases.push_back({g, std::move(inputs), std::move(wanted)});
      }
    }
  }
  check(cases, GetParam(), folder_);
}

INSTANTIATE_TEST_SUITE_P(Cpus, AArch64, testing::Values("generic", "cortex-a72", "neoverse-n1", "apple-m1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace calque::test
