// Results of collectives in the memory of their operands, of outputs and of donated arguments.
#include <atomic>
#include <complex>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/calque.h"

#include "collectives/late_group.h"
#include "transform/simplify/inline_calls.h"

namespace calque::test {
namespace {

using D = Array<double>;
using Group = std::shared_ptr<const ProcessGroup>;
using testing::HasSubstr;
using testing::Not;

/// One of ranks that are threads, which counts the calls whose result is in the memory of the operand.
class Counting final : public ProcessGroup {
 public:
  explicit Counting(Group rank) : ProcessGroup("counting", rank->size(), rank->rank()), rank_(std::move(rank)) {}
  void run(const CollectiveCall& call, const void* operand, void* result) const override {
    ++calls;
    aliased += operand == result ? 1 : 0;
    rank_->run(call, operand, result);
  }
  mutable std::atomic<int> calls = 0, aliased = 0;

 private:
  Group rank_;
};

constexpr int kRanks = 3;
constexpr int64_t kCount = 12;

D numbers(int64_t rank, int64_t count = kCount) { return sin(D::arange(count) + 10.0 * static_cast<double>(rank)); }

template <class F, class... X>
std::string plan_of(const F& f, const X&... x) {
  return f.lower(x...).plan().str();
}
template <class F, class... X>
std::string explained(const F& f, const X&... x) {
  std::ostringstream out;
  out << f.explain(x...);
  return out.str();
}

/// f(communicate, x) compiled gives on each rank what the reference gives; returns how many of the calls of a rank were
/// in place.
template <class F>
int aliased_calls(const F& f, Collective kind, const JitOptions& options = {}) {
  int aliased = -1;
  on_ranks(kRanks, [&](const Group& rank) {
    const auto counting = std::make_shared<const Counting>(rank);
    const auto call = [&](const auto& group) {
      return [=](const auto& x) {
        const bool to_next = kind == Collective::send_receive;
        const int64_t peer = to_next ? (rank->rank() + 1) % kRanks : 1, source = (rank->rank() + kRanks - 1) % kRanks;
        return communicate(Group(group), kind, x, ReduceOp::sum, peer, source);
      };
    };
    const D x = numbers(rank->rank()).reshape({kRanks, kCount / kRanks});
    const Graph graph = jit([&](auto v) { return f(call(rank), v); }).trace(spec<double>({kRanks, kCount / kRanks}));
    const std::vector<AnyArray> inputs{x.any()};
    const AnyArray want = reference::evaluate(transform::inline_calls(graph), inputs)[0];
    JitOptions strict = options;
    strict.strict = true;
    const D got = jit([&](auto v) { return f(call(counting), v); }, strict)(D(x + 0.0));
    EXPECT_EQ(difference(got.any(), want), "") << to_string(kind);
    if (rank->rank() == 0) aliased = counting->aliased;
    return 0;
  });
  return aliased;
}

TEST(InPlace, WhereLibrariesDoNotCopyTheOperandFirst) {
  const auto f = [](const auto& call, const auto& x) { return call(x * 2.0) * 3.0; };
  for (const Collective kind : {Collective::all_reduce, Collective::broadcast, Collective::scan})
    EXPECT_EQ(aliased_calls(f, kind), 1) << to_string(kind);
  for (const Collective kind : {Collective::reduce, Collective::send_receive, Collective::all_to_all})
    EXPECT_EQ(aliased_calls(f, kind), 0) << to_string(kind);
}

TEST(InPlace, OneCallAfterAnother) {
  const auto f = [](const auto& call, const auto& x) { return call(call(call(x + 1.0)) * 0.5); };
  EXPECT_EQ(aliased_calls(f, Collective::all_reduce), 3);
  EXPECT_EQ(aliased_calls(f, Collective::scan), 3);
}

TEST(InPlace, NotOverWhatIsReadLater) {
  const auto reads = [](const auto& call, const auto& x) {
    const auto y = cumsum(x, 1);
    return call(y) * y;
  };
  EXPECT_EQ(aliased_calls(reads, Collective::all_reduce), 0);
  const auto communicates = [](const auto& call, const auto& x) {
    const auto y = cumsum(x, 1);
    return call(y) + 2.0 * call(y);
  };
  EXPECT_EQ(aliased_calls(communicates, Collective::all_reduce), 1);
  const auto changes = [](const auto& call, const auto& x) {
    const auto y = cumsum(x, 1);
    const auto z = y.set(0, all, 7.0);
    return call(y) + z;
  };
  EXPECT_EQ(aliased_calls(changes, Collective::all_reduce), 0);
}

TEST(InPlace, NotOverArguments) {
  const auto f = [](const auto& call, const auto& x) { return call(x) + 0.0 * x; };
  EXPECT_EQ(aliased_calls(f, Collective::all_reduce), 0);
  const auto once = [](const auto& call, const auto& x) { return call(x) * 2.0; };
  EXPECT_EQ(aliased_calls(once, Collective::all_reduce), 0);
  EXPECT_EQ(aliased_calls(once, Collective::all_reduce, {.donate = {0}}), 1);
  // Nothing is computed in the argument.
  const auto sums = [](const auto& call, const auto& x) { return sum(call(x), {1}); };
  EXPECT_EQ(aliased_calls(sums, Collective::all_reduce, {.donate = {0}}), 0);
}

TEST(InPlace, InLoopsAndBranches) {
  const auto carried = [](const auto& call, const auto& x) {
    return fori_loop(0, 5, [&](auto, auto c) { return call(c) * 0.3; }, x);
  };
  const auto computed = [](const auto& call, const auto& x) {
    return fori_loop(0, 5, [&](auto, auto c) { return call(flip(c, {1}) * 0.3) + 1.0; }, x);
  };
  const auto doubly_buffered = [](const auto& call, const auto& x) {
    return fori_loop(0, 5, [&](auto, auto c) { return flip(call(c) * 0.3, {1}) + call(c * 0.1); }, x);
  };
  const auto next_value = [](const auto& call, const auto& x) {
    return fori_loop(0, 4, [&](auto, auto c) { return call(cumsum(c, 1) * 0.3); }, x);
  };
  const auto of_a_loop = [](const auto& call, const auto& x) {
    const auto inner = [&](auto v) { return fori_loop(0, 3, [](auto, auto c) { return flip(c, {1}) * 0.5; }, v); };
    return fori_loop(0, 3, [&](auto, auto c) { return call(inner(c)) + inner(call(c) * 0.1); }, x);
  };
  const auto swapped = [](const auto& call, const auto& x) {
    const auto body = [&](auto, auto state) {
      const auto [a, b] = state;
      return std::tuple{b, call(a) * 0.3 + b};
    };
    const auto [a, b] = fori_loop(0, 5, body, std::tuple{x, x + 1.0});
    return a + b;
  };
  const auto counted = [](const auto& call, const auto& x) {
    return while_loop([](auto c) { return sum(c) < 30.0; }, [&](auto c) { return call(c) * 0.1 + 2.0; }, x * 0.0);
  };
  const auto branches = [](const auto& call, const auto& x) {
    return cond(sum(x) < 100.0, [&](auto v) { return call(flip(v, {1}) * 0.5); }, [](auto v) { return v * 3.0; }, x);
  };
  const auto stacked = [](const auto& call, const auto& x) {
    const auto step = [&](auto c, auto row) {
      const auto sums = call(cumsum(row, 0) * 2.0);
      return std::pair{c + sum(sums), sums};
    };
    return std::get<1>(scan(step, sum(x), x));
  };
  const auto updated = [](const auto& call, const auto& x) {
    return fori_loop(0, 3, [&](auto i, auto c) { return call(c.set(i, all, c[i] * 2.0)) * 0.3; }, x);
  };
  EXPECT_EQ(aliased_calls(carried, Collective::all_reduce), 5);
  EXPECT_EQ(aliased_calls(computed, Collective::all_reduce), 5);
  EXPECT_EQ(aliased_calls(next_value, Collective::scan), 4);
  EXPECT_GE(aliased_calls(doubly_buffered, Collective::all_reduce), 5);
  EXPECT_GE(aliased_calls(of_a_loop, Collective::all_reduce), 3);
  EXPECT_GE(aliased_calls(swapped, Collective::all_reduce), 0);
  EXPECT_EQ(aliased_calls(counted, Collective::all_reduce), 2);
  EXPECT_EQ(aliased_calls(branches, Collective::all_reduce), 1);
  EXPECT_EQ(aliased_calls(stacked, Collective::all_reduce), kRanks);
  EXPECT_GE(aliased_calls(updated, Collective::all_reduce), 0);
}

TEST(InPlace, OfEveryElementType) {
  const auto late = std::make_shared<const Late>();
  int calls = 0;
  const auto check = [&](const auto& x) {
    const auto f = jit([&](auto v) { return communicate(Group(late), Collective::all_reduce, v + v); });
    EXPECT_TRUE(array_equal(f(x), x + x));
    EXPECT_EQ(late->aliased, ++calls);
  };
  check(D{1, 2, 3});
  check(D(2.0));
  check(Array<float>{{1, 2}, {3, 4}});
  check(Array<int64_t>{1, 2});
  check(Array<uint8_t>{1, 2, 3});
  check(cast<bfloat16>(D{1, 2}));
  check(Array<std::complex<double>>{{1, 2}, {3, 4}});
}

/// What an output is: computed in its own memory, without workspace and without copies.
TEST(InPlace, OutputsAreWrittenDirectly) {
  const auto late = std::make_shared<const Late>();
  const D x = D::arange(4000).reshape({1, 4000});
  const auto expect_direct = [&](Collective kind) {
    const auto f = jit([&](auto v) { return communicate(Group(late), kind, v, ReduceOp::sum, 0, 0); });
    const std::string plan = plan_of(f, x);
    EXPECT_THAT(plan, HasSubstr("workspace 0 bytes")) << to_string(kind);
    EXPECT_THAT(plan, Not(HasSubstr("copy"))) << to_string(kind);
    EXPECT_EQ(unlike(D(f(x).reshape({4000})), D(x.reshape({4000}))), "") << to_string(kind);
  };
  for (const Collective kind :
       {Collective::all_reduce, Collective::reduce, Collective::broadcast, Collective::all_gather, Collective::gather,
        Collective::scatter, Collective::reduce_scatter, Collective::all_to_all, Collective::send_receive,
        Collective::scan})
    expect_direct(kind);
  // What computes the operand computes it in the output.
  const auto f = jit([&](auto v) { return communicate(Group(late), Collective::all_reduce, v * 2.0); });
  EXPECT_THAT(plan_of(f, x), HasSubstr("workspace 0 bytes"));
  EXPECT_THAT(explained(f, x), HasSubstr("  in place: all_reduce of f64[1,4000] (in_place_test.cpp:"));
}

TEST(InPlace, DeadResultsLeaveTheirMemoryToLaterOnes) {
  const auto late = std::make_shared<const Late>();
  const auto f = jit([&](auto v) {
    const auto sum_of = [&](auto w) { return sum(square(communicate(Group(late), Collective::all_gather, w))); };
    return sum_of(v + sum_of(v + sum_of(v)));
  });
  const D x = D::arange(1000);
  std::smatch found;
  const std::string plan = plan_of(f, x);
  ASSERT_TRUE(std::regex_search(plan, found, std::regex("workspace ([0-9]+) bytes"))) << plan;
  EXPECT_LT(std::stoi(found[1]), 2 * 8000 + 1000) << plan;  // one operand and one result at a time
}

const double* memory_of(const D& x) { return x.host().data(); }

/// Ten thousand calls on one donated array: it stays where it is, and nothing is copied.
TEST(InPlace, DonatedArgumentsInLongLoops) {
  const auto train = [](const auto& group) {
    return jit(
        [=](auto w, auto momentum, auto g) {
          const auto total = communicate(Group(group), Collective::all_reduce, g * w);
          const auto next = 0.9 * momentum + total;
          return std::tuple{w - 1e-3 * next, next};
        },
        {.donate = {0, 1}});
  };
  constexpr int kSteps = 10000;
  on_ranks(2, [&](const Group& rank) {
    const auto counting = std::make_shared<const Counting>(rank);
    const auto step = train(counting);
    D w = numbers(rank->rank(), 1000), momentum = D::zeros({1000});
    const D g = numbers(7, 1000);
    EXPECT_THAT(plan_of(step, w, momentum, g), Not(HasSubstr("copied")));
    const double *at = memory_of(w), *other = memory_of(momentum);
    for (int i = 0; i < kSteps; ++i) std::tie(w, momentum) = step(w, momentum, g);
    EXPECT_EQ(memory_of(w), at);
    EXPECT_EQ(memory_of(momentum), other);
    EXPECT_EQ(counting->calls, kSteps);
    EXPECT_EQ(counting->aliased, kSteps);
    return 0;
  });
}

TEST(InPlace, CallsInTheMemoryOfDonatedArguments) {
  const auto late = std::make_shared<const Late>();
  const auto expect_taken = [&](const auto& f, int aliased) {
    const auto g = jit(f, {.donate = {0}});
    D x = D::arange(3000).reshape({1, 3000});
    const D want = f(D(x + 0.0));
    late->aliased = 0;
    EXPECT_THAT(plan_of(g, x), HasSubstr("output 0: f64[1,3000] in the memory of input 0"));
    const double* const memory = memory_of(x);
    const D got = g(x);
    EXPECT_EQ(memory_of(got), memory);
    EXPECT_EQ(unlike(got, want), "");
    EXPECT_EQ(late->aliased, aliased);
  };
  const auto call = [&](Collective kind, const auto& x) {
    return communicate(Group(late), kind, x, ReduceOp::sum, 0, 0);
  };
  expect_taken([&](auto x) { return call(Collective::all_reduce, x); }, 1);
  expect_taken([&](auto x) { return call(Collective::scan, x * 2.0); }, 1);
  expect_taken([&](auto x) { return call(Collective::broadcast, x) + 1.0; }, 1);
  expect_taken([&](auto x) { return call(Collective::all_reduce, call(Collective::broadcast, x * 3.0) + 1.0) * 0.5; },
               2);
  expect_taken([&](auto x) { return call(Collective::send_receive, x) * 0.5; }, 0);
  expect_taken([&](auto x) { return call(Collective::all_gather, x[0] + 1.0); }, 0);
  expect_taken([&](auto x) { return call(Collective::reduce, x * 2.0); }, 0);
}

/// Between start and finish nothing else is in the memory of the call, wherever that is.
TEST(InPlace, MemoryOfOverlappedCallsIsBusy) {
  const auto late = std::make_shared<const Late>();
  const auto f = jit(
      [&](auto x, auto y) {
        const auto a = communicate(Group(late), Collective::all_reduce, cumsum(x, 0));
        const auto busy = cumsum(exp(sin(y)), 0);
        const auto more = cumsum(busy * 0.5, 0);
        const auto b = communicate(Group(late), Collective::scan, more);
        const auto beside = cumsum(cos(y * 0.5), 0);
        return std::tuple{a * 2.0, b + 1.0, beside * 3.0};
      },
      {.donate = {0}});
  const D x = sin(D::arange(20000)), y = D::arange(100000) * 1e-4;
  const D a = cumsum(x, 0) * 2.0, b = cumsum(cumsum(exp(sin(y)), 0) * 0.5, 0) + 1.0;
  const D beside = cumsum(cos(y * 0.5), 0) * 3.0;
  EXPECT_THAT(explained(f, x, y), HasSubstr("  in place: all_reduce of f64[20000] (in_place_test.cpp:"));
  const auto [p, q, r] = f(D(x + 0.0), y);
  EXPECT_THAT(late->calls, HasSubstr("start start finish finish"));
  EXPECT_EQ(late->aliased, 2);
  EXPECT_TRUE(allclose(p, a, 1e-12, 1e-12));
  EXPECT_TRUE(allclose(q, b, 1e-12, 1e-12));
  EXPECT_TRUE(allclose(r, beside, 1e-12, 1e-12));
}

}  // namespace
}  // namespace calque::test
