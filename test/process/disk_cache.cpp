// A second process finds the code of the first on disk: it computes the same bits and compiles nothing. Entries that
// are damaged are compiled again.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "calque/calque.h"

#include "compile/executable.h"

namespace cq = calque;
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "disk_cache: %s\n", what.c_str());
  std::exit(1);
}

void print(const cq::AnyArray& a) {
  const auto* bytes = static_cast<const unsigned char*>(a.data());
  for (size_t i = 0; i < a.bytes(); ++i) std::printf("%02x", bytes[i]);
  std::printf("\n");
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
  print(cq::jit([](auto v) {
          auto y = v, z = v;
          for (int i = 0; i < 3500; ++i) {
            y = y * 0.625f + z;
            z = z - y * 0.25f;
          }
          return y + z;
        })(x)
            .any());
  const auto f = cq::compile<double(double)>([](auto v) { return exp(v) * 0.5; });
  std::printf("%a\n", f(1.25));
  cq::wait_for_compilation();
  std::printf("%llu compilations\n", static_cast<unsigned long long>(cq::runtime::num_compilations()));
  return 0;
}

std::string run_self(const fs::path& folder) {
  std::string self(4096, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", self.data(), self.size());
  if (n <= 0) fail("no path of the program");
  self.resize(static_cast<size_t>(n));
  FILE* const pipe = ::popen(
      ("CALQUE_SANITIZE_CODE=0 CALQUE_CACHE_DIR='" + folder.string() + "' '" + self + "' compute").c_str(), "r");
  if (pipe == nullptr) fail("no process");
  std::string text;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  if (::pclose(pipe) != 0) fail("the process failed");
  return text;
}

/// Splits off the last line.
std::pair<std::string, std::string> split(const std::string& text) {
  const size_t end = text.rfind('\n', text.size() - 2) + 1;
  return {text.substr(0, end), text.substr(end)};
}

void check(const fs::path& folder) {
  const auto [wanted, compilations] = split(run_self("off"));
  const auto [first, first_compilations] = split(run_self(folder));
  if (first != wanted) fail("results with an empty cache differ");
  if (first_compilations != compilations) fail("an empty cache has entries: " + first_compilations);
  const auto [second, second_compilations] = split(run_self(folder));
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
  const auto [third, third_compilations] = split(run_self(folder));
  if (third != wanted) fail("results with damaged entries differ");
  if (third_compilations != compilations) fail("damaged entries are used: " + third_compilations);
  const auto [fourth, fourth_compilations] = split(run_self(folder));
  if (fourth != wanted || fourth_compilations != "0 compilations\n") fail("damaged entries are not replaced");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "compute") == 0) return compute();
  std::string folder = fs::temp_directory_path() / "calque-test-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) fail("no temporary folder");
  check(fs::path(folder) / "cache");
  fs::remove_all(folder);
  return 0;
}
