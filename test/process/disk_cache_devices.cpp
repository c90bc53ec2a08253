// A second process finds the code of the first for a device: for the simulator its object, for a GPU (a stand-in for
// CUDA's driver) PTX and the cubin that the driver made of it. It computes the same bits and compiles nothing. What the
// driver refuses is compiled again.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "calque/calque.h"

#include "compile/executable.h"
#include "gpu/stand_in.h"
#include "process/self.h"

namespace cq = calque;
namespace fs = std::filesystem;

namespace {

using calque::test::fail;
using calque::test::StandIn;
using F = cq::Array<float>;

template <class T>
void print(const cq::Array<T>& a) {
  const cq::AnyArray here = a.to(cq::cpu()).any();
  const auto* bytes = static_cast<const unsigned char*>(here.data());
  for (size_t i = 0; i < here.bytes(); ++i) std::printf("%02x", bytes[i]);
  std::printf("\n");
}

/// Prints results as bytes.
void compute(cq::Device device) {
  const F x = F::linspace(-1.5f, 2, 37 * 11).reshape({37, 11}).to(device);
  const F square = F::linspace(0.25f, 1, 144).reshape({12, 12}).to(device);
  const cq::Array<double> table = cq::Array<double>::linspace(-1, 1, 2000), few = {1, 2, 4};
  print(cq::jit([](auto v) { return exp(v) / sum(exp(v), {1}, cq::keepdims); })(x));
  print(cq::jit([](auto a) { return matmul(a, transpose(a)) + 1.0f; })(square));
  print(cq::jit([](auto v) { return cumsum(v, 0); })(x));
  print(cq::jit([](auto v) { return v + 1.0f; }, {.donate = {0}})(x * 2.0f));
  print(cq::jit(cq::grad([](auto v) { return sum(tanh(v) * v); }), {.fast_math = true})(x));
  // Steps of the host: loops, branches, and constants of the program.
  print(cq::jit([](auto v) {
    return cq::fori_loop(0, 9, [](auto i, auto s) { return flip(s) / (1.0f + sum(abs(s))) + cast<float>(i); }, v);
  })(x));
  print(cq::jit([](auto v) {
    const auto big = cq::while_loop([](auto s) { return sum(abs(s)) < 1000.0f; }, [](auto s) { return s * 2.0f; }, v);
    return cq::cond(sum(big) > 0.0f, [](auto s) { return s - 1.0f; }, [](auto s) { return s * 0.5f; }, big);
  })(x));
  print(
      cq::jit([table, few](auto v) { return sum(v * table) + few * few; })(cq::Array<double>::ones({2000}).to(device)));
}

/// How the results came about.
struct Counts {
  int compilations = 0, cubins_made = 0, cubins_loaded = 0;
};

int compute(const std::string& device, bool refuse) {
  Counts counts;
  if (device == "gpu") {
    StandIn& driver = StandIn::get();  // before the first use of a GPU
    if (refuse) driver.fail("cuModuleLoadDataEx", 209);
    compute(cq::gpu());
    for (const std::string& problem : driver.problems()) fail(problem);
    if (driver.live("link") != 0) fail("a link is not destroyed");
    counts = {0, driver.calls("cuLinkComplete"), driver.calls("cubin")};
  } else {
    compute(cq::gpu_sim());
  }
  counts.compilations = static_cast<int>(cq::runtime::num_compilations());
  std::printf("%d %d %d\n", counts.compilations, counts.cubins_made, counts.cubins_loaded);
  return 0;
}

/// The results and the counts of a process.
std::pair<std::string, Counts> run(const fs::path& folder, const std::string& arguments) {
  const auto [results, last] = calque::test::split_last_line(calque::test::run_self(
      "CALQUE_SANITIZE_CODE=0 CALQUE_CACHE_DIR='" + folder.string() + "'", "compute " + arguments));
  Counts counts;
  if (std::sscanf(last.c_str(), "%d %d %d", &counts.compilations, &counts.cubins_made, &counts.cubins_loaded) != 3)
    fail("no counts: " + last);
  return {results, counts};
}

void damage(const fs::path& folder) {
  for (const auto& e : fs::directory_iterator(folder)) {
    std::fstream file(e.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(e.file_size() / 2));
    const int old = file.get();
    file.seekp(static_cast<std::streamoff>(e.file_size() / 2));
    file.put(static_cast<char>(old ^ 4));
  }
}

void check(const fs::path& folder, const std::string& device) {
  const auto [wanted, uncached] = run("off", device);
  const bool has_cubins = device == "gpu";
  const auto expect = [&](const std::string& what, const std::string& arguments, int compilations) {
    const auto [results, counts] = run(folder, arguments);
    if (results != wanted) fail(device + ", " + what + ": the results differ");
    if (counts.compilations != compilations)
      fail(device + ", " + what + ": " + std::to_string(counts.compilations) + " compilations in place of " +
           std::to_string(compilations));
    if (has_cubins && (counts.cubins_loaded == 0 || (counts.cubins_made == 0) != (compilations == 0)))
      fail(device + ", " + what + ": " + std::to_string(counts.cubins_made) + " cubins made, " +
           std::to_string(counts.cubins_loaded) + " loaded");
  };
  if (uncached.cubins_made != 0) fail("a cubin is made although it is not stored");
  expect("an empty folder", device, uncached.compilations);
  expect("the code of the first process", device, 0);
  damage(folder);
  expect("damaged entries", device, uncached.compilations);
  expect("entries that replaced them", device, 0);
  if (!has_cubins) return;
  expect("a cubin that the driver refuses", "gpu refuse", 1);
  expect("the entry that replaced it", device, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "compute") == 0) return compute(argv[2], argc > 3);
  const calque::test::TemporaryFolder folder;
  for (const std::string device : {"gpu_sim", "gpu"}) check(folder / device, device);
  return 0;
}
