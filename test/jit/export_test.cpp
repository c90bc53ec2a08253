// Ahead-of-time export: the object and its header are compiled by the system's C compiler and run without the library.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "calque/calque.h"

#include "codegen/codegen.h"

namespace calque {
namespace {

using F = Array<float>;
namespace fs = std::filesystem;

class Export : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("calque_export_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// The exit status of the program linked from `main` and f.o.
  int run(const std::string& main) const {
    std::ofstream(path("main.c")) << main;
    const std::string build = "cc -o " + path("main") + " " + path("main.c") + " " + path("f.o") + " -lm";
    if (std::system(build.c_str()) != 0) return -1;
    return std::system(path("main").c_str());
  }
  fs::path folder_;
};

TEST_F(Export, ObjectRunsWithoutTheLibrary) {
  const F w = F::full({40}, 0.5f);
  const auto f = jit([w](auto x, auto k) { return std::pair{sum(exp(x * w) * k), x + w}; }, {.name = "f"});
  f.lower(spec<float>({40}), spec<float>({})).export_object(path("f.o"), {.header = path("f.h"), .symbol = "my_f"});
  EXPECT_EQ(run("#include <math.h>\n#include <stdlib.h>\n#include \"f.h\"\n"
                "int main(void) {\n"
                "  float x[40], k = 2, y, z[40];\n"
                "  for (int i = 0; i < 40; ++i) x[i] = (float)i / 40;\n"
                "  void* w = my_f_workspace_bytes ? aligned_alloc(64, my_f_workspace_bytes) : 0;\n"
                "  my_f(x, &k, &y, z, w);\n"
                "  double want = 0;\n"
                "  for (int i = 0; i < 40; ++i) want += 2 * exp(x[i] * 0.5);\n"
                "  return fabs(y - want) < 1e-3 && z[39] == x[39] + 0.5f ? 0 : 1;\n"
                "}\n"),
            0);
}

TEST_F(Export, ComplexNumbersArePairs) {
  using Z = std::complex<double>;
  const Array<Z> w = {Z(0, 1), Z(2, 0), Z(1, 1), Z(-1, 0.5), Z(0, -3), Z(1, 0)};
  const auto f = jit([w](auto z) { return std::pair{z * w, abs(z)}; }, {.name = "f"});
  f.lower(spec<Z>({6})).export_object(path("f.o"), {.header = path("f.h")});
  EXPECT_EQ(run("#include <math.h>\n#include \"f.h\"\n"
                "int main(void) {\n"
                "  double z[12] = {1, 2, 3, 4, 3, -4, 0, 1, 1, 0, 5, 6}, y[12], size[6];\n"
                "  f(z, y, size, 0);\n"
                "  return y[0] == -2 && y[1] == 1 && y[2] == 6 && y[3] == 8 && y[8] == 0 && y[9] == -3 &&\n"
                "         fabs(size[1] - 5) < 1e-15 ? 0 : 1;\n"
                "}\n"),
            0);
}

TEST_F(Export, FunctionsOfMathematicsNeedNothingOfTheCaller) {
  const auto f = jit([](auto x) { return sin(x) + exp(x) * lgamma(x); }, {.name = "f"});
  f.lower(spec<double>({5})).export_object(path("f.o"), {.header = path("f.h")});
  EXPECT_LT(fs::file_size(path("f.h")), 4000u);
  // A second object with the same functions.
  jit([](auto x) { return sin(x) * 2.0; }, {.name = "g"})
      .lower(spec<double>({5}))
      .export_object(path("g.o"), {.header = path("g.h")});
  std::ofstream(path("main.c")) << "#include <math.h>\n#include \"f.h\"\n#include \"g.h\"\n"
                                   "int main(void) {\n"
                                   "  double x[5] = {0.5, 1.5, 2.5, 1e6, 7}, y[5], z[5];\n"
                                   "  f(x, y, 0);\n"
                                   "  g(x, z, 0);\n"
                                   "  for (int i = 0; i < 5; ++i) {\n"
                                   "    double want = sin(x[i]) + exp(x[i]) * lgamma(x[i]);\n"
                                   "    if (!(y[i] == want || fabs(y[i] - want) < 1e-12 * fabs(want))) return 1;\n"
                                   "    if (fabs(z[i] - 2 * sin(x[i])) > 1e-14) return 2;\n"
                                   "  }\n"
                                   "  return 0;\n"
                                   "}\n";
  ASSERT_EQ(
      std::system(
          ("cc -o " + path("main") + " " + path("main.c") + " " + path("f.o") + " " + path("g.o") + " -lm").c_str()),
      0);
  EXPECT_EQ(std::system(path("main").c_str()), 0);
}

TEST_F(Export, ObjectRunsLargeKernelsOnTheCallingThread) {
  const auto f = jit([](auto x) { return std::pair{sum(x), x + x}; }, {.name = "f"});
  const auto lowered = f.lower(spec<float>({3000000}));
  EXPECT_THAT(lowered.plan().str(), testing::HasSubstr("threads"));
  lowered.export_object(path("f.o"), {.header = path("f.h")});
  EXPECT_EQ(run("#include \"f.h\"\n"
                "static float x[3000000], z[3000000];\n"
                "int main(void) {\n"
                "  float y;\n"
                "  for (int i = 0; i < 3000000; ++i) x[i] = (float)(i % 3);\n"
                "  f(x, &y, z, f_workspace_bytes ? aligned_alloc(64, f_workspace_bytes) : 0);\n"
                "  return y == 3000000.0f && z[2999999] == 4.0f ? 0 : 1;\n"
                "}\n"),
            0);
}

TEST_F(Export, ObjectRunsCumulativeSumsAndProductsThatNeedARuntime) {
  const auto f = jit([](auto x, auto a) { return std::pair{cumsum(x, 0), matmul(a, a)}; }, {.name = "f"});
  f.lower(spec<float>({500000}), spec<float>({400, 400})).export_object(path("f.o"), {.header = path("f.h")});
  EXPECT_EQ(run("#include \"f.h\"\n"
                "static float x[500000], y[500000], a[160000], b[160000];\n"
                "int main(void) {\n"
                "  for (int i = 0; i < 500000; ++i) x[i] = (float)(i % 3);\n"
                "  for (int i = 0; i < 160000; ++i) a[i] = (float)(i % 2);\n"
                "  f(x, a, y, b, f_workspace_bytes ? aligned_alloc(64, f_workspace_bytes) : 0);\n"
                "  return y[499999] == 499999.0f && b[159999] == 200.0f && b[159998] == 0.0f ? 0 : 1;\n"
                "}\n"),
            0);
}

TEST_F(Export, HeaderOfAnotherRuntimeTableDoesNotLink) {
  jit([](auto x) { return x + x; }, {.name = "f"})
      .lower(spec<float>({4}))
      .export_object(path("f.o"), {.header = path("f.h")});
  const std::string main =
      "#include \"f.h\"\nint main(void) { float x[4] = {1, 2, 3, 4}, y[4]; return f(x, y, 0) || y[3] != 8; }\n";
  EXPECT_EQ(run(main), 0);
  std::ifstream in(path("f.h"));
  std::string header(std::istreambuf_iterator<char>(in), {});
  const std::string entry = "f_entry_" + std::to_string(codegen::RuntimeTable{}.version);
  size_t found = 0;
  for (size_t at = header.find(entry); at != header.npos; at = header.find(entry, at + 1), ++found)
    header.insert(at + entry.size(), "0");
  EXPECT_EQ(found, 2u);
  std::ofstream(path("f.h")) << header;
  testing::internal::CaptureStderr();
  const int status = run(main);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, -1);
}

TEST_F(Export, ObjectForAnotherTargetIsWritten) {
  jit([](auto x) { return x * 2.0f; })
      .lower(spec<float>({4}))
      .export_object(path("f.o"), {.triple = "aarch64-linux-gnu", .cpu = "cortex-a72"});
  std::ifstream in(path("f.o"), std::ios::binary);
  std::string head(20, '\0');
  in.read(head.data(), 20);
  EXPECT_EQ(head.substr(1, 3), "ELF");
  EXPECT_EQ(static_cast<unsigned char>(head[18]), 183);  // EM_AARCH64
}

TEST_F(Export, CallbacksAreRefused) {
  const auto f = jit(
      [](auto x) {
        debug_print("{}", x);
        return x;
      },
      {.name = "f"});
  EXPECT_THAT([&] { f.lower(F{1}).export_object(path("f.o")); },
              testing::ThrowsMessage<CompileError>(
                  testing::HasSubstr("export_object: f calls back into C++ (host_call, debug_print)")));
}

TEST_F(Export, SymbolMustBeAName) {
  const auto lowered = jit([](auto x) { return x * 2.0f; }, {.name = "double"}).lower(spec<float>({4}));
  for (const char* symbol : {"my-f", "2f", "a b", "double", "namespace", "f()"}) {
    EXPECT_THAT([&] { lowered.export_object(path("f.o"), {.header = path("f.h"), .symbol = symbol}); },
                testing::ThrowsMessage<CompileError>(
                    testing::HasSubstr("export_object: the symbol \"" + std::string(symbol) + "\" is no name")));
  }
  EXPECT_FALSE(fs::exists(path("f.h")));
  lowered.export_object(path("f.o"), {.header = path("f.h")});
  EXPECT_EQ(run("#include \"f.h\"\n"
                "int main(void) {\n"
                "  float x[4] = {1, 2, 3, 4}, y[4];\n"
                "  calque_double(x, y, 0);\n"
                "  return y[3] == 8 ? 0 : 1;\n"
                "}\n"),
            0);
}

TEST_F(Export, FileThatCannotBeWrittenIsNamed) {
  const auto f = jit([](auto x) { return x; });
  EXPECT_THAT([&] { f.lower(F{1}).export_object(path("no/f.o")); },
              testing::ThrowsMessage<CacheError>(testing::HasSubstr("export_object: cannot write ")));
}

}  // namespace
}  // namespace calque
