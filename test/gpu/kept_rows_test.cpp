// Rows that several loops of a kernel compute: a thread's elements stay in registers from loop to loop. Results on the
// simulator equal the CPU's at widths around those of vectors, warps and blocks; in the code for a GPU each element is
// loaded once and stored once.
#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/random/random.h"
#include "support/sanitizers.h"
#include "support/simulated.h"
#include "support/stages.h"

namespace calque::test {
namespace {

template <class T>
Array<T> numbers(const Shape& shape) {
  Rng rng(static_cast<uint64_t>(shape[1]));
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  for (T& v : values) v = static_cast<T>(static_cast<float>(rng.between(-1000, 1000)) / 256);
  return Array<T>::from(values, shape);
}

template <class T>
void expect_close(const Array<T>& got, const Array<T>& want, const std::string& what) {
  const double eps = sizeof(T) == 2 ? 1e-2 : sizeof(T) == 4 ? 3e-5 : 1e-12;
  EXPECT_EQ(got.device(), gpu_sim()) << what;
  EXPECT_TRUE(allclose(got.to(cpu()), want, eps, eps)) << what << "\n" << got << "\n" << want;
}

/// Exponentials that are a result themselves, and quotients of them.
constexpr auto kWithExponentials = [](auto x) {
  auto e = exp(x - amax(x, 1, keepdims));
  return std::tuple{e, e / sum(e, 1, keepdims)};
};
constexpr auto kMoved = [](auto x) {
  auto centred = x - mean(x, 1, keepdims);
  return centred / (1 + sum(abs(centred), 1, keepdims)) + centred;
};

template <class T>
void compare(int64_t width) {
  const Array<T> x = numbers<T>({5, width}), there = x.to(gpu_sim());
  const std::string what = "type of " + std::to_string(sizeof(T)) + " bytes, " + "[5," + std::to_string(width) + "]";
  const auto same = [&](const std::string& name, const auto& f) {
    expect_close(jit(f)(there), jit(f)(x), name + " of " + what);
  };
  same("softmax", [](auto a) { return softmax(a, 1); });
  same("gradient", [](auto a) { return grad([](auto b) { return sum(log_softmax(b, 1) * b); })(a); });
  same("moved", kMoved);
  same("in two parts", [](auto a) { return softmax(a.at(all, range(0, a.shape()[1] / 2 + 1)), 1); });
  const auto [e, p] = jit(kWithExponentials)(there);
  const auto [e_here, p_here] = jit(kWithExponentials)(x);
  expect_close(e, e_here, "exponentials of " + what);
  expect_close(p, p_here, "quotients of " + what);
}

TEST(KeptRows, EqualTheCpuAtEveryWidth) {
  const std::vector<int64_t> few{67, 1024, 4099};
  const std::vector<int64_t> many{1, 9, 32, 67, 130, 1021, 1024, 1028, 1100, 2500, 4099, 8192, 8200};
  for (const int64_t width : kAddressSanitizer ? few : many) {
    compare<float>(width);
    compare<double>(width);
    compare<float16>(width);
  }
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

std::string ptx_of(const Graph& g) {
  codegen::DeviceOptions options;
  options.arch = "sm_90a";
  return test::stages::ptx(program_for_gpu(g, {}), options);
}

// A warp has a row of 1024 elements: eight vectors of 4 for each thread.
TEST(KeptRows, AreLoadedAndStoredOnce) {
  const std::string ptx = ptx_of(jit([](auto x) { return softmax(x, 1); }).trace(spec<float>({4096, 1024})));
  EXPECT_EQ(count(ptx, "ld.global.nc.v4.b32"), 8) << ptx;
  EXPECT_EQ(count(ptx, "ld.global"), 8) << ptx;
  EXPECT_EQ(count(ptx, "st.global.v4.b32"), 8) << ptx;
  EXPECT_EQ(count(ptx, "st.global"), 8) << ptx;
  EXPECT_EQ(count(ptx, "bar.sync"), 0) << ptx;
}

// PTX takes the low 32 bits of an amount, so amounts above 63 are limited before.
TEST(DeviceShifts, OfWideAmountsAreLimited) {
  for (const auto& g : {jit([](auto x, auto n) { return x << n; }).trace(spec<int64_t>({64}), spec<int64_t>({64})),
                        jit([](auto x, auto n) { return x >> n; }).trace(spec<uint64_t>({64}), spec<uint64_t>({64}))}) {
    const std::string ptx = ptx_of(g);
    EXPECT_GE(count(ptx, "min.u64"), 1) << ptx;
  }
}

}  // namespace
}  // namespace calque::test
