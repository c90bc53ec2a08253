// Products by cuBLASLt on the stand-in: which ones, their results and order; products that the library refuses are
// computed without it, and no handle is leaked.
#include "runtime/cuda/cublaslt.h"

#include <cmath>

#include <gmock/gmock.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/cuda/cuda_device.h"
#include "stand_in.h"
#include "support/sanitizers.h"
#include "support/simulated.h"

namespace calque {
namespace {

using F = Array<float>;
using test::StandIn;
using testing::IsEmpty;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

class Cublas : public testing::Test {
 protected:
  Cublas() { runtime::least_library_flops() = 0; }
  ~Cublas() override {
    runtime::least_library_flops() = usual;
    runtime::clear_executables();
    runtime::device_api(gpu()).trim();
    EXPECT_THAT(driver.problems(), IsEmpty());
  }
  /// Number of products that the library was called for during `work`.
  template <class Work>
  int asked(Work&& work) {
    const int before = driver.calls("cublasLtMatmul");
    work();
    return driver.calls("cublasLtMatmul") - before;
  }
  StandIn& driver = StandIn::get();
  const double usual = runtime::least_library_flops();
};

/// Small integers, whose products are exact in every order of summation.
template <class T>
Array<T> numbers(const Shape& shape, int seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i)
    values.push_back(T(static_cast<float>((i * 7 + i / 11 + seed) % 7 - 3)));
  return Array<T>::from(std::span<const T>(values), shape);
}

template <class T, class Function>
void same_as_cpu(const Function& function, const Array<T>& a, const Array<T>& b) {
  const auto f = jit(function);
  const auto wanted = f(a, b), got = f(a.to(gpu()), b.to(gpu())).to(cpu());
  EXPECT_TRUE(array_equal(got, wanted)) << name(dtype_of<T>) << a.shape() << b.shape();
  f.clear_cache();
}

TEST_F(Cublas, ComputesEveryLayout) {
  ASSERT_TRUE(opened);
  const auto m = [](int64_t rows, int64_t columns, int seed) { return numbers<float>({rows, columns}, seed); };
  EXPECT_EQ(asked([&] {
              same_as_cpu<float>([](auto a, auto b) { return matmul(a, b); }, m(40, 24, 1), m(24, 56, 2));
              same_as_cpu<float>([](auto a, auto b) { return matmul(a.T(), b); }, m(24, 33, 1), m(24, 57, 2));
              same_as_cpu<float>([](auto a, auto b) { return matmul(a, b.T()); }, m(40, 25, 1), m(56, 25, 2));
              same_as_cpu<float>([](auto a, auto b) { return matmul(a.T(), b.T()); }, m(24, 40, 1), m(56, 24, 2));
            }),
            4);
}

TEST_F(Cublas, ComputesEveryDtype) {
  const auto one = [&]<class T>() {
    same_as_cpu<T>([](auto a, auto b) { return matmul(a, b.T()); }, numbers<T>({40, 25}, 1), numbers<T>({56, 25}, 2));
  };
  EXPECT_EQ(asked([&] {
              one.template operator()<double>();
              one.template operator()<float16>();
              one.template operator()<bfloat16>();
            }),
            3);
}

TEST_F(Cublas, ComputesBatches) {
  EXPECT_EQ(asked([] {
              same_as_cpu<float>([](auto a, auto b) { return einsum("bij,bjk->bik", a, b); },
                                 numbers<float>({3, 40, 24}, 1), numbers<float>({3, 24, 56}, 2));
              same_as_cpu<float>([](auto a, auto b) { return einsum("abij,abkj->abik", a, b); },
                                 numbers<float>({2, 3, 17, 24}, 1), numbers<float>({2, 3, 19, 24}, 2));
              same_as_cpu<float>([](auto a, auto b) { return einsum("ibj,bjk->bik", a, b); },
                                 numbers<float>({40, 3, 24}, 1), numbers<float>({3, 24, 56}, 2));
              same_as_cpu<float>([](auto a, auto b) { return einsum("bij,jk->bik", a, b); },
                                 numbers<float>({3, 40, 24}, 1), numbers<float>({24, 56}, 2));
            }),
            4);
}

TEST_F(Cublas, IsUsedForLargeProductsAlone) {
  EXPECT_EQ(usual, 2.0 * 512 * 512 * 512);
  const F a = numbers<float>({40, 24}, 1), b = numbers<float>({24, 56}, 2);
  const auto product = [](auto x, auto y) { return matmul(x, y); };
  runtime::least_library_flops() = 2.0 * 40 * 56 * 24;
  EXPECT_EQ(asked([&] { same_as_cpu<float>(product, a, b); }), 1);
  runtime::clear_executables();
  runtime::least_library_flops() = 2.0 * 40 * 56 * 24 + 1;
  EXPECT_EQ(asked([&] { same_as_cpu<float>(product, a, b); }), 0);
}

// What follows a long product is a kernel of its own, so that the library computes the product.
TEST_F(Cublas, ComputesProductsBeforeTheirEpilogues) {
  const auto dense = [](auto x, auto w) { return relu(matmul(x, w) - 20) * 2; };
  const auto wide = [](auto x, auto w) { return cast<float>(matmul(x, w)) + 1; };
  const auto batches = [](auto x, auto w) { return tanh(einsum("bij,bkj->bik", x, w) * 0.125f); };
  EXPECT_EQ(asked([&] {
              same_as_cpu<float>(dense, numbers<float>({40, 520}, 1), numbers<float>({520, 56}, 2));
              same_as_cpu<double>(dense, numbers<double>({40, 520}, 1), numbers<double>({520, 56}, 2));
              same_as_cpu<bfloat16>(wide, numbers<bfloat16>({40, 1030}, 1), numbers<bfloat16>({1030, 56}, 2));
              same_as_cpu<float>([](auto x, auto w) { return (matmul(x.T(), w) + x.at(0, 0)).T(); },
                                 numbers<float>({520, 33}, 1), numbers<float>({520, 57}, 2));
            }),
            4);
  const F x = numbers<float>({3, 40, 520}, 1), w = numbers<float>({3, 56, 520}, 2);
  EXPECT_EQ(asked([&] {
              const auto f = jit(batches);
              EXPECT_TRUE(allclose(f(x.to(gpu()), w.to(gpu())).to(cpu()), f(x, w), 1e-5, 1e-5));
              f.clear_cache();
            }),
            1);
}

// Factors that are computed and used often are computed once, in kernels of their own.
TEST_F(Cublas, ComputesProductsOfComputedFactors) {
  const auto same = [](const auto& f, const auto&... x) {
    const auto g = jit(f);
    EXPECT_TRUE(allclose(g(x.to(gpu())...).to(cpu()), g(x...), 1e-5, 1e-4));
    g.clear_cache();
  };
  const F x = numbers<float>({520, 530}, 1), w = numbers<float>({530, 540}, 2), few = numbers<float>({530, 20}, 3);
  EXPECT_EQ(asked([&] {
              same([](auto a, auto b) { return matmul(relu(a - 1), b); }, x, w);
              same([](auto a, auto b) { return matmul(relu(a - 1), b); }, numbers<bfloat16>({1030, 64}, 1),
                   numbers<bfloat16>({64, 1030}, 2));
            }),
            2);
  if (!test::kAddressSanitizer) {  // long on the stand-in
    EXPECT_EQ(asked([&] {
                same([](auto a, auto b) { return matmul(a, relu(b.T() - 1).T()) + 1; }, x, w);
                same([](auto a, auto b) { return relu(matmul(a * 2 - 1, b + 1) - 3); }, x, w);
                same([](auto a, auto b) { return matmul(relu(a.T() - 1).T(), b); }, x, w);
              }),
              3);
  }
  // Each computed element is used 20 times: not often enough.
  EXPECT_EQ(asked([&] { same([](auto a, auto b) { return matmul(relu(a - 1), b); }, x, few); }), 0);
}

// Short products keep what follows them: writing and reading the products takes longer than the library saves.
TEST_F(Cublas, LeavesShortProductsToTheirEpilogues) {
  const auto dense = [](auto x, auto w) { return relu(matmul(x, w) - 20) * 2; };
  EXPECT_EQ(asked([&] { same_as_cpu<float>(dense, numbers<float>({40, 500}, 1), numbers<float>({500, 56}, 2)); }), 0);
}

TEST_F(Cublas, IsNotUsedForAnythingElse) {
  const F a = numbers<float>({40, 24}, 1), b = numbers<float>({24, 56}, 2);
  const auto strict = jit([](auto x, auto y) { return matmul(x, y); }, {.strict = true});
  EXPECT_EQ(asked([&] {
              EXPECT_TRUE(array_equal(strict(a.to(gpu()), b.to(gpu())).to(cpu()), strict(a, b)));
              same_as_cpu<float>([](auto x, auto y) { return 1.0f - matmul(x, y); }, a, b);
              same_as_cpu<int32_t>([](auto x, auto y) { return matmul(x, y); }, numbers<int32_t>({40, 24}, 1),
                                   numbers<int32_t>({24, 56}, 2));
              same_as_cpu<float>([](auto x, auto y) { return matmul(x, y); }, numbers<float>({40, 2}, 1),
                                 numbers<float>({2, 56}, 2));
            }),
            0);
  strict.clear_cache();
}

TEST_F(Cublas, KeepsTheBitsOfFloatsUnlessTheyMayGo) {
  const F a = F::full({40, 24}, 1 + 0x1p-20f), b = F::ones({24, 56});
  const auto exact = jit([](auto x, auto y) { return matmul(x, y); });
  const auto fast = jit([](auto x, auto y) { return matmul(x, y); }, {.fast_math = true});
  EXPECT_EQ(asked([&] {
              EXPECT_EQ(exact(a.to(gpu()), b.to(gpu()))(0, 0), 24 + 24 * 0x1p-20f);
              EXPECT_EQ(fast(a.to(gpu()), b.to(gpu()))(0, 0), 24);
            }),
            2);
  exact.clear_cache();
  fast.clear_cache();
}

TEST_F(Cublas, AsksForAnAlgorithmOnce) {
  const F a = numbers<float>({39, 24}, 1).to(gpu()), b = numbers<float>({24, 56}, 2).to(gpu());
  const auto f = jit([](auto x, auto y) { return matmul(x, y); });
  const auto g = jit([](auto x, auto y) { return std::pair{matmul(x, y), exp(x)}; });
  const int before = driver.calls("cublasLtMatmulAlgoGetHeuristic");
  for (int i = 0; i < 3; ++i) f(a, b);
  g(a, b);
  EXPECT_EQ(driver.calls("cublasLtMatmulAlgoGetHeuristic"), before + 1);
  f.clear_cache();
  g.clear_cache();
}

/// A chain of products, followed by a kernel.
auto chain() {
  return jit([](auto x, auto w) {
    for (int i = 0; i < 3; ++i) x = matmul(x, w);
    return std::pair{x, exp(x)};
  });
}
F weights() { return numbers<float>({16, 16}, 2) * 0.125f; }

TEST_F(Cublas, ChainsAreReplayedWithTheirProducts) {
  const auto f = chain();
  const F x = numbers<float>({24, 16}, 1), w = weights(), wanted = f(x, w).second;
  const F there = x.to(gpu()), v = w.to(gpu());
  EXPECT_EQ(asked([&] { EXPECT_TRUE(allclose(f(there, v).second, wanted)); }), 3);
  const int nodes = driver.calls("cuGraphAddChildGraphNode"), launches = driver.calls("cuLaunchKernel");
  std::vector<std::pair<F, F>> kept;  // so that every call writes to new memory
  for (int i = 0; i < 6; ++i) kept.push_back(f(there, v));
  for (const auto& y : kept) EXPECT_TRUE(allclose(y.second, wanted));
  EXPECT_EQ(driver.calls("cuLaunchKernel"), launches);
  EXPECT_EQ(driver.calls("cuGraphAddChildGraphNode"), nodes + 12);
  EXPECT_GT(driver.calls("cuGraphExecChildGraphNodeSetParams"), 0);
  f.clear_cache();
}

// The result is correct whichever call fails.
TEST_F(Cublas, ProductsWithoutDescriptionsAreComputedWithoutIt) {
  for (const char* entry :
       {"cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
        "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute", "cublasLtMatmulAlgoGetHeuristic"}) {
    driver.fail(entry, 15);
    EXPECT_EQ(asked([] {
                same_as_cpu<float>([](auto a, auto b) { return matmul(a, b); }, numbers<float>({16, 16}, 1),
                                   numbers<float>({16, 16}, 2));
              }),
              0)
        << entry;
    EXPECT_TRUE(driver.failed()) << entry;
    runtime::clear_executables();
  }
}

TEST_F(Cublas, WhatIsRefusedIsComputedWithoutIt) {
  const F x = numbers<float>({24, 16}, 1), w = weights();
  const F wanted = chain()(x, w).second;
  for (const char* entry : {"cublasLtMatmul", "cuStreamBeginCapture_v2", "cuStreamEndCapture",
                            "cuGraphAddChildGraphNode", "cuGraphExecChildGraphNodeSetParams"}) {
    driver.fail(entry, 15);
    const auto f = chain();
    f.clear_cache();
    runtime::clear_executables();
    const F there = x.to(gpu()), v = w.to(gpu());
    std::vector<std::pair<F, F>> kept;
    for (int i = 0; i < 6; ++i) kept.push_back(f(there, v));
    for (const auto& y : kept) EXPECT_TRUE(allclose(y.second, wanted)) << entry;
    f.clear_cache();
    EXPECT_TRUE(driver.failed()) << entry;
  }
}

TEST_F(Cublas, WhatWasRefusedIsNotAskedForAgain) {
  const F a = numbers<float>({40, 24}, 1), b = numbers<float>({24, 56}, 2);
  const auto f = jit([](auto x, auto y) { return matmul(x, y); });
  const F there = a.to(gpu()), other = b.to(gpu()), wanted = f(a, b);
  driver.fail("cublasLtMatmul", 15);
  EXPECT_EQ(asked([&] {
              for (int i = 0; i < 3; ++i) EXPECT_TRUE(array_equal(f(there, other).to(cpu()), wanted));
            }),
            1);
  f.clear_cache();
}

TEST_F(Cublas, LeavesNothingBehind) {
  const Graph g = parse(
      "calque 1\ngraph f(%a: f32[40,24], %b: f32[24,56]) {\n %d = dot_general[lhs_batch=[], lhs_contract=[1], "
      "rhs_batch=[], rhs_contract=[0]] %a %b\n return %d\n}\n");
  const F a = numbers<float>({40, 24}, 1), b = numbers<float>({24, 56}, 2);
  const F wanted = jit([](auto x, auto y) { return matmul(x, y); })(a, b);
  runtime::device_api(gpu()).trim();
  const auto left = [&] {
    return std::vector{driver.live("library"), driver.live("memory"), driver.live("stream"), driver.live("graph"),
                       driver.live("module")};
  };
  const auto before = left();
  const auto run_once = [&] {
    const runtime::CudaDevices all = runtime::open_cuda_devices(test::stand_in_cuda());
    ASSERT_EQ(all.devices.size(), 1u);
    const auto got = test::run_on(*all.devices[0], g, {a, b}, {});
    EXPECT_TRUE(array_equal(F(got[0]), wanted));
  };
  EXPECT_EQ(asked(run_once), 1);
  EXPECT_EQ(left(), before);
  for (const char* entry : {"cublasLtCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmul"}) {
    driver.fail(entry, 1);
    run_once();
    EXPECT_TRUE(driver.failed()) << entry;
    EXPECT_EQ(left(), before) << entry;
  }
}

TEST_F(Cublas, WorkspaceIsGivenBack) {
  runtime::DeviceApi& api = runtime::device_api(gpu());
  api.trim();
  const size_t memory = driver.live("memory");
  {
    const auto f = jit([](auto x, auto y) { return matmul(x, y); });
    f(numbers<float>({40, 24}, 1).to(gpu()), numbers<float>({24, 56}, 2).to(gpu()));
    api.trim();
    EXPECT_EQ(driver.live("memory"), memory + 1);
    f.clear_cache();
  }
  runtime::clear_executables();
  api.trim();
  EXPECT_EQ(driver.live("memory"), memory);
}

}  // namespace
}  // namespace calque
