// Threads share devices: their work is executed in one order, their memory comes from one pool.
#include <thread>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "stand_in.h"

namespace calque {
namespace {

using F = Array<float>;

const bool opened = (test::StandIn::get(), true);  // before the first use of a GPU

void call_from_threads(Device device) {
  const auto f = jit([](auto x) {
    return fori_loop(0, 3, [](auto i, auto s) { return flip(s) / (1.0f + sum(s)) + cast<float>(i); }, x);
  });
  const F x = {1, 2, 3, 4}, wanted = f(x), shared = x.to(device);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        F own = F::full({4}, static_cast<float>(t)).to(device);
        EXPECT_TRUE(allclose(f(shared), wanted));
        EXPECT_EQ((own * 2.0f)(3), 2 * static_cast<float>(t));
        EXPECT_EQ(shared(2), 3);  // fetched once, by the first thread
      }
    });
  }
}

TEST(DeviceThreads, ShareTheSimulator) { call_from_threads(gpu_sim()); }

TEST(DeviceThreads, ShareAGpu) {
  ASSERT_TRUE(opened);
  call_from_threads(gpu());
  EXPECT_TRUE(test::StandIn::get().problems().empty());
}

}  // namespace
}  // namespace calque
