// Case 20: tracing and compiling a straight-line program of many operations, and programs of many arrays, whose compile
// time should be linear in their size. Every call has a new shape, since a known graph is not compiled again. The
// rivals are compilers of other programs and run outside this process.
#include <cstdlib>
#include <iostream>
#include <memory>

#include <calque/calque.h>

#include "common/harness.h"
#include "families.h"
#include "mathematics.h"
#include "models.h"

namespace cq = calque;

namespace {

/// `count` operations, none of which can be folded, shared or eliminated.
template <class X>
X straight_line(const X& x, int64_t count) {
  X y = x;
  for (int64_t i = 0; i < count; ++i) {
    switch (i % 4) {
      case 0:
        y = y * x;
        break;
      case 1:
        y = y + 0.75f;
        break;
      case 2:
        y = y - x;
        break;
      default:
        y = y * 0.625f;
        break;
    }
  }
  return y;
}

void declare() {
  for (int64_t count : bench::sizes({8, 50, 1000, 10000, 100000})) {
    auto f = cq::jit([count](auto x) { return straight_line(x, count); });
    cq::Array<float> x = {0.5f, -0.25f, 1.5f};
    std::vector<float> expected;
    for (float v : x.host()) expected.push_back(straight_line(v, count));
    bench::check("compile: calque", f(x).host(), expected, 1e-4, 1e-5);
    int64_t equations = int64_t(f.trace(x).equations().size());
    if (equations < count) {
      std::cerr << "compile: the trace of " << count << " operations has " << equations << " equations\n";
      std::exit(EXIT_FAILURE);
    }

    std::string size = bench::size_name(count);
    bench::add({"trace", size, {}}, "calque", [=] {
      auto graph = f.trace(cq::spec<float>({16}));
      benchmark::DoNotOptimize(graph);
    });
    auto length = std::make_shared<int64_t>(1000);
    bench::add({"compile", size, {}}, "calque", [=] {
      auto compiled = f.lower(cq::spec<float>({++*length})).compile();
      benchmark::DoNotOptimize(compiled);
    });
  }
  declare_families();
  declare_mathematics();
  declare_models();
}

}  // namespace

CALQUE_BENCH_MAIN(declare)
