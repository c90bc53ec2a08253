// When the calls of compiled functions happen: in the order in which they were written, each time, neither dropped nor
// merged.
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/thread_ranks.h"

namespace calque::test {
namespace {

using D = Array<double>;
using I = Array<int32_t>;

/// A group of one that notes its calls.
class Noting final : public ProcessGroup {
 public:
  Noting() : ProcessGroup("noting", 1, 0) {}
  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    calls += std::string(calls.empty() ? "" : " ") + std::string(to_string(call.op));
    if (call.op == ReduceOp::min) throw Error("refused");
    const size_t bytes = static_cast<size_t>(call.result.shape.num_elements()) * size_of(call.result.dtype);
    if (bytes != 0 && operand != result) std::memcpy(result, operand, bytes);
  }
  mutable std::string calls;
};

template <class X>
X sum_of(const std::shared_ptr<const Noting>& group, const X& x, ReduceOp op = ReduceOp::sum) {
  return communicate(std::shared_ptr<const ProcessGroup>(group), Collective::all_reduce, x, op);
}

TEST(Effects, HappenInOrderUsedOrNot) {
  const auto group = std::make_shared<const Noting>();
  const auto f = jit([&](auto x) {
    sum_of(group, x);
    const auto kept = sum_of(group, x, ReduceOp::prod);
    sum_of(group, x, ReduceOp::max);
    sum_of(group, x);
    sum_of(group, x);  // the same again is another message
    return kept;
  });
  f(D{1});
  EXPECT_EQ(group->calls, "sum prod max sum sum");
  f(D{2});
  EXPECT_EQ(group->calls, "sum prod max sum sum sum prod max sum sum");
}

TEST(Effects, HappenInLoopsAndInTheBranchThatIsTaken) {
  const auto group = std::make_shared<const Noting>();
  const auto loop = jit([&](auto x, auto n) {
    x = fori_loop(0, n, [&](auto, auto c) { return sum_of(group, c) + 1.0; }, x);
    x = while_loop([](auto c) { return c < 10.0; }, [&](auto c) { return sum_of(group, c, ReduceOp::prod) * 2.0; }, x);
    return cond(x > 15.0, [&](auto c) { return sum_of(group, c, ReduceOp::max); }, [](auto c) { return c; }, x);
  });
  EXPECT_EQ(loop(1.0, 2).item(), 12);
  EXPECT_EQ(group->calls, "sum sum prod prod");
  group->calls.clear();
  EXPECT_EQ(loop(9.0, 1).item(), 10);
  EXPECT_EQ(group->calls, "sum");
  group->calls.clear();
  EXPECT_EQ(loop(20.0, 0).item(), 20);
  EXPECT_EQ(group->calls, "max");
}

TEST(Effects, HappenOnceWhereOrdinaryIfsAreFollowed) {
  const auto group = std::make_shared<const Noting>();
  const auto f = jit(
      [&](auto x) {
        const auto total = sum_of(group, x);
        if (total > 1.0) return sum_of(group, total, ReduceOp::prod);
        return total;
      },
      {.branches = branches::trace});
  for (const double x : {0.5, 2.0, 0.5, 2.0}) {
    group->calls.clear();
    EXPECT_EQ(f(x).item(), x);
    EXPECT_EQ(group->calls, x > 1 ? "sum prod" : "sum");
  }
}

TEST(Effects, GradientsCommunicateForwardAndBackward) {
  const auto group = std::make_shared<const Noting>();
  const auto f = [&](auto x) { return sum(square(sum_of(group, x))); };
  EXPECT_EQ(unlike(jit(grad(f))(D{1, 2}), (D{2, 4})), "");
  EXPECT_EQ(group->calls, "sum sum");
}

TEST(Effects, ExceptionsReachTheCaller) {
  const auto group = std::make_shared<const Noting>();
  const auto f = jit([&](auto x) { return sum_of(group, x, ReduceOp::min); });
  EXPECT_THROW(f(D{1}), Error);
  EXPECT_THROW(f(D{1}), Error);
}

TEST(Effects, SimulatorAndReferenceBackendRunThem) {
  const auto group = std::make_shared<const Noting>();
  const auto f = [&](auto x) { return fori_loop(0, 3, [&](auto, auto c) { return sum_of(group, c) * 2.0; }, x + 1.0); };
  const D x{1, 2, 3}, want{16, 24, 32};
  JitOptions options;
  options.device = Device{Device::Kind::gpu_sim, 0};
  EXPECT_EQ(unlike(jit(f, options)(x).to(cpu()), want), "");
  EXPECT_EQ(group->calls, "sum sum sum");
}

TEST(Effects, OrdinaryElementTypesAndComplexNumbers) {
  const auto group = std::make_shared<const Noting>();
  const auto same = [&](const auto& x) {
    const auto f = jit([&](auto v) { return sum_of(group, v); });
    return array_equal(f(x), x);
  };
  EXPECT_TRUE(same(Array<std::complex<double>>{{1, 2}, {3, 4}}));
  EXPECT_TRUE(same(Array<std::complex<float>>{{1, 2}}));
  EXPECT_TRUE(same(cast<bfloat16>(D{1, 2})));
  EXPECT_TRUE(same(Array<uint8_t>{1, 255}));
  EXPECT_TRUE(same(D::zeros({0})));
  EXPECT_TRUE(same(D(1.0)));
}

/// Ten thousand calls in one loop.
TEST(Effects, LongLoops) {
  const auto group = std::make_shared<const Noting>();
  const auto f =
      jit([&](auto x) { return fori_loop(0, 10000, [&](auto, auto c) { return sum_of(group, c) + 1; }, x); });
  EXPECT_EQ(f(I(0)).item(), 10000);
}

}  // namespace
}  // namespace calque::test
