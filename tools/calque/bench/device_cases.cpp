#include "calque/bench/device_cases.h"

#include <cmath>

#include "calque/calque.h"

namespace calque::cli {
namespace {

constexpr int64_t kRow = 1024;

template <class F, class... X>
Graph traced(const F& f, const X&... x) {
  return jit(f).trace(x...);
}

Spec<float> flat(int64_t n) { return spec<float>({n}); }
Spec<float> rows(int64_t n) { return spec<float>({std::max<int64_t>(n / kRow, 1), kRow}); }
int64_t side(int64_t n) { return static_cast<int64_t>(std::sqrt(static_cast<double>(n))); }

// Bytes for each element of the largest array.
auto each(double bytes) {
  return [bytes](int64_t n) { return bytes * static_cast<double>(n); };
}
auto product(double bytes) {
  return [bytes](int64_t n) { return 3 * bytes * static_cast<double>(side(n) * side(n)); };
}
double product_flops(int64_t n) { return 2 * std::pow(static_cast<double>(side(n)), 3); }

std::vector<DeviceCase> make_cases() {
  std::vector<DeviceCase> all;
  all.push_back({"triad", "a * x + y",
                 [](int64_t n) { return traced([](auto x, auto y) { return 2.5f * x + y; }, flat(n), flat(n)); },
                 each(12), each(2)});
  all.push_back({"chain", "twelve operations on each element",
                 [](int64_t n) {
                   return traced(
                       [](auto x) {
                         auto y = x;
                         for (int i = 1; i <= 6; ++i) y = y * x + 0.1f * static_cast<float>(i);
                         return y;
                       },
                       flat(n));
                 },
                 each(8), each(12)});
  all.push_back({"tanh", "tanh of each element",
                 [](int64_t n) { return traced([](auto x) { return tanh(x); }, flat(n)); }, each(8), each(20)});
  all.push_back({"sum", "the sum of all elements",
                 [](int64_t n) { return traced([](auto x) { return sum(x); }, flat(n)); }, each(4), each(1)});
  all.push_back({"columns", "sums along columns of rows of 1024",
                 [](int64_t n) { return traced([](auto x) { return sum(x, {0}); }, rows(n)); }, each(4), each(1)});
  all.push_back({"variance", "variances of columns of rows of 1024",
                 [](int64_t n) { return traced([](auto x) { return var(x, {0}); }, rows(n)); }, each(4), each(4)});
  all.push_back({"transpose", "2 x + 1, transposed, of rows of 1024",
                 [](int64_t n) { return traced([](auto x) { return 2.0f * x.T() + 1.0f; }, rows(n)); }, each(8),
                 each(2)});
  all.push_back({"softmax", "softmax of rows of 1024",
                 [](int64_t n) { return traced([](auto x) { return softmax(x, 1); }, rows(n)); }, each(8), each(15)});
  all.push_back({"layernorm", "layer_norm of rows of 1024",
                 [](int64_t n) { return traced([](auto x) { return layer_norm(x, 1); }, rows(n)); }, each(8), each(8)});
  all.push_back({"gradient", "value and gradient of sum(tanh(x) * sin(x))",
                 [](int64_t n) {
                   return traced([](auto x) { return value_and_grad([](auto y) { return sum(tanh(y) * sin(y)); })(x); },
                                 flat(n));
                 },
                 each(8), each(60)});
  all.push_back({"cumsum", "running sums",
                 [](int64_t n) { return traced([](auto x) { return cumsum(x, 0); }, flat(n)); }, each(8), each(1)});
  const auto matmuls = [&](const char* name, const char* what, auto element, double bytes) {
    using T = decltype(element);
    all.push_back({name, what,
                   [](int64_t n) {
                     const auto square = spec<T>({side(n), side(n)});
                     return traced([](auto x, auto y) { return matmul(x, y); }, square, square);
                   },
                   product(bytes), product_flops});
  };
  matmuls("matmul", "products of square matrices of f32", float{}, 4);
  matmuls("matmul_tf32", "products of square matrices of f32, with fast_math", float{}, 4);
  all.back().fast_math = all.back().matrix_units = true;
  matmuls("matmul_bf16", "products of square matrices of bf16", bfloat16{}, 2);
  all.back().matrix_units = true;
  all.push_back({"dense_bf16", "relu(x w + b) of square matrices of bf16",
                 [](int64_t n) {
                   const auto square = spec<bfloat16>({side(n), side(n)});
                   return traced([](auto x, auto w) { return relu(matmul(x, w) + w.at(0)); }, square, square);
                 },
                 product(2), product_flops});
  all.back().matrix_units = true;
  all.push_back({"small_kernels", "80 reductions, each depending on the previous one",
                 [](int64_t n) {
                   return traced(
                       [](auto x) {
                         auto y = x;
                         for (int i = 0; i < 40; ++i) y = y * 0.5f + mean(y);
                         return y;
                       },
                       flat(n));
                 },
                 each(8), each(160)});
  return all;
}

}  // namespace

const std::vector<DeviceCase>& built_in_device_cases() {
  static const std::vector<DeviceCase> cases = make_cases();
  return cases;
}

Graph copy_probe(int64_t n) {
  return traced([](auto x) { return x + 1.0f; }, flat(n));
}

Graph arithmetic_probe(int64_t n) {
  return traced(
      [](auto x) {
        auto a = x, b = x + 1.0f, c = x + 2.0f, d = x + 3.0f;
        for (int64_t i = 0; i < kProbeSteps / 4; ++i) {
          a = fma(a, x, b);
          b = fma(b, x, c);
          c = fma(c, x, d);
          d = fma(d, x, a);
        }
        return a + b + c + d;
      },
      flat(n));
}

}  // namespace calque::cli
