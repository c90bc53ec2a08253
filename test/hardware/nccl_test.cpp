// Collectives of arrays on GPUs, each with a rank of its own in a thread: through NCCL where it is installed, and
// through host memory. One GPU is a group of one rank.
#include <thread>

#include <calque/calque.h>
#include <gtest/gtest.h>

#include "collectives/communicate.h"
#include "gpu/nccl_rank.h"
#include "runtime/device/device_api.h"

namespace calque::test {
namespace {

using F = Array<float>;

class NcclHardware : public testing::Test {
  void SetUp() override {
    if (!gpu_available()) GTEST_SKIP() << "no GPU here";
    if (runtime::nccl::library() == nullptr) GTEST_SKIP() << "no NCCL here";
  }
};

int count_of_gpus() {
  int count = 0;
  for (const Device& device : devices()) count += device.kind == Device::Kind::gpu ? 1 : 0;
  return count;
}

/// Calls work(group, device) on a thread for each GPU.
template <class Work>
void on_gpus(const Work& work) {
  const int count = count_of_gpus();
  const auto& library = runtime::nccl::library();
  const auto queue_of = [](int r) -> DeviceQueue& { return *runtime::device_api(gpu(r)).queue(); };
  const runtime::nccl::UniqueId id = runtime::NcclCommunicator::unique_id(*library, queue_of(0));
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      try {
        auto nccl = std::make_shared<runtime::NcclCommunicator>(library, queue_of(r), id, count, r);
        work(std::make_shared<const NcclRank>(std::move(nccl), gpu(r), count, r), gpu(r));
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << r << ": " << e.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class T>
Array<T> numbers(int64_t rank, const Shape& shape) {
  return cast<T>((Array<int32_t>::arange(shape.num_elements()) * 7 + static_cast<int32_t>(rank) * 5) % 3 + 1)
      .reshape(shape);
}

template <class T>
void check_collectives(const std::shared_ptr<const NcclRank>& group, Device device) {
  const int64_t size = group->size(), rank = group->rank(), n = 1000;
  std::vector<Array<T>> all, rows;
  for (int64_t r = 0; r < size; ++r) {
    all.push_back(numbers<T>(r, {n}));
    rows.push_back(numbers<T>(r + 50, {size, n}));
  }
  const auto mine = static_cast<size_t>(rank);
  Array<T> sum = all[0], sums = rows[0];
  std::vector<Array<T>> column{rows[0][rank]};
  for (size_t r = 1; r < all.size(); ++r) {
    sum = sum + all[r];
    sums = sums + rows[r];
    column.push_back(rows[r][rank]);
  }
  const Array<T> none = Array<T>::zeros({n});
  const int64_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const auto check = [&](Collective kind, const Array<T>& x, const Array<T>& want, int64_t peer = -1,
                         int64_t source = -1) {
    const auto f = [&](auto v) { return communicate(group, kind, v, ReduceOp::sum, peer, source); };
    const Array<T> there = x.to(device);
    EXPECT_TRUE(array_equal(f(there).to(cpu()), want)) << to_string(kind) << " of " << name(dtype_of<T>);
    const Array<T> compiled = jit([&](auto v) { return f(v + v) - f(v); })(there);
    EXPECT_TRUE(array_equal(compiled.to(cpu()), want)) << to_string(kind) << " of " << name(dtype_of<T>);
  };
  check(Collective::all_reduce, all[mine], sum);
  check(Collective::reduce, all[mine], rank == 0 ? sum : none, 0);
  check(Collective::broadcast, all[mine], all[0], 0);
  check(Collective::all_gather, all[mine], stack(all, 0));
  check(Collective::gather, all[mine], rank == 0 ? stack(all, 0) : Array<T>::zeros({size, n}), 0);
  check(Collective::scatter, rows[mine], rows[0][rank], 0);
  check(Collective::reduce_scatter, rows[mine], sums[rank]);
  check(Collective::all_to_all, rows[mine], stack(column, 0));
  check(Collective::send_receive, all[mine], all[static_cast<size_t>(previous)], next, previous);
  check(Collective::send_receive, all[mine], rank == 0 ? none : all[mine - 1], rank + 1 < size ? rank + 1 : -1,
        rank - 1);
}

TEST_F(NcclHardware, EveryCollectiveOfEveryType) {
  on_gpus([](const auto& group, Device device) {
    check_collectives<float>(group, device);
    check_collectives<double>(group, device);
    check_collectives<float16>(group, device);
    check_collectives<bfloat16>(group, device);
    check_collectives<int8_t>(group, device);
    check_collectives<uint32_t>(group, device);
    check_collectives<int64_t>(group, device);
    check_collectives<std::complex<float>>(group, device);
    check_collectives<std::complex<double>>(group, device);
  });
}

// Megabytes, between kernels, in a loop, without waiting for the device.
TEST_F(NcclHardware, LoopsOfKernelsAndCollectives) {
  on_gpus([](const auto& group, Device device) {
    const auto f = jit([&](auto x) {
      return fori_loop(
          0, 50,
          [&](auto, auto c) {
            const auto total = communicate(group, Collective::all_reduce, sin(c) * 0.5f + 0.1f);
            return total * (1.0f / static_cast<float>(group->size()));
          },
          x);
    });
    const auto alone =
        jit([](auto x) { return fori_loop(0, 50, [](auto, auto c) { return sin(c) * 0.5f + 0.1f; }, x); });
    const F x = sin(F::arange(1 << 20) * 0.001f);
    for (int call = 0; call < 3; ++call) EXPECT_TRUE(allclose(f(x.to(device)).to(cpu()), alone(x), 1e-4, 1e-4));
  });
}

// Maxima of floats, in which NaN counts, are not NCCL's.
TEST_F(NcclHardware, WhatItDoesNotTakeGoesThroughTheHost) {
  auto nccl = [] {
    DeviceQueue& queue = *runtime::device_api(gpu()).queue();
    const auto& library = runtime::nccl::library();
    const auto id = runtime::NcclCommunicator::unique_id(*library, queue);
    return std::make_shared<runtime::NcclCommunicator>(library, queue, id, 1, 0);
  }();
  const auto group = std::make_shared<const NcclRank>(std::move(nccl), gpu());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const F x{nan, 1, 2};
  const auto f =
      jit([&](auto v) { return communicate(group, Collective::all_reduce, v + 1.0f, ReduceOp::max) * 2.0f; });
  EXPECT_TRUE(array_equal(f(x.to(gpu())).to(cpu()), F{nan, 4, 6}, true));
  EXPECT_EQ(group->through_host, 1);
}

}  // namespace
}  // namespace calque::test
