// Case 20: first calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"

namespace first_call {

/// Times `call(k)` for k = 1, 2, ...: its program must be another one for each k.
template <class Call>
void add(const std::string& what, const std::string& size, Call call) {
  auto calls = std::make_shared<int64_t>(0);
  bench::add({"first call of " + what, size, {}}, "calque", [call = std::move(call), calls] {
    const auto y = call(++*calls);
    benchmark::DoNotOptimize(y);
  });
}

/// Times the trace, the compilation and the first run of `f` on an array whose first extent grows by one with every
/// call, and on `fixed` behind it.
template <class F, class... Fixed>
void add_growing(const std::string& what, const std::string& size, const std::vector<int64_t>& shape, const F& f,
                 const Fixed&... fixed) {
  add(what, size, [=](int64_t k) {
    std::vector<int64_t> grown = shape;
    grown[0] += k;
    return f(calque::Array<float>::full(calque::Shape(grown), 0.25f), fixed...);
  });
}

}  // namespace first_call
