// Arrays on the simulator's device: copies, reads from the host, and operations that stay on the device.
#include <sstream>

#include <gmock/gmock.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque {
namespace {

using F = Array<float>;
using testing::HasSubstr;
using testing::ThrowsMessage;

F on_sim(const F& a) { return a.to(gpu_sim()); }

TEST(DeviceArrays, GoThereAndBack) {
  const F a = {{1, 2, 3}, {4, 5, 6}};
  const F b = on_sim(a);
  EXPECT_EQ(b.device(), gpu_sim());
  EXPECT_EQ(a.device(), cpu());
  const F c = b.to(cpu());
  EXPECT_EQ(c.device(), cpu());
  EXPECT_TRUE(array_equal(a, c));
  EXPECT_EQ(b.to(gpu_sim()).host().data(), b.host().data());  // already there
}

TEST(DeviceArrays, AreReadFromTheHost) {
  const F b = on_sim({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(b(1, 2), 6);
  EXPECT_EQ(b.host()[3], 4);
  EXPECT_EQ(b.host().data(), b.host().data());  // fetched once
  EXPECT_EQ(b.reshape({3, 2})(2, 1), 6);
  EXPECT_EQ(b.reshape({3, 2}).device(), gpu_sim());
  EXPECT_EQ(on_sim(F(2.5f)).item(), 2.5f);
  std::ostringstream text, wanted;
  text << b;
  wanted << b.to(cpu());
  EXPECT_EQ(text.str(), wanted.str());
  const Eigen::MatrixXf m = b;
  EXPECT_EQ(m(1, 0), 4);
}

TEST(DeviceArrays, CompareAndSave) {
  const F a = {1, 2, 3};
  EXPECT_TRUE(array_equal(on_sim(a), a));
  EXPECT_TRUE(allclose(on_sim(a), on_sim(a)));
  const std::string path = testing::TempDir() + "/device_array.npy";
  save_npy(path, on_sim(a));
  EXPECT_TRUE(array_equal(load_npy<float>(path), a));
}

TEST(DeviceArrays, MayHaveNoElements) {
  const F none = on_sim(F::zeros({0, 3}));
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.host().size(), 0u);
  EXPECT_EQ((none + none).shape(), (Shape{0, 3}));
}

TEST(DeviceArrays, OperationsStayThere) {
  const F a = on_sim({1, 2, 3});
  const F b = exp(a) * 2.0f + a;
  EXPECT_EQ(b.device(), gpu_sim());
  EXPECT_TRUE(allclose(b, exp(F{1, 2, 3}) * 2.0f + F{1, 2, 3}));
  EXPECT_EQ(sum(a).item(), 6);
  EXPECT_EQ(a[1].device(), gpu_sim());
  EXPECT_EQ(a[1].item(), 2);
}

TEST(DeviceArrays, OperandsOnTwoDevicesAreAnError) {
  const F a = {1, 2, 3};
  EXPECT_THAT([&] { on_sim(a) + a; }, ThrowsMessage<DeviceError>(HasSubstr("operands are on different devices, gpu_sim "
                                                                           "and cpu; move one with to()")));
}

TEST(DeviceArrays, DevicesAreListed) {
  const std::vector<Device> all = devices();
  EXPECT_EQ(all.front(), cpu());
  EXPECT_EQ(all.back(), gpu_sim());
  EXPECT_EQ(parse_device("gpu_sim"), gpu_sim());
  EXPECT_EQ(parse_device("gpu"), gpu(0));
  EXPECT_EQ(parse_device("gpu:3"), gpu(3));
  for (const char* bad : {"", "gpu:", "gpu:-1", "gpu:1x", "GPU", "cuda"}) {
    EXPECT_THAT([&] { parse_device(bad); },
                ThrowsMessage<DeviceError>(HasSubstr("device: cpu, gpu_sim, gpu or gpu:N was expected, got ")));
  }
  synchronize();
}

TEST(DeviceArrays, GpuThatIsNotThereSaysWhy) {
  EXPECT_THAT([] { F{1}.to(gpu(77)); }, ThrowsMessage<DeviceError>(HasSubstr("to: device gpu:77 is not available, ")));
}

}  // namespace
}  // namespace calque
