#include "mathematics.h"

#include <cstdint>
#include <string>
#include <vector>

#include <calque/calque.h>

#include "common/harness.h"
#include "first_call.h"

namespace cq = calque;
using first_call::add_growing;

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

}  // namespace

void declare_mathematics() {
  for (int64_t count : bench::sizes({8, 50, 1000, 10000, 100000}))
    add_growing("steps", bench::size_name(count), {16}, cq::jit([count](auto x) { return steps(x, count); }));
  for (int64_t count : bench::sizes({500, 5000}))
    add_growing("sums", bench::size_name(count), {1000}, cq::jit([count](auto x) {
                  std::vector<decltype(x)> sums;
                  for (int64_t i = 0; i < count; ++i) sums.push_back(sum(x * static_cast<float>(i + 1)));
                  return sums;
                }));
  for (int64_t count : bench::sizes({50, 250}))
    add_growing("Hessian of terms", bench::size_name(count), {8}, cq::jit([count](auto x) {
                  return cq::hessian([count](auto b) { return cost(b, count); })(cast<double>(x.at(cq::range(0, 8))));
                }));
  add_growing("exponentials", "300", {16}, cq::jit([](auto x) {
                auto y = x;
                for (int i = 0; i < 300; ++i) y = exp(y * -0.5f);
                return y;
              }));
  add_growing("gradient of sines", "300", {16}, cq::jit(cq::grad([](auto x) {
                auto y = x;
                for (int i = 0; i < 300; ++i) y = sin(y);
                return sum(y);
              })));
  for (int64_t n : {16, 1000}) add_growing("exp", bench::size_name(n), {n}, cq::jit([](auto x) { return exp(x); }));
  for (int64_t n : {16, 1000}) add_growing("product", bench::size_name(n), {n}, cq::jit([](auto x) { return x * x; }));
  add_growing("softmax", "64", {64, 64}, cq::jit([](auto x) { return cq::softmax(x, 1); }));
  for (int64_t n : {16, 64}) {
    const std::string size = std::to_string(n);
    add_growing("matmul", size, {n, n}, cq::jit([](auto x) { return cq::matmul(x, cq::transpose(x)); }));
    add_growing("matmul of rows", size, {n, n}, cq::jit([](auto x, auto y) { return cq::matmul(x, y); }),
                cq::Array<float>::full({n, n}, 0.25f));
  }
}
