#include "mathematics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"

namespace cq = calque;

namespace {

/// `count` steps, every third a sine.
template <class X>
X steps(const X& x, int64_t count) {
  X y = x;
  for (int64_t i = 0; i < count; ++i) {
    if (i % 3 == 2)
      y = sin(y);
    else
      y = y * 0.875f + x;
  }
  return y;
}

/// The residuals of NIST's Gauss1 at `count` points, term by term.
template <class X>
X cost(const X& b, int64_t count) {
  X c = b[0] * 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = 1 + 0.5 * static_cast<double>(i), y = 1 + static_cast<double>(i % 7);
    const X left = square((x - b[3]) / b[4]), right = square((x - b[6]) / b[7]);
    const X r = y - (b[0] * exp(-b[1] * x) + b[2] * exp(-left) + b[5] * exp(-right));
    c = c + 0.5 * r * r;
  }
  return c;
}

/// Times the trace, the compilation and the first run on a matrix or vector whose length grows by one with every call.
template <class F>
void add(const std::string& what, const std::string& size, const std::vector<int64_t>& shape, const F& f) {
  auto longer = std::make_shared<int64_t>(0);
  bench::add({"first call of " + what, size, {}}, "calque", [=] {
    std::vector<int64_t> grown = shape;
    grown[0] += ++*longer;
    const auto y = f(cq::Array<float>::full(cq::Shape(grown), 0.25f));
    benchmark::DoNotOptimize(y);
  });
}

}  // namespace

void declare_mathematics() {
  for (int64_t count : bench::sizes({8, 50, 1000, 10000}))
    add("steps", bench::size_name(count), {16}, cq::jit([count](auto x) { return steps(x, count); }));
  for (int64_t count : bench::sizes({500, 5000}))
    add("sums", bench::size_name(count), {1000}, cq::jit([count](auto x) {
          std::vector<decltype(x)> sums;
          for (int64_t i = 0; i < count; ++i) sums.push_back(sum(x * static_cast<float>(i + 1)));
          return sums;
        }));
  for (int64_t count : bench::sizes({50, 250}))
    add("Hessian of terms", bench::size_name(count), {8}, cq::jit([count](auto x) {
          return cq::hessian([count](auto b) { return cost(b, count); })(cast<double>(x.at(cq::range(0, 8))));
        }));
  add("exponentials", "300", {16}, cq::jit([](auto x) {
        auto y = x;
        for (int i = 0; i < 300; ++i) y = exp(y * -0.5f);
        return y;
      }));
  add("gradient of sines", "300", {16}, cq::jit(cq::grad([](auto x) {
        auto y = x;
        for (int i = 0; i < 300; ++i) y = sin(y);
        return sum(y);
      })));
  for (int64_t n : {16, 1000}) add("exp", bench::size_name(n), {n}, cq::jit([](auto x) { return exp(x); }));
  for (int64_t n : {16, 1000}) add("product", bench::size_name(n), {n}, cq::jit([](auto x) { return x * x; }));
  add("softmax", "64", {64, 64}, cq::jit([](auto x) { return cq::softmax(x, 1); }));
  add("matmul", "64", {64, 64}, cq::jit([](auto x) { return cq::matmul(x, cq::transpose(x)); }));
}
