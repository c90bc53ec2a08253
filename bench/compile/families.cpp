#include "families.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"

namespace cq = calque;

namespace {

using Arrays = std::vector<cq::Array<float>>;

/// Times compiling `f` on `count` arrays, whose length changes with every call.
template <class F>
void add(const std::string& family, const F& f) {
  for (int64_t count : bench::sizes({500, 5000})) {
    auto length = std::make_shared<int64_t>(2);
    bench::add({"compile " + family, bench::size_name(count), {}}, "calque", [=] {
      const Arrays v(static_cast<size_t>(count), cq::Array<float>::ones({++*length}));
      auto compiled = f.lower(v).compile();
      benchmark::DoNotOptimize(compiled);
    });
  }
}

}  // namespace

void declare_families() {
  add("leaves scaled", cq::jit([](const auto& v) {
        auto out = v;
        for (auto& x : out) x = x * 2.0f;
        return out;
      }));
  add("sum of arguments", cq::jit([](const auto& v) {
        auto s = v[0];
        for (size_t i = 1; i < v.size(); ++i) s = s + v[i];
        return s;
      }));
  add("outputs", cq::jit([](const auto& v) {
        auto out = v;
        for (size_t i = 0; i < out.size(); ++i) out[i] = v[0] * static_cast<float>(i + 2);
        return out;
      }));
  add("arrays concatenated", cq::jit([](const auto& v) { return cq::concatenate(v, 0); }));
  add("carries shifted", cq::jit([](const auto& v) {
        return cq::fori_loop(
            0, 10,
            [](auto, auto s) {
              auto next = s;
              for (size_t i = 0; i < s.size(); ++i) next[i] = s[(i + 1) % s.size()];
              return next;
            },
            v);
      }));
}
