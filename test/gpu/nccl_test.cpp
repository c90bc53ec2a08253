// NCCL on the stand-in, as a group of one rank uses it: libraries that cannot be used, the order of calls and kernels,
// failures. test/mpi/nccl.cpp has more ranks.
#include "runtime/cuda/nccl.h"

#include <complex>
#include <limits>

#include <gmock/gmock.h>

#include "calque/calque.h"

#include "collectives/communicate.h"
#include "gpu/nccl_rank.h"
#include "runtime/device/device_api.h"
#include "stand_in.h"

namespace calque {
namespace {

using F = Array<float>;
using runtime::NcclCommunicator;
using test::communicate;
using test::NcclRank;
using test::StandIn;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
namespace nccl = runtime::nccl;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

class Nccl : public testing::Test {
 protected:
  ~Nccl() override {
    group.reset();
    one.reset();
    EXPECT_EQ(driver.live("communicator"), 0u);
    EXPECT_THAT(driver.problems(), IsEmpty());
  }
  static std::shared_ptr<NcclCommunicator> start() {
    DeviceQueue& queue = *runtime::device_api(gpu()).queue();
    const auto& library = nccl::library();
    return std::make_shared<NcclCommunicator>(library, queue, NcclCommunicator::unique_id(*library, queue), 1, 0);
  }
  static std::string problem_of(const std::string& path) {
    std::string problem;
    EXPECT_EQ(nccl::open_library(path, false, problem), nullptr);
    return problem;
  }
  StandIn& driver = StandIn::get();
  std::shared_ptr<NcclCommunicator> one = start();
  std::shared_ptr<NcclRank> group = std::make_shared<NcclRank>(one, gpu());
};

TEST_F(Nccl, LibrariesThatCannotBeUsedAreToldFrom) {
  ASSERT_TRUE(opened);
  EXPECT_THAT(problem_of("/nowhere/libnccl.so.2"), HasSubstr("/nowhere/libnccl.so.2 cannot be opened: "));
  EXPECT_THAT(problem_of(test::stand_in_refusing()), HasSubstr("has no ncclGetVersion; version 2.10.0 or later"));
  driver.set("nccl_version", 2804);
  EXPECT_THAT(problem_of(test::stand_in_cuda()), HasSubstr("is NCCL 2.8.4; version 2.10.0 or later is needed"));
  driver.set("nccl_version", 22809);
  std::string problem;
  EXPECT_EQ(nccl::open_library("libcalque_not_loaded.so", true, problem), nullptr);
  EXPECT_EQ(problem, "libcalque_not_loaded.so cannot be opened");
  const auto library = nccl::open_library(test::stand_in_cuda(), false, problem = {});
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(nccl::description(*library), "2.28.9, " + test::stand_in_cuda());
}

TEST_F(Nccl, GpusAreIdentifiedByTheirHardware) {
  EXPECT_EQ(runtime::device_api(gpu()).queue()->hardware().size(), 16u);
  EXPECT_EQ(runtime::device_api(gpu_sim()).queue(), nullptr);
  EXPECT_EQ(runtime::device_api(cpu()).queue(), nullptr);
}

// A collective is work of the stream like kernels: nothing waits for it before its result is read.
TEST_F(Nccl, CallsAreInOrderWithKernels) {
  const auto f = jit([&](auto x) {
    auto y = x;
    for (int i = 0; i < 4; ++i) y = sum(sin(y) * matmul(y, y)) * y;  // a chain, which is replayed as a graph
    y = communicate(group, Collective::all_reduce, y);
    for (int i = 0; i < 4; ++i) y = sum(cos(y) + matmul(y, y)) * y * 0.01f;
    return y;
  });
  const auto plain = jit([](auto x) {
    auto y = x;
    for (int i = 0; i < 4; ++i) y = sum(sin(y) * matmul(y, y)) * y;
    for (int i = 0; i < 4; ++i) y = sum(cos(y) + matmul(y, y)) * y * 0.01f;
    return y;
  });
  const F x = F::linspace(0.1f, 0.2f, 16).reshape({4, 4}), want = plain(x);
  const F there = x.to(gpu());
  f(there);  // memory is there
  for (int call = 0; call < 4; ++call) {
    const int waits = driver.calls("cuStreamSynchronize"), events = driver.calls("cuEventSynchronize");
    const int fetches = driver.calls("cuMemcpyDtoHAsync_v2"), calls = driver.calls("ncclAllReduce");
    const F y = f(there);
    EXPECT_EQ(driver.calls("cuStreamSynchronize"), waits);
    EXPECT_EQ(driver.calls("cuEventSynchronize"), events);
    EXPECT_EQ(driver.calls("cuMemcpyDtoHAsync_v2"), fetches);
    EXPECT_EQ(driver.calls("ncclAllReduce"), calls + 1);
    EXPECT_GT(driver.live("work"), 0u);
    EXPECT_TRUE(allclose(y.to(cpu()), want, 1e-4, 1e-4));
  }
  EXPECT_GT(driver.calls("cuGraphLaunch"), 0);
  EXPECT_EQ(group->through_host, 0);
}

template <class T>
Array<T> numbers() {
  return cast<T>(Array<int32_t>{{3, 1, 4}});
}

// Of one rank every call is a copy, also where the result replaces the operand.
TEST_F(Nccl, EveryCallOfEveryTypeIsACopy) {
  const auto check = [&]<class T>() {
    const Array<T> x = numbers<T>(), there = x.to(gpu()), row = x[0];
    const auto same = [&](Collective kind, const Array<T>& want, const Array<T>& y, int64_t peer, int64_t source) {
      const Array<T> got = communicate(group, kind, y, ReduceOp::sum, peer, source);
      EXPECT_EQ(got.device(), gpu());
      EXPECT_TRUE(array_equal(got.to(cpu()), want)) << to_string(kind) << " of " << name(dtype_of<T>);
      const auto f = jit([&](auto v) { return communicate(group, kind, v + v, ReduceOp::sum, peer, source); });
      EXPECT_TRUE(array_equal(f(y).to(cpu()), Array<T>(want + want))) << to_string(kind) << " of " << name(dtype_of<T>);
      f.clear_cache();
    };
    same(Collective::all_reduce, x, there, -1, -1);
    same(Collective::reduce, x, there, 0, -1);
    same(Collective::broadcast, x, there, 0, -1);
    same(Collective::all_gather, x.reshape({1, 1, 3}), there, -1, -1);
    same(Collective::gather, x.reshape({1, 1, 3}), there, 0, -1);
    same(Collective::scatter, row, there, 0, -1);
    same(Collective::reduce_scatter, row, there, -1, -1);
    same(Collective::all_to_all, x, there, -1, -1);
    same(Collective::send_receive, x, there, 0, 0);
    same(Collective::send_receive, Array<T>::zeros({1, 3}), there, -1, -1);
  };
  check.operator()<float>();
  check.operator()<bfloat16>();
  check.operator()<int64_t>();
  check.operator()<std::complex<double>>();
  EXPECT_EQ(group->through_host, 0);
}

TEST_F(Nccl, WhatItDoesNotMeanGoesThroughTheHost) {
  const auto takes = [](Collective kind, DType dtype, ReduceOp op) {
    CollectiveCall call;
    call.kind = kind;
    call.op = op;
    call.operand = call.result = Type{dtype, {2}};
    return NcclCommunicator::takes(call);
  };
  for (const Collective kind : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
    for (const DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      EXPECT_TRUE(takes(kind, d, ReduceOp::sum) && takes(kind, d, ReduceOp::prod));
      EXPECT_FALSE(takes(kind, d, ReduceOp::max) || takes(kind, d, ReduceOp::min));  // NaN
    }
    for (const DType d : {DType::i8, DType::u8, DType::i32, DType::u32, DType::i64, DType::u64})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min})
        EXPECT_TRUE(takes(kind, d, op));
    for (const DType d : {DType::i16, DType::u16}) EXPECT_FALSE(takes(kind, d, ReduceOp::sum));
    for (const DType d : {DType::c64, DType::c128})
      EXPECT_TRUE(takes(kind, d, ReduceOp::sum) && !takes(kind, d, ReduceOp::prod));
    EXPECT_TRUE(takes(kind, DType::bool_, ReduceOp::all) && takes(kind, DType::bool_, ReduceOp::any));
  }
  EXPECT_TRUE(takes(Collective::all_to_all, DType::i16, ReduceOp::sum));
  EXPECT_FALSE(takes(Collective::scan, DType::f32, ReduceOp::sum));
  EXPECT_FALSE(takes(Collective::barrier, DType::bool_, ReduceOp::sum));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const F got = communicate(group, Collective::all_reduce, F{nan, 1}.to(gpu()), ReduceOp::max);
  EXPECT_TRUE(array_equal(got.to(cpu()), F{nan, 1}, true));
  EXPECT_EQ(got.device(), gpu());
  EXPECT_EQ(group->through_host, 1);
}

