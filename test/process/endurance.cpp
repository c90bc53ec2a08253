// Many calls of many functions in one process: the memory of the process and the folder of code level off.
//
//   process_endurance [--graphs N] [--calls N]      20000 and 1000000 for the full run
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "process/graphs.h"
#include "process/self.h"
#include "support/same_arrays.h"
#include "support/sanitizers.h"

namespace cq = calque;
namespace fs = std::filesystem;

namespace {

using calque::test::Example;
using calque::test::fail;
using D = cq::Array<double>;

const bool kSlow = calque::test::kAddressSanitizer || calque::test::kThreadSanitizer;
constexpr uint64_t kCodeBytes = 4'000'000, kDiskBytes = 1'000'000;

uint64_t resident_bytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t disk_bytes(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) bytes += file.file_size();
  return bytes;
}

/// A new lambda with its own graph, called with several shapes.
void call_function(uint64_t number, uint64_t calls) {
  const double a = 1.0 + static_cast<double>(number) / 1024;
  const auto f = cq::jit([a](auto x) { return x * a + exp(-x) / a; });
  const int64_t extent = 1 + static_cast<int64_t>(number % 5);
  const D one = D::full({extent}, 0.5), two = D::full({extent, 2}, 0.5);
  const double wanted = f(one)(0);
  for (uint64_t i = 1; i < calls; ++i) {
    if ((i % 64 == 63 ? f(two)(extent - 1, 1) : f(one)(extent - 1)) != wanted)
      fail("function " + std::to_string(number) + " computes something else in call " + std::to_string(i));
  }
}

void call_random_graph(uint64_t number, uint64_t calls) {
  calque::test::RandomGraphOptions options;
  options.max_equations = 8;
  options.max_elements = 60;
  options.max_depth = 1;
  const Example e(8'000'000 + number, options);
  const auto executable = e.executable({});
  const auto wanted = e.run(*executable);
  for (uint64_t i = 1; i < calls; ++i) {
    if (const std::string d = calque::test::difference(e.run(*executable), wanted); !d.empty())
      fail("graph " + std::to_string(number) + ", call " + std::to_string(i) + ": " + d);
  }
}

/// Memory may not grow from the middle of the run on, apart from what an allocator may do.
void check(const std::vector<uint64_t>& resident, uint64_t graphs) {
  const size_t middle = resident.size() / 2;
  const uint64_t before = *std::max_element(resident.begin(), resident.begin() + static_cast<ptrdiff_t>(middle) + 1);
  const uint64_t after = *std::max_element(resident.begin() + static_cast<ptrdiff_t>(middle) + 1, resident.end());
  constexpr uint64_t kSlack = 6'000'000, kPerGraph = 500;
  if (!kSlow && after > before + kSlack + kPerGraph * graphs / 2)
    fail("memory grows from " + std::to_string(before) + " to " + std::to_string(after) + " bytes");
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t graphs = calque::test::number_after("--graphs", argc, argv, kSlow ? 40 : 600);
  const uint64_t calls = calque::test::number_after("--calls", argc, argv, graphs * 50);
  const calque::test::TemporaryFolder folder;
  const fs::path cache = folder / "cache";
  ::setenv("CALQUE_CACHE_DIR", cache.c_str(), 1);
  ::setenv("CALQUE_CACHE_SIZE", std::to_string(kDiskBytes).c_str(), 1);
  ::setenv("CALQUE_CODE_MEMORY", std::to_string(kCodeBytes).c_str(), 1);
  ::setenv("CALQUE_SANITIZE_CODE", "0", 1);  // sanitized code is not stored
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  constexpr uint64_t kSamples = 20;
  std::vector<uint64_t> resident;
  uint64_t most_disk = 0;
  for (uint64_t number = 0; number < graphs; ++number) {
    if (number % 2 == 0)
      call_function(number, calls / graphs);
    else
      call_random_graph(number, calls / graphs);
    if ((number + 1) * kSamples / graphs == number * kSamples / graphs) continue;
    cq::wait_for_compilation();
    resident.push_back(resident_bytes());
    most_disk = std::max(most_disk, disk_bytes(cache));
    std::printf("%llu graphs: %.1f MB, %zu executables, %.2f MB on disk\n", static_cast<unsigned long long>(number + 1),
                static_cast<double>(resident.back()) / 1e6, cq::runtime::num_executables(),
                static_cast<double>(disk_bytes(cache)) / 1e6);
  }
  if (most_disk == 0) fail("nothing is stored");
  if (most_disk > kDiskBytes + kDiskBytes / 8) fail("the folder has " + std::to_string(most_disk) + " bytes");
  check(resident, graphs);
  return 0;
}
