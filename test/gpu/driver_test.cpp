// The CUDA back end on the stand-in driver: same results, no leaks, and a readable error for every failure of the
// driver, after which the device still works.
#include <gmock/gmock.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/device/device_api.h"
#include "stand_in.h"
#include "support/sanitizers.h"

namespace calque {
namespace {

using F = Array<float>;
using test::kAddressSanitizer;
using test::StandIn;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::ThrowsMessage;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

class Cuda : public testing::Test {
 protected:
  ~Cuda() override { EXPECT_THAT(driver.problems(), IsEmpty()); }
  StandIn& driver = StandIn::get();
};

F on_gpu(const F& a) { return a.to(gpu()); }

auto three_kernels() {
  return jit(
      [](auto x) {
        const auto y = x / sum(x);
        return y - matmul(y, y) * sum(y * y);
      },
      {.name = "three"});
}

TEST_F(Cuda, DeviceIsListed) {
  ASSERT_TRUE(opened);
  EXPECT_TRUE(gpu_available());
  EXPECT_EQ(devices(), (std::vector<Device>{cpu(), gpu(0), gpu_sim()}));
  EXPECT_THAT([] { F{1}.to(gpu(1)); },
              ThrowsMessage<DeviceError>(HasSubstr("to: device gpu:1 is not available, the driver shows 1 GPU")));
  EXPECT_EQ(runtime::device_api(gpu()).arch(), "sm_90a");
}

TEST_F(Cuda, ComputesWhatTheCpuComputes) {
  const auto f = three_kernels();
  for (int n : {2, 3, 8}) {
    const F x = F::linspace(1, 2, n * n).reshape({n, n});
    for (int call = 0; call < 4; ++call) EXPECT_TRUE(allclose(f(on_gpu(x)), f(x))) << n << " " << call;
  }
  const F a = on_gpu({1, 2, 3});
  EXPECT_EQ((a * a + 1.0f)(2), 10);
}

TEST_F(Cuda, LoopsBranchesAndHostFunctions) {
  const auto f = jit([](auto x) {
    const auto [y, n] =
        while_loop([](const auto& s) { return sum(std::get<0>(s)) < 100.0f; },
                   [](const auto& s) { return std::pair{std::get<0>(s) * 2.0f, std::get<1>(s) + 1}; }, std::pair{x, 0});
    const auto z = fori_loop(0, 5, [](auto i, auto s) { return flip(s) + cast<float>(i); }, y);
    const auto w = host_call([](const F& v) { return v + 1.0f; }, spec<float>(x.shape()), z);
    return std::pair{cond(n > 3, [](auto v) { return v * 2.0f; }, [](auto v) { return v - 1.0f; }, w), n};
  });
  for (const F& x : {F{1, 2, 3}, F{10, 20, 30}}) {
    const auto [y, n] = f(on_gpu(x));
    const auto [wanted, count] = f(x);
    EXPECT_TRUE(allclose(y, wanted));
    EXPECT_EQ(n.item(), count.item());
  }
}

TEST_F(Cuda, ChainsAreReplayedAsGraphs) {
  const auto f = jit([](auto x) {
    return fori_loop(0, 6, [](auto i, auto s) { return cumsum(flip(s), 0) / (1.0f + sum(s)) + cast<float>(i); }, x);
  });
  const F x = {1, 2, 3, 4}, wanted = f(x), there = on_gpu(x);
  EXPECT_TRUE(allclose(f(there), wanted));
  const int graphs = driver.calls("cuGraphInstantiateWithFlags"), launches = driver.calls("cuLaunchKernel");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(allclose(f(there), wanted));  // in the same memory each time
  EXPECT_EQ(driver.calls("cuGraphInstantiateWithFlags"), graphs + 1);
  std::vector<F> kept;  // so that every call writes to new memory
  for (int i = 0; i < 8; ++i) kept.push_back(f(there));
  for (const F& y : kept) EXPECT_TRUE(allclose(y, wanted));
  EXPECT_EQ(driver.calls("cuGraphInstantiateWithFlags"), graphs + 4);
  EXPECT_GT(driver.calls("cuGraphExecKernelNodeSetParams"), 0);
  EXPECT_EQ(driver.calls("cuLaunchKernel"), launches);
}

TEST_F(Cuda, ChainsBetweenCallsOfTheHostAreReplayed) {
  const auto many = [](auto x) {
    return fori_loop(0, 4, [](auto i, auto s) { return flip(s) / (1.0f + sum(s)) + cast<float>(i); }, x);
  };
  const auto f = jit([many](auto x) {
    const auto y = many(x);
    return many(host_call([](const F& v) { return v + 1.0f; }, spec<float>(x.shape()), y));
  });
  const F x = {1, 2, 3, 4}, wanted = f(x), there = on_gpu(x);
  const int graphs = driver.calls("cuGraphInstantiateWithFlags");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(allclose(f(there), wanted)) << i;
  EXPECT_EQ(driver.calls("cuGraphInstantiateWithFlags"), graphs + 2);
}

TEST_F(Cuda, ResultsAreFetchedOnlyWhenTheyAreRead) {
  const auto f = three_kernels();
  const F x = on_gpu(F::full({4, 4}, 0.5f));
  f(x);
  F wanted = x.to(cpu());
  const int waits = driver.calls("cuStreamSynchronize"), fetches = driver.calls("cuMemcpyDtoHAsync_v2");
  std::vector<F> y{x};
  for (int i = 0; i < 10; ++i) y.push_back(f(y.back()));
  EXPECT_EQ(driver.calls("cuStreamSynchronize"), waits);
  EXPECT_EQ(driver.calls("cuMemcpyDtoHAsync_v2"), fetches);
  const size_t asked = driver.live("work");
  y[3].host();  // does not wait for the others
  y[3].host();
  EXPECT_LT(driver.live("work"), asked);
  EXPECT_GT(driver.live("work"), 0u);
  EXPECT_EQ(driver.calls("cuStreamSynchronize"), waits + 1);  // for the copy
  EXPECT_EQ(driver.calls("cuMemcpyDtoHAsync_v2"), fetches + 1);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(allclose(y[static_cast<size_t>(i) + 1], wanted = f(wanted))) << i;
  EXPECT_EQ(driver.live("work"), 0u);
}

TEST_F(Cuda, CapturedArraysOfTheDeviceAreNotFetched) {
  const F x = on_gpu(F::full({4, 4}, 0.5f));
  const auto loop = [](const F& w) {
    return jit([w](auto v) {
      const auto inner = fori_loop(0, 3, [w](auto, auto s) { return s * w; }, v);
      return inner + grad([w](auto u) { return sum(sin(u) * w); })(v) + w;
    });
  };
  loop(on_gpu(F::full({4, 4}, 2)))(x);
  for (const Shape& shape :
       {Shape{4, 4}, Shape{4}, Shape{}}) {  // the last two are small enough to have their contents inspected
    loop(on_gpu(F::full(shape, 2)))(x);
    const uint64_t compiled = runtime::num_compilations();
    const F w = on_gpu(F::full(shape, 3));
    const int fetches = driver.calls("cuMemcpyDtoH_v2");
    const F y = loop(w)(x);
    EXPECT_EQ(driver.calls("cuMemcpyDtoH_v2"), fetches) << shape;
    EXPECT_EQ(runtime::num_compilations(), compiled) << shape;
    EXPECT_TRUE(allclose(y, F::full({4, 4}, 0.5f * 27 + std::cos(0.5f) * 3 + 3))) << shape;
  }
}

TEST_F(Cuda, ManyCallsLeaveNothingBehind) {
  runtime::DeviceApi& api = runtime::device_api(gpu());
  three_kernels().clear_cache();  // functions of one lambda share a table
  runtime::clear_executables();
  api.trim();
  const size_t memory = driver.live("memory"), modules = driver.live("module"), graphs = driver.live("graph");
  {
    const auto f = three_kernels();
    const auto step = jit([](auto w) { return w * 0.5f; }, {.donate = {0}});
    F w = on_gpu(F::ones({64, 64}));
    size_t most = 0;
    for (int i = 0; i < 50; ++i) {
      w = step(w);
      f(w);
      if (i == 5) most = driver.live("memory");
    }
    EXPECT_EQ(driver.live("memory"), most);
    EXPECT_EQ(w(1, 1), std::ldexp(1.0f, -50));
    f.clear_cache();
    step.clear_cache();
  }
  runtime::clear_executables();
  api.trim();
  EXPECT_EQ(driver.live("memory"), memory);
  EXPECT_EQ(driver.live("module"), modules);
  EXPECT_EQ(driver.live("graph"), graphs);
}

// ---- failures

TEST_F(Cuda, FailedLaunchNamesKernelAndLine) {
  const F x = on_gpu({1, 2, 3});
  const auto f = jit([](auto v) { return exp(v) * 2.0f; }, {.name = "step"});
  driver.fail("cuLaunchKernel", 999);
  EXPECT_THAT([&] { f(x); }, ThrowsMessage<DeviceError>(MatchesRegex(
                                 "step: gpu:0: kernel k0_\\w+ \\(driver_test.cpp:[0-9]+\\) cannot be launched: "
                                 "CUDA_ERROR_UNKNOWN, as the stand-in was told.* \\(driver_test.cpp:[0-9]+\\)")));
  EXPECT_TRUE(allclose(f(x), f(x.to(cpu()))));
}

TEST_F(Cuda, FailureOfAKernelShowsWhereItIsWaitedFor) {
  const F x = on_gpu({1, 2, 3});
  const F y = x * 3.0f;
  driver.fail("cuEventSynchronize", 999);  // a failure that is not sticky
  EXPECT_THAT([&] { y.host(); },
              ThrowsMessage<DeviceError>(AllOf(HasSubstr("gpu:0: waiting for a result: CUDA_ERROR_UNKNOWN"),
                                               HasSubstr("launched before: kernel k0_"))));
  EXPECT_EQ(y(2), 9);
}

TEST_F(Cuda, RefusedCodeShowsTheDriversLog) {
  driver.fail("cuModuleLoadDataEx", 218);
  const F x = on_gpu({1, 2, 3, 4, 5});
  const auto f = jit([](auto v) { return v * 7.0f - 2.0f; }, {.name = "step"});
  EXPECT_THAT([&] { f(x); }, ThrowsMessage<CompileError>(HasSubstr("the driver refuses the code of k0_")));
  EXPECT_EQ(f(x)(0), 5);
}

TEST_F(Cuda, OutOfMemoryFreesThePoolAndTriesAgain) {
  runtime::device_api(gpu()).trim();
  const F a = on_gpu(F::ones({1 << 16}));  // 256 KiB
  {
    const F b = a + 1.0f, c = a + 2.0f;
  }
  const int frees = driver.calls("cuMemFree_v2");
  driver.limit_memory(size_t{3} << 18);
  const F d = on_gpu(F::ones({100000}));  // of another size: fits only once the pool is empty
  EXPECT_GT(driver.calls("cuMemFree_v2"), frees);
  EXPECT_THAT([&] { concatenate(std::vector{d, d, d}, 0); },
              ThrowsMessage<DeviceError>(MatchesRegex("gpu:0: out of memory, [0-9]+ bytes asked for, [0-9]+ in use of "
                                                      "[0-9]+")));
  const auto f = jit([](auto x) { return concatenate(std::vector{x, x, x}, 0); }, {.name = "wide"});
  EXPECT_THAT([&] { f(d); }, ThrowsMessage<DeviceError>(HasSubstr("wide: gpu:0: out of memory, ")));
  driver.limit_memory(SIZE_MAX);
  EXPECT_EQ(f(d).size(), 300000);
}

// Each entry point that typical work reaches fails once; the error is one of Calque's, and the next attempt works.
TEST_F(Cuda, EveryFailureIsAnErrorAndNoMore) {
  const auto work = [] {
    const auto f = jit([](auto x) {
      return fori_loop(0, 4, [](auto i, auto s) { return cumsum(flip(s), 0) / (1.0f + sum(s)) + cast<float>(i); }, x);
    });
    const auto twice = jit([](auto v, auto w) { return v * w; }, {.donate = {0}});
    f.clear_cache();
    twice.clear_cache();
    runtime::clear_executables();
    runtime::device_api(gpu()).trim();
    const F x = on_gpu({1, 2, 3, 4});
    std::vector<F> y;
    for (int i = 0; i < 6; ++i) y.push_back(f(x));
    twice(x, x).host();
    return y.back()(3);
  };
  const float wanted = work();
  for (const char* entry :
       {"cuCtxPushCurrent_v2", "cuStreamSynchronize", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
        "cuPointerGetAttribute", "cuEventRecord", "cuEventSynchronize", "cuEventCreate", "cuMemcpyDtoDAsync_v2",
        "cuModuleLoadDataEx", "cuModuleGetFunction", "cuLaunchKernel", "cuGraphCreate", "cuGraphAddKernelNode",
        "cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphExecKernelNodeSetParams"}) {
    const int before = driver.calls(entry);
    work();
    const int calls = driver.calls(entry) - before;
    ASSERT_GT(calls, 0) << entry;
    for (int k = 0; k < std::min(calls, kAddressSanitizer ? 1 : 4); ++k) {
      driver.fail(entry, 999, k);
      try {
        work();
      } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("CUDA_ERROR_UNKNOWN")) << entry;
      }
      EXPECT_TRUE(driver.failed()) << entry;
      EXPECT_EQ(work(), wanted) << entry << " " << k;
    }
  }
}

TEST_F(Cuda, DriverThatDoesNotStartIsNoDevice) {
  for (const char* entry : {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetName",
                            "cuDeviceTotalMem_v2"}) {
    driver.fail(entry, 999);
    const runtime::CudaDevices all = runtime::open_cuda_devices(test::stand_in_cuda());
    // Without devices the driver has the problem, else the device.
    const bool is_device = !all.devices.empty();
    ASSERT_TRUE(!is_device || all.devices[0] == nullptr) << entry;
    EXPECT_THAT(is_device ? all.problems[0] : all.problem, HasSubstr("CUDA_ERROR_UNKNOWN, as the stand-in was told"))
        << entry;
  }
}

TEST_F(Cuda, LibraryThatIsNoDriverSaysSo) {
  EXPECT_THAT(runtime::open_cuda_devices("/nowhere/libcuda.so").problem, HasSubstr("CUDA's driver cannot be opened: "));
  EXPECT_THAT(runtime::open_cuda_devices("libm.so.6").problem,
              HasSubstr("CUDA's driver libm.so.6 has no cuInit; a driver of CUDA 11.4 or later is needed"));
}

}  // namespace
}  // namespace calque
