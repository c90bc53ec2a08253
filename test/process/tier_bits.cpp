// Quickly made code, optimized code, and code that is optimized in the background compute the same bits (NaNs aside).
//
//   process_tier_bits [--graphs N]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "process/graphs.h"
#include "process/self.h"
#include "support/same_arrays.h"
#include "support/sanitizers.h"

namespace cq = calque;

namespace {

using calque::test::Example;
using calque::test::fail;
using Arrays = std::vector<cq::AnyArray>;

struct Tally {
  uint64_t graphs = 0, elements = 0, replaced = 0;
};

/// So long that it is optimized in the background. Each step needs those before it, and the values stay finite.
auto chain(uint64_t number) {
  return [number](auto x) {
    calque::test::Rng rng(number);
    auto y = x, z = x * 0.5;
    for (int i = 0; i < 3000; ++i) {
      const double factor = static_cast<double>(rng.below(128)) / 256;
      switch (rng.below(5)) {
        case 0:
          y = maximum(y * factor, z) - 0.125;
          break;
        case 1:
          z = minimum(z, y) * factor + 0.25;
          break;
        case 2:
          z = z - y * factor;
          break;
        default:
          y = y * factor + z * 0.5;
      }
    }
    return y + z;
  };
}

Example example(uint64_t number) {
  if (number % 32 == 31) return {cq::jit(chain(number)).trace(cq::spec<double>({5})), number};
  return {9'000'000 + number, {}};
}

void compare(uint64_t number, Tally& tally) {
  const Example e = example(number);
  cq::runtime::CompileOptions options;
  options.strict = number % 2 == 0;
  const auto expect = [&](const char* tier, const Arrays& got, const Arrays& want) {
    if (const std::string d = calque::test::difference(got, want); !d.empty())
      fail("graph " + std::to_string(number) + ", " + tier + ": " + d + "\n" + print(e.graph));
  };
  options.tier = cq::tier::best;
  const Arrays wanted = e.run(*e.executable(options));
  options.tier = cq::tier::quick;
  expect("quick", e.run(*e.executable(options)), wanted);
  options.tier = cq::tier::automatic;
  const auto replaced = e.executable(options);
  expect("automatic", e.run(*replaced), wanted);
  if (replaced->is_tiered) {
    cq::wait_for_compilation();
    if (!replaced->optimized_entry_runs()) fail("graph " + std::to_string(number) + " is not optimized");
    expect("automatic, optimized", e.run(*replaced), wanted);
    ++tally.replaced;
  }
  ++tally.graphs;
  for (const cq::AnyArray& array : wanted) tally.elements += static_cast<uint64_t>(array.size());
  cq::runtime::clear_executables();
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("CALQUE_CACHE_DIR", "off", 1);    // code from disk has no quick tier
  ::setenv("CALQUE_NUM_THREADS", "2", 1);    // with one thread nothing runs in the background
  ::setenv("CALQUE_SANITIZE_CODE", "0", 1);  // and no sanitized code
  const bool kSlow = calque::test::kAddressSanitizer || calque::test::kThreadSanitizer;
  const uint64_t graphs = calque::test::number_after("--graphs", argc, argv, kSlow ? 32 : 128);
  Tally tally;
  for (uint64_t number = 0; number < graphs; ++number) compare(number, tally);
  std::printf("%llu graphs, %llu elements, %llu graphs optimized in the background\n",
              static_cast<unsigned long long>(tally.graphs), static_cast<unsigned long long>(tally.elements),
              static_cast<unsigned long long>(tally.replaced));
  if (tally.replaced == 0) fail("no graph was optimized in the background");
  return 0;
}