TEST_F(Nccl, FailuresAreExceptionsAndLast) {
  const F there = F{1, 2}.to(gpu());
  communicate(group, Collective::all_reduce, there);
  driver.fail("ncclAllReduce", 2);
  EXPECT_THAT([&] { communicate(group, Collective::all_reduce, there); },
              ThrowsMessage<nccl::Failure>("NCCL reports unhandled system error, as the stand-in was told"));
  EXPECT_THAT(
      [&] { communicate(group, Collective::broadcast, there, ReduceOp::sum, 0); },
      ThrowsMessage<nccl::Failure>(HasSubstr("an earlier call has failed: NCCL reports unhandled system error")));
}

TEST_F(Nccl, FailuresInGroupsEndTheGroup) {
  driver.fail("ncclRecv", 2);
  const F there = F{1, 2}.to(gpu());
  EXPECT_THROW(communicate(group, Collective::send_receive, there, ReduceOp::sum, 0, 0), nccl::Failure);
  group = std::make_shared<NcclRank>(one = start(), gpu());
  EXPECT_TRUE(array_equal(communicate(group, Collective::all_reduce, there).to(cpu()), F{1, 2}));
}

TEST_F(Nccl, FailuresThatAreFoundLaterFailTheNextCall) {
  const F there = F{1, 2}.to(gpu());
  communicate(group, Collective::all_reduce, there);
  driver.set("nccl_async_error", 2);
  EXPECT_THROW(communicate(group, Collective::all_reduce, there), nccl::Failure);
  driver.set("nccl_async_error", 0);
  EXPECT_THROW(communicate(group, Collective::all_reduce, there), nccl::Failure);
}

TEST_F(Nccl, FailuresToStartAreExceptions) {
  for (const char* entry : {"ncclGetUniqueId", "ncclCommInitRank", "ncclCommInitRank, at its end"}) {
    driver.fail(entry, 2);
    EXPECT_THAT([] { start(); }, ThrowsMessage<nccl::Failure>(HasSubstr("NCCL reports unhandled system error")))
        << entry;
    EXPECT_TRUE(driver.failed());
  }
}

}  // namespace
}  // namespace calque
