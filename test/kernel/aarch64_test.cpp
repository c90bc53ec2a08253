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
#include "support/random/random_graph.h"
#include "support/stages.h"
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

TEST_P(AArch64, RandomGraphsHaveTheReferencesBits) {
  constexpr uint64_t kFirst = 7000, kGraphs = 60;
  RandomGraphOptions options;
  options.reassociated = false;
  options.exclude = {"bitcast", "copysign", "signbit"};  // the sign of a NaN is unspecified
  options.max_elements = 150;
  std::string objects, entries, calls;
  std::ofstream data(path("in"), std::ios::binary);
  std::vector<std::vector<AnyArray>> wanted;
  for (uint64_t k = 0; k < kGraphs; ++k) {
    const Graph g = random_graph(kFirst + k, options);
    const std::vector<AnyArray> inputs = random_inputs(g, k);
    wanted.push_back(reference::evaluate(transform::inline_calls(g), inputs, kStrictReference));
    const kernel::Program program = test::stages::build_program(transform::simplify(g));
    codegen::CodegenOptions to;
    to.strict = true;
    to.target = {GetParam(), "aarch64-linux-gnu"};
    to.entry_name = "entry" + std::to_string(k);
    const std::string object = path(to.entry_name + ".o");
    std::ofstream(object, std::ios::binary) << test::stages::object(program, to);
    objects += " " + object;
    entries += "int32_t " + to.entry_name + "(void*, void* const*);\n";
    calls += "  if (run(" + to.entry_name + ") != 0) return 1;\n";
    Buffers buffers;
    for (const AnyArray& a : inputs) buffers.read(a);
    for (const AnyArray& a : wanted.back()) buffers.written(a);
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
  for (uint64_t k = 0; k < kGraphs; ++k) {
    for (const AnyArray& want : wanted[k]) {
      ASSERT_LE(at + want.bytes(), got.size());
      AnyArray have = AnyArray::uninitialized(want.type());
      std::copy_n(got.data() + at, want.bytes(), static_cast<char*>(have.mutable_data()));
      at += want.bytes();
      ASSERT_EQ(difference(have, want), "") << "seed " << kFirst + k << "\n"
                                            << print(random_graph(kFirst + k, options));
    }
  }
  EXPECT_EQ(at, got.size());
}

INSTANTIATE_TEST_SUITE_P(Cpus, AArch64, testing::Values("generic", "cortex-a72", "neoverse-n1", "apple-m1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace calque::test
