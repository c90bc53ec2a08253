// A second process finds the code of the first on disk: it computes the same bits and compiles nothing. Entries that
// are damaged are compiled again.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "calque/calque.h"

#include "compile/executable.h"
#include "process/self.h"

namespace cq = calque;
namespace fs = std::filesystem;

namespace {

using calque::test::fail;
using calque::test::run_self;
using calque::test::split_last_line;

void print(const cq::AnyArray& a) {
  const auto* bytes = static_cast<const unsigned char*>(a.data());
  for (size_t i = 0; i < a.bytes(); ++i) std::printf("%02x", bytes[i]);
  std::printf("\n");
}

/// A long chain over a matrix.
constexpr auto long_chain = [](auto v) {
  auto y = v, z = v;
  for (int i = 0; i < 3500; ++i) {
    y = y * 0.625f + z;
    z = z - y * 0.25f;
  }
  return y + z;
};

int print_compilations() {
  std::printf("%llu compilations\n", static_cast<unsigned long long>(cq::runtime::num_compilations()));
  return 0;
}

/// A process that ends before the background thread has optimized its code.
int compute_and_end() {
  print(cq::jit(long_chain)(cq::Array<float>::full({37, 11}, 0.75f)).any());
  return print_compilations();
}

/// What a process computes: results are printed as bytes, last the number of compilations.
int compute() {
  const auto x = cq::Array<float>::full({37, 11}, 0.75f) * cq::Array<float>::ones({37, 11});
  const auto many = cq::Array<double>::full({100'003}, 0.3);
  print(cq::jit([](auto v) { return exp(v) / sum(exp(v), {1}, cq::keepdims); })(x).any());
  print(cq::jit([](auto a) { return matmul(a, transpose(a)); })(x).any());
  print(cq::jit([](auto v) { return sum(sin(v) * lgamma(v)); })(many).any());
  print(cq::jit(cq::grad([](auto v) { return sum(tanh(v) * v); }), {.fast_math = true})(many).any());
  print(cq::jit([](auto v) { return v + 1.0f; }, {.donate = {0}})(x * 2.0f).any());
  print(cq::jit([](auto v) { return cq::fori_loop(0, 9, [](auto, auto s) { return s * 0.5f + 1.0f; }, v); })(x).any());
  // Large: stored by the background thread.
  print(cq::jit(long_chain)(x).any());
  const auto f = cq::compile<double(double)>([](auto v) { return exp(v) * 0.5; });
  std::printf("%a\n", f(1.25));
  cq::wait_for_compilation();
  return print_compilations();
}

/// The printed results, and the line with the number of compilations.
std::pair<std::string, std::string> run(const fs::path& folder, const std::string& what = "compute",
                                        const std::string& environment = "") {
  return split_last_line(
      run_self(environment + " CALQUE_SANITIZE_CODE=0 CALQUE_CACHE_DIR='" + folder.string() + "'", what));
}

/// Quickly made code is stored too: a process that ends at once profits the next time, whatever its tier then.
void check_quick(const fs::path& folder) {
  const auto [first, compilations] = run(folder, "compute_and_end", "CALQUE_NUM_THREADS=2");
  if (compilations != "1 compilations\n") fail("an empty cache has entries: " + compilations);
  const auto [second, again] = run(folder, "compute_and_end", "CALQUE_NUM_THREADS=2");
  if (second != first) fail("results of stored code differ");
  if (again != "0 compilations\n") fail("code is not stored before the process ends: " + again);
  for (const char* environment : {"CALQUE_TIER=best", "CALQUE_TIER=quick", "CALQUE_NUM_THREADS=1"})
    if (run(folder, "compute_and_end", environment).first != first) fail(std::string("results differ: ") + environment);
}

void check(const fs::path& folder) {
  const auto [wanted, compilations] = run("off");
  const auto [first, first_compilations] = run(folder);
  if (first != wanted) fail("results with an empty cache differ");
  if (first_compilations != compilations) fail("an empty cache has entries: " + first_compilations);
  const auto [second, second_compilations] = run(folder);
  if (second != wanted) fail("results of stored code differ");
  if (second_compilations != "0 compilations\n") fail("stored code is not found: " + second_compilations);
  // Damage every entry in another way.
  int way = 0;
  for (const auto& e : fs::directory_iterator(folder)) {
    switch (way++ % 4) {
      case 0:
        fs::resize_file(e.path(), e.file_size() / 2);
        break;
      case 1: {
        std::fstream file(e.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(e.file_size() / 2));
        const int old = file.get();
        file.seekp(static_cast<std::streamoff>(e.file_size() / 2));
        file.put(static_cast<char>(old ^ 16));
        break;
      }
      case 2:
        fs::remove(e.path());
        fs::create_directory(e.path());
        break;
      default:
        fs::remove(e.path());
        fs::create_symlink("/etc/passwd", e.path());
    }
  }
  if (way < 8) fail("few entries: " + std::to_string(way));
  const auto [third, third_compilations] = run(folder);
  if (third != wanted) fail("results with damaged entries differ");
  if (third_compilations != compilations) fail("damaged entries are used: " + third_compilations);
  const auto [fourth, fourth_compilations] = run(folder);
  if (fourth != wanted || fourth_compilations != "0 compilations\n") fail("damaged entries are not replaced");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "compute") == 0) return compute();
  if (argc > 1 && std::strcmp(argv[1], "compute_and_end") == 0) return compute_and_end();
  const calque::test::TemporaryFolder folder;
  check(folder / "cache");
  check_quick(folder / "quick");
  return 0;
}
