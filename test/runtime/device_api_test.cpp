// The interface of devices, on every device that needs no hardware.
#include "runtime/device/device_api.h"

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "compile/passes.h"

namespace calque {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class EveryDevice : public ::testing::TestWithParam<Device> {};
INSTANTIATE_TEST_SUITE_P(, EveryDevice, ::testing::Values(cpu(), gpu_sim()),
                         [](const auto& device) { return to_string(device.param); });

TEST_P(EveryDevice, MovesBytesThroughItsMemory) {
  runtime::DeviceApi& api = runtime::device_api(GetParam());
  EXPECT_EQ(api.device(), GetParam());
  EXPECT_EQ(api.allocate(0), nullptr);
  std::vector<float> values(1000), got(1000, -1.0f);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::vector<float> expected = values;
  const size_t bytes = values.size() * sizeof(float);
  void* const first = api.allocate(bytes);
  void* const second = api.allocate(bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 256, 0u);
  api.upload(first, values.data(), bytes);
  std::fill(values.begin(), values.end(), 0.0f);  // the bytes may change once they are uploaded
  api.copy(second, first, bytes);
  const auto mark = api.mark();
  api.download(got.data(), second, bytes, mark.get());
  EXPECT_EQ(got, expected);
  api.release(first, bytes);
  api.release(second, bytes);
  api.release(nullptr, 0);
  api.synchronize();
  api.trim();
}

TEST_P(EveryDevice, PutsArraysIntoItsMemory) {
  const AnyArray here = Array<float>{1, 2, 3};
  const AnyArray there = runtime::device_api(GetParam()).put(here);
  EXPECT_EQ(there.device(), GetParam());
  EXPECT_EQ(there.storage().device_memory() == nullptr, runtime::has_host_memory(GetParam()));
  EXPECT_EQ(std::memcmp(there.data(), here.data(), there.bytes()), 0);
  // An array that is there already is not copied.
  const AnyArray again = runtime::device_api(GetParam()).put(there);
  EXPECT_TRUE(again.storage() == there.storage());
  const AnyArray back = runtime::device_api(cpu()).put(there);
  EXPECT_EQ(back.device(), cpu());
  EXPECT_EQ(std::memcmp(back.data(), here.data(), back.bytes()), 0);
}

TEST_P(EveryDevice, CompilesThroughTheSameStages) {
  const auto f = jit([](auto x) { return sum(x * x); }, {.device = GetParam()});
  const auto lowered = f.lower(Array<float>{1, 2, 3});
  runtime::CompileOptions options;
  options.device = GetParam();
  const Graph graph = lowered.graph();
  const std::vector<runtime::Strides> strides = {row_major_strides(graph.shape(graph.inputs()[0]))};
  {
    runtime::Compilation c(graph, strides, options);
    runtime::run_passes(c, "trace", runtime::last_program_pass(c.kind));
    EXPECT_EQ(c.program->kernels.size(), 1u);
    EXPECT_EQ(runtime::make_llvm_ir(c, runtime::last_program_pass(c.kind)), lowered.llvm_ir().str());
  }
  runtime::Compilation c(graph, strides, options);
  EXPECT_EQ(runtime::make_assembly(c, "trace"), lowered.assembly().str());
  EXPECT_EQ(runtime::passes_of(GetParam().kind).front().info.name, "trace");
}

TEST(Devices, TheHostLaunchesNoKernels) {
  EXPECT_THAT([] { runtime::kernel_device(cpu(), "here"); },
              ThrowsMessage<DeviceError>(HasSubstr("here: device cpu launches no kernels")));
  EXPECT_EQ(runtime::kernel_device(gpu_sim()).device(), gpu_sim());
  EXPECT_THAT([] { runtime::device_api({Device::Kind::cpu, 1}, "here"); },
              ThrowsMessage<DeviceError>(HasSubstr("is not available, there is one of its kind")));
}

TEST(Devices, OnlyTheHostKeepsTheOrderOfSums) {
  EXPECT_FALSE(runtime::device_api(cpu()).varies_order_of_sums());
  EXPECT_TRUE(runtime::device_api(gpu_sim()).varies_order_of_sums());
}

}  // namespace
}  // namespace calque
