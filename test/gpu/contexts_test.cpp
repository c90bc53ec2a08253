// When contexts are created, and drivers and devices that are too old, in exclusive use, or shared with another
// library.
#include <gmock/gmock.h>

#include "calque/calque.h"

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/ptx_support.h"
#include "runtime/device/device_api.h"
#include "stand_in.h"
#include "support/simulated.h"

namespace calque {
namespace {

using F = Array<float>;
using runtime::CudaDevices;
using test::StandIn;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

class Contexts : public testing::Test {
 protected:
  ~Contexts() override {
    for (const auto& [name, value] : {std::pair{"devices", 1},
                                      {"version", 12040},
                                      {"major", 9},
                                      {"minor", 0},
                                      {"foreign_capture", 0},
                                      {"host_page_tables", 0}})
      driver.set(name, value);
    EXPECT_THAT(driver.problems(), IsEmpty());
  }
  static CudaDevices open() { return runtime::open_cuda_devices(test::stand_in_cuda()); }
  StandIn& driver = StandIn::get();
};

/// Work that needs a context.
float compute(runtime::KernelDevice& api) {
  static const Graph g = parse("calque 1\ngraph f(%a: f32[4]) {\n %b = mul %a %a\n return %b\n}\n");
  return F(test::run_on(api, g, {F{1, 2, 3, 4}}, {})[0])(3);
}

TEST_F(Contexts, AreMadeByTheFirstWorkOfTheirDevice) {
  ASSERT_TRUE(opened);
  driver.set("devices", 3);
  const size_t before = driver.live("context");
  {
    const CudaDevices all = open();
    ASSERT_EQ(all.devices.size(), 3u);
    for (const auto& device : all.devices) {
      EXPECT_THAT(device->description(),
                  HasSubstr("Stand-in, sm_90a, 4 multiprocessors, 1024 MiB, driver of CUDA 12.4"));
      EXPECT_FALSE(device->code_key().empty());
      device->limits();
      device->synchronize();
      device->trim();
    }
    EXPECT_EQ(driver.live("context"), before);
    EXPECT_EQ(compute(*all.devices[1]), 16);
    EXPECT_EQ(driver.live("context"), before + 1);
    EXPECT_EQ(compute(*all.devices[0]), 16);
    EXPECT_EQ(driver.live("context"), before + 2);
  }
  EXPECT_EQ(driver.live("context"), before);
}

TEST_F(Contexts, QuestionsMakeNone) {
  const int before = driver.calls("cuDevicePrimaryCtxRetain");
  EXPECT_TRUE(gpu_available());
  EXPECT_EQ(devices().size(), 3u);
  EXPECT_NO_THROW(jit([](auto x) { return x + 1.0f; }, {.device = gpu()}).lower(F{1}).ptx());
  EXPECT_EQ(driver.calls("cuDevicePrimaryCtxRetain"), before);
}

// A failed attempt is repeated by the next use; no handle is leaked.
TEST_F(Contexts, OneThatIsRefusedIsAnErrorOfTheWork) {
  const CudaDevices all = open();
  const size_t contexts = driver.live("context"), streams = driver.live("stream");
  driver.fail("cuDevicePrimaryCtxRetain", 46);
  EXPECT_THAT([&] { compute(*all.devices[0]); },
              ThrowsMessage<DeviceError>(AllOf(HasSubstr("gpu:0: there is no context: CUDA_ERROR_DEVICE_UNAVAILABLE"),
                                               HasSubstr("another process has the device to itself"))));
  for (const auto& [entry, after] :
       {std::pair{"cuCtxPushCurrent_v2", 0}, {"cuStreamCreate", 0}, {"cuStreamCreate", 1}}) {
    driver.fail(entry, 999, after);
    EXPECT_THAT([&] { compute(*all.devices[0]); }, ThrowsMessage<DeviceError>(HasSubstr("CUDA_ERROR_UNKNOWN")))
        << entry;
    EXPECT_EQ(driver.live("context"), contexts) << entry;
    EXPECT_EQ(driver.live("stream"), streams) << entry;
  }
  EXPECT_EQ(compute(*all.devices[0]), 16);
}

TEST_F(Contexts, AnotherLibrarysCaptureIsNotHarmed) {
  driver.set("foreign_capture", 1);
  {
    const CudaDevices all = open();
    EXPECT_EQ(compute(*all.devices[0]), 16);
    all.devices[0]->trim();
  }
  const auto f = jit([](auto x) { return cumsum(flip(x), 0) / (1.0f + sum(x)); });
  const F x = {1, 2, 3, 4}, wanted = f(x);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(allclose(f(x.to(gpu())), wanted));
  f.clear_cache();
}

TEST_F(Contexts, CodeIsWhatTheDriverReads) {
  struct Case {
    int major, minor, version;
    const char* arch;
  };
  for (const Case& c : {Case{9, 0, 13000, "sm_90a"},
                        {9, 0, 12000, "sm_90a"},
                        {9, 0, 11080, "sm_90"},
                        {9, 0, 11070, "sm_86"},
                        {8, 9, 11080, "sm_89"},
                        {8, 9, 11060, "sm_86"},
                        {8, 0, 11040, "sm_80"},
                        {8, 6, 11040, "sm_86"},
                        {8, 7, 12080, "sm_86"},
                        {10, 0, 12080, "sm_90"},
                        {12, 0, 13000, "sm_90"},
                        {7, 5, 13000, ""}})
    EXPECT_EQ(runtime::ptx_arch(c.major, c.minor, c.version), c.arch) << c.major << c.minor << " " << c.version;
  EXPECT_EQ(runtime::newest_ptx(11040), 74);
  EXPECT_EQ(runtime::newest_ptx(12060), 85);
  EXPECT_EQ(runtime::newest_ptx(14000), 90);
  driver.set("version", 11080);
  EXPECT_EQ(open().devices.at(0)->arch(), "sm_90");
  EXPECT_EQ(open().devices[0]->newest_ptx(), 78);
}

TEST_F(Contexts, DriversAndDevicesThatAreTooOldSaySo) {
  driver.set("version", 11020);
  EXPECT_THAT(open().problem, HasSubstr("is of CUDA 11.2; a driver of CUDA 11.4 or later is needed"));
  driver.set("version", 12040);
  driver.set("major", 7);
  EXPECT_THAT(open().problems.at(0), HasSubstr("gpu:0: Stand-in has compute capability 7.0, 8.0 or later is needed"));
}

// ---- copies from the host

/// Copies `x` to a device that is busy with a loop, changes `x` at once, and returns the copied first element.
float first_after_change(std::vector<float>& x) {
  const F busy = F::ones({8}).to(gpu());
  const auto loop = jit([](auto a) { return fori_loop(0, 5, [](auto, auto s) { return cumsum(s, 0) * 0.5f; }, a); });
  const F before = loop(busy);
  runtime::DeviceApi& api = runtime::device_api(gpu());
  const size_t bytes = x.size() * sizeof(float);
  void* const there = api.allocate(bytes);
  api.upload(there, x.data(), bytes);
  x[0] = -1;
  float got = 0;
  api.download(&got, there, sizeof got);
  api.release(there, bytes);
  loop.clear_cache();
  return got;
}

TEST_F(Contexts, PageLockedMemoryMayChangeOnceACopyReturns) {
  std::vector<float> x(1000, 7);
  EXPECT_EQ(first_after_change(x), 7);
  x[0] = 7;
  driver.lock_pages(x.data(), x.size() * sizeof(float));
  EXPECT_EQ(first_after_change(x), 7);
  x[0] = 7;
  driver.lock_pages(x.data(), 0);
  driver.lock_pages(x.data() + 500, 500 * sizeof(float));  // only a part
  EXPECT_EQ(first_after_change(x), 7);
  driver.lock_pages(x.data() + 500, 0);
}

TEST_F(Contexts, OrdinaryMemoryIsNotWaitedFor) {
  std::vector<float> x(1000, 7);
  runtime::DeviceApi& api = runtime::device_api(gpu());
  void* const there = api.allocate(4000);
  api.synchronize();
  api.upload(there, x.data(), 4000);
  EXPECT_GT(driver.live("work"), 0u);
  api.synchronize();
  api.release(there, 4000);
}

TEST_F(Contexts, MemoryThatTheDeviceReadsItselfIsWaitedFor) {
  driver.set("host_page_tables", 1);
  const CudaDevices all = open();
  runtime::DeviceApi& api = *all.devices[0];
  std::vector<float> x(1000, 7);
  void* const there = api.allocate(4000);
  api.upload(there, x.data(), 4000);
  x[0] = -1;
  float got = 0;
  api.download(&got, there, sizeof got);
  EXPECT_EQ(got, 7);
  api.release(there, 4000);
}

}  // namespace
}  // namespace calque
