// A kernel with an illegal access makes its context unusable. Each test runs in a separate process, since a lost device
// cannot be recovered.
#include <iostream>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calque/calque.h"

#include "compile/executable.h"
#include "runtime/cuda/cuda_device.h"
#include "stand_in.h"

namespace calque {
namespace {

using F = Array<float>;
using test::StandIn;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

class LostDevice : public testing::Test {
 protected:
  LostDevice() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  StandIn& driver = StandIn::get();
};

/// Ends the process, successfully if no expectation failed.
[[noreturn]] void end() {
  for (const std::string& problem : StandIn::get().problems()) ADD_FAILURE() << problem;
  // A death test's process does not print failures.
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i)
    if (result.GetTestPartResult(i).failed()) std::cerr << result.GetTestPartResult(i).message() << '\n';
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

void lose(StandIn& driver, const F& x) {
  const auto f = jit([](auto v) { return exp(v) * 3.0f; }, {.name = "step"});
  driver.fail("kernel", 700);
  const F y = f(x);
  EXPECT_THAT([&] { y.host(); }, ThrowsMessage<DeviceError>(AllOf(
                                     HasSubstr("gpu:0: waiting for a result: CUDA_ERROR_ILLEGAL_ADDRESS"),
                                     HasSubstr("launched before: kernel k0_"), HasSubstr("(lost_device_test.cpp:"),
                                     HasSubstr("the device is lost to this process"))));
}

TEST_F(LostDevice, EveryLaterUseSaysSo) {
  ASSERT_TRUE(opened);
  const auto scenario = [&] {
    const F x = F{1, 2, 3}.to(gpu()), fetched = x + 1.0f;
    fetched.host();
    lose(driver, x);
    const auto lost = ThrowsMessage<DeviceError>(AllOf(HasSubstr("gpu:0: the device was lost earlier"),
                                                       HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"), HasSubstr("kernel k0_"),
                                                       HasSubstr("start the program again")));
    const auto g = jit([](auto v) { return v - 1.0f; }, {.name = "next"});
    EXPECT_THAT([&] { g(x); }, lost);
    EXPECT_THAT([&] { g(x); }, ThrowsMessage<DeviceError>(HasSubstr("next: gpu:0: the device was lost earlier")));
    EXPECT_THAT([&] { F{4}.to(gpu()); }, lost);
    EXPECT_THAT([&] { x.host(); }, lost);
    EXPECT_THAT([&] { synchronize(); }, lost);
    EXPECT_EQ(fetched(2), 4);  // the host has it
    EXPECT_EQ(g(F{5})(0), 4);  // so has the CPU
    EXPECT_TRUE(gpu_available());
    runtime::clear_executables();
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
}

TEST_F(LostDevice, FreesAndDestructorsGoOn) {
  const auto scenario = [&] {
    {
      const runtime::CudaDevices all = runtime::open_cuda_devices(test::stand_in_cuda());
      runtime::DeviceApi& api = *all.devices[0];
      void* const memory = api.allocate(1000);
      const float one = 1;
      api.upload(memory, &one, sizeof one);
      driver.fail("cuStreamSynchronize", 719);
      EXPECT_THROW(api.synchronize(), DeviceError);
      api.release(memory, 1000);
      EXPECT_THROW(api.trim(), DeviceError);
    }
    const F x = F{1, 2, 3}.to(gpu());
    const auto f = jit([](auto v) {
      return fori_loop(0, 6, [](auto i, auto s) { return cumsum(flip(s), 0) / (1.0f + sum(s)) + cast<float>(i); }, v);
    });
    for (int i = 0; i < 3; ++i) f(x);  // graphs in the driver
    synchronize();
    lose(driver, x);
    f.clear_cache();
    runtime::clear_executables();
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
}

TEST_F(LostDevice, OthersGoOn) {
  driver.set("devices", 2);
  const auto scenario = [&] {
    const F x = F{1, 2, 3}.to(gpu(0)), y = F{1, 2, 3}.to(gpu(1));
    lose(driver, x);
    const auto f = jit([](auto v) { return v * 2.0f; });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(f(y)(2), 6);
    const F z = f(y);
    EXPECT_THROW(synchronize(), DeviceError);
    EXPECT_EQ(driver.live("work"), 0u);  // of the other device, which was waited for
    EXPECT_EQ(z(0), 2);
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
  driver.set("devices", 1);
}

// Kernels that are known to have succeeded are not named.
TEST_F(LostDevice, NamesOnlyWhatMayHaveFailed) {
  const auto scenario = [&] {
    const F x = F{1, 2, 3}.to(gpu());
    const auto good = jit([](auto v) { return tanh(v); }, {.name = "good"});
    good(x).host();
    driver.fail("kernel", 700);
    const F y = x * x;
    std::string message;
    try {
      y.host();
    } catch (const DeviceError& e) {
      message = e.what();
    }
    EXPECT_THAT(message, AllOf(HasSubstr("launched before: kernel k0_"), Not(HasSubstr("tanh"))));
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
}

// At the end of the program the driver may shut down before the last arrays are destroyed.
TEST_F(LostDevice, DriverThatHasShutDownIsNoTrouble) {
  const auto scenario = [&] {
    F x = F{1, 2, 3}.to(gpu());
    const auto f = jit([](auto v) { return v * 2.0f; });
    f(x);
    for (const char* entry : {"cuCtxPushCurrent_v2", "cuStreamSynchronize"}) {
      driver.fail(entry, 4);
      f.clear_cache();
      runtime::clear_executables();
    }
    x = F();
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
}

TEST_F(LostDevice, ForkedProcessHasNone) {
  const auto scenario = [&] {
    F x = F{1, 2, 3}.to(gpu());
    const auto f = jit([](auto v) { return v * 2.0f; });
    f(x).host();
    const int calls = driver.calls("cuMemFree_v2");
    const pid_t child = fork();
    if (child == 0) {
      EXPECT_THAT([&] { f(x); },
                  ThrowsMessage<DeviceError>(HasSubstr("GPUs were opened before this process was forked")));
      EXPECT_THAT([&] { F{1}.to(gpu()); }, ThrowsMessage<DeviceError>(HasSubstr("forked")));
      EXPECT_EQ(f(F{5})(0), 10);
      x = F();
      f.clear_cache();
      runtime::clear_executables();
      EXPECT_EQ(driver.calls("cuMemFree_v2"), calls);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(f(x)(2), 6);
    end();
  };
  EXPECT_EXIT(scenario(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace calque
