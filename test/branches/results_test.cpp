// What functions that follow their data may take and return: each result is that of the lambda's run on the arguments.
#include "branches/branches.h"

namespace calque::test {
namespace {

using testing::HasSubstr;

TEST(ResultsOfBranches, AreArgumentsAndConstants) {
  const D table{7, 8};
  const auto f = jit(
      [table](auto x, auto y) {
        if (sum(x) > 0.0) return std::tuple{x, y, Tracer<double>(table)};
        if (sum(y) > 0.0) return std::tuple{y, x, Tracer<double>(table)};
        return std::tuple{Tracer<double>(table), x * 2.0, x};
      },
      following());
  const auto check = [&](const D& x, const D& y) {
    const auto [a, b, c] = f(x, y);
    const bool first = sum(x).item() > 0, second = sum(y).item() > 0;
    EXPECT_TRUE(array_equal(a, first ? x : second ? y : table));
    EXPECT_TRUE(array_equal(b, first ? y : second ? x : x * 2.0));
    EXPECT_TRUE(array_equal(c, first || second ? table : x));
  };
  for (int i = 0; i < 3; ++i) {
    check({1, 2}, {3, 4});
    check({-1, -2}, {3, 4});
    check({-1, -2}, {-3, 4});
    check({-1, -2}, {-3, -4});
  }
}

TEST(ResultsOfBranches, AreStructsWithStaticMembers) {
  const auto f = jit(
      [](auto x) {
        using A = decltype(x);
        if (x[0] > 0.0) return std::pair{x * 2.0, static_arg(1)};
        if (x[0] < -1.0) return std::pair<A, Static<int>>{x, static_arg(2)};
        return std::pair{x * 3.0, static_arg(1)};
      },
      following());
  for (const double v : {1.0, -2.0, -0.5, 1.0, -2.0, -0.5, 3.0}) {
    const auto [x, label] = f(D{v, 1});
    EXPECT_EQ(label, v < -1 ? 2 : 1) << v;
    EXPECT_TRUE(array_equal(x, D{v, 1} * (v > 0 ? 2.0 : v < -1 ? 1.0 : 3.0))) << v;
  }
}

TEST(ResultsOfBranches, OfQuestionsAboutArguments) {
  const auto f = jit(
      [](auto flag, auto n, auto x) {
        if (flag) return x * double(int(n));
        if (n) return x + 1.0;
        return x;
      },
      following());
  for (const bool flag : {true, false, true, false}) {
    for (const int64_t n : {0, 2, 0, 3}) {
      EXPECT_EQ(f(flag, n, 5.0).item(), flag ? 5.0 * double(n) : n != 0 ? 6 : 5);
    }
  }
}

TEST(ResultsOfBranches, OfQuestionsAboutConstants) {
  const Array<bool> on(true);
  const Array<int> three(3);
  const auto f = jit(
      [=](auto x) {
        if (Tracer<bool>(on)) x = x * double(int(Tracer<int>(three)));
        if (x > 1.0) return -x;
        return x;
      },
      following());
  for (const double x : {1.0, 0.0, 2.0}) EXPECT_EQ(f(x).item(), 3 * x > 1 ? -3 * x : 3 * x);
}

template <class T>
class ElementsOfBranches : public testing::Test {};
using Elements = testing::Types<int8_t, uint8_t, int32_t, uint64_t, float, float16, bfloat16>;
TYPED_TEST_SUITE(ElementsOfBranches, Elements);
TYPED_TEST(ElementsOfBranches, OfEachType) {
  using T = TypeParam;
  const auto f = jit(
      [](auto x) {
        const auto m = max(x);
        if (m > T(3)) return x + x;
        if (m == T(1)) return x;
        return x * T(3);
      },
      following());
  for (const float v : {5.f, 1.f, 2.f, 5.f, 1.f, 2.f}) {
    const Array<T> x{T(0), T(v)};
    EXPECT_TRUE(array_equal(f(x), v > 3 ? x + x : v == 1 ? x : x * T(3))) << v;
  }
}

TEST(ResultsOfBranches, OfComplexAndBool) {
  using C = std::complex<double>;
  const auto f = jit(
      [](auto z) {
        if (abs(z) > 1.0) return std::tuple{z / abs(z), real(z) > 0.0};
        return std::tuple{z * z, imag(z) > 0.0};
      },
      following());
  for (const C z : {C(3, 4), C(0, 0.5), C(-3, 4), C(0.5, -0.5)}) {
    const auto [w, b] = f(z);
    EXPECT_NEAR(std::abs(w.item() - (std::abs(z) > 1 ? z / std::abs(z) : z * z)), 0, 1e-15);
    EXPECT_EQ(b.item(), std::abs(z) > 1 ? z.real() > 0 : z.imag() > 0);
  }
}

TEST(ResultsOfBranches, OfArraysWithoutElements) {
  const auto f = jit(
      [](auto k, auto x) {
        const auto head = x[range(0, int(k))];
        if (sum(head) > 1.0) return head * 2.0;
        return head;
      },
      following());
  const D x{1, 2, 3};
  for (const int k : {0, 1, 2, 0, 3}) {
    const D head = x[range(0, k)];
    const D y = f(k, x);
    EXPECT_EQ(y.shape(), head.shape());
    EXPECT_TRUE(array_equal(y, k > 1 ? head * 2.0 : head));
  }
  EXPECT_EQ(f(0, x[range(0, 0)]).size(), 0);
}

TEST(ResultsOfBranches, DivideWhereTheyAskFirst) {
  const auto f = jit(
      [](auto a, auto b) {
        if (b == 0) return a * 0 - 1;
        if (a == std::numeric_limits<int>::min()) return a * 0 - 2;
        return a / b + a % b;
      },
      following());
  for (const auto& [a, b] : {std::pair{7, 2}, {7, 0}, {std::numeric_limits<int>::min(), -1}, {9, 4}, {1, 0}}) {
    const int expected = b == 0 ? -1 : a == std::numeric_limits<int>::min() ? -2 : a / b + a % b;
    EXPECT_EQ(f(a, b).item(), expected) << a << " " << b;
  }
}

TEST(ResultsOfBranches, OfDonatedArguments) {
  const auto f = jit(
      [](auto x, auto y) {
        if (sum(y) > 0.0) return x + y;
        if (sum(y) < -5.0) return x - y;
        return x * y;
      },
      {.donate = {0}, .branches = branches::trace});
  const auto check = [&](const D& y) {
    D x = D{1, 2, 3} + 0.0;
    const D kept = x + 0.0;
    const D out = f(x, y);
    const double s = sum(y).item();
    EXPECT_TRUE(array_equal(out, s > 0 ? kept + y : s < -5 ? kept - y : kept * y));
    EXPECT_THAT(message_of<Error>([&] { (void)(x + 1.0).host(); }), HasSubstr("argument 0 of"));
  };
  for (int i = 0; i < 3; ++i) {
    check({1, 2, 3});
    check({-1, -1, -1});
    check({-4, -4, -4});
  }
}

TEST(ResultsOfBranches, OfDonatedArgumentsBeyondTheLimits) {
  const auto f = jit(
      [](auto x, auto k) {
        if (x[0] > 10.0) throw std::runtime_error("too large");
        return x * double(int(k));
      },
      {.donate = {0}, .branches = branches::trace, .limits = {.values = 1}});
  for (int k = 1; k < 5; ++k) {
    D x = D{1, 2} + 0.0;
    EXPECT_TRUE(array_equal(f(x, k), D{1, 2} * double(k)));
    EXPECT_THROW((void)(x + 1.0).host(), Error);
  }
  D x = D{11, 2} + 0.0;
  EXPECT_THROW((void)f(x, 1), std::runtime_error);
  EXPECT_TRUE(array_equal(x, D{11, 2}));
}

TEST(ResultsOfBranches, OnTheSimulatedGpu) {
  const auto f = jit(
      [](auto x) {
        if (sum(x) > 3.0) return std::tuple{x * 2.0, x};
        const int n = int(cast<int>(max(x)));
        return std::tuple{x + double(n), x};
      },
      {.device = gpu_sim(), .branches = branches::trace});
  for (const D& x : {D{1, 3}, D{0, 1}, D{0, 2}, D{5, 5}, D{0, 1}, D{1, 1}}) {
    const auto [y, same] = f(x.to(gpu_sim()));
    EXPECT_EQ(y.device(), gpu_sim());
    EXPECT_EQ(same.device(), gpu_sim());
    const double s = sum(x).item(), m = std::floor(max(x).item());
    EXPECT_TRUE(array_equal(y.to(cpu()), s > 3 ? x * 2.0 : x + m));
    EXPECT_TRUE(array_equal(same.to(cpu()), x));
  }
}

TEST(ResultsOfBranches, OfLargeCapturedArrays) {
  const D large = D::from(std::vector<double>(1000, 3.0));
  const auto f = jit(
      [large](auto x) {
        if (sum(x) > 0.0) return x * large;
        const auto y = x + large;
        if (sum(y) > 0.0) return y;
        return Tracer<double>(large) * 2.0;
      },
      following());
  for (const double v : {1.0, -1.0, -4.0, 2.0, -2.0, -5.0}) {
    const D x = D::from(std::vector<double>(1000, v));
    const double expected = v > 0 ? v * 3 : v + 3 > 0 ? v + 3 : 6;
    EXPECT_TRUE(array_equal(f(x), D::from(std::vector<double>(1000, expected)))) << v;
  }
}

/// A path beyond the limits does not keep others from being compiled.
TEST(ResultsOfBranches, AfterAFirstCallBeyondTheLimits) {
  int runs = 0;
  const auto f = jit(
      [&](auto x) {
        ++runs;
        if (x > 10.0) {
          auto y = x;
          for (int i = 0; i < 4; ++i) {
            if (y > 15.0) y = y - 1.0;
          }
          return y;
        }
        return x * 2.0;
      },
      following({.questions = 3}));
  EXPECT_EQ(f(20.0).item(), 16);
  EXPECT_EQ(f.branch_info(1.0).traces, 0u);
  EXPECT_EQ(f(1.0).item(), 2);
  EXPECT_EQ(f.branch_info(1.0).traces, 1u);
  const int so_far = runs;
  EXPECT_EQ(f(3.0).item(), 6);
  EXPECT_EQ(runs, so_far);
  EXPECT_EQ(f(20.0).item(), 16);
  EXPECT_EQ(runs, so_far + 1);
}

/// An array that the lambda makes anew in each run is the same constant.
TEST(ResultsOfBranches, OfArraysMadeInTheLambda) {
  const auto f = jit(
      [](auto x) {
        const auto y = x * D{1, 2, 3};
        const auto z = fori_loop(0, 2, [](auto, auto v) { return v + D{1, 1, 1}; }, y);
        if (sum(z) > 0.0) return z * D{2, 2, 2};
        if (sum(z) < -10.0) return z;
        return -z;
      },
      following());
  for (const double v : {1.0, -1.0, -9.0, 1.0, -1.0, -9.0}) {
    const D z = D{1, 2, 3} * v + 2.0;
    const double s = sum(z).item();
    EXPECT_TRUE(array_equal(f(D{v, v, v}), s > 0 ? z * 2.0 : s < -10 ? z : -z)) << v;
  }
}

/// A side that was joined may run on values that the function never has: no loop in it waits for ever.
TEST(ResultsOfBranches, HaveNoLoopThatWasGuessed) {
  const auto f = jit(
      [](auto x, auto y, auto n) {
        bool counts = false;
        if (x > 0.0) {
          counts = true;
          n = abs(n);
        }
        if (y > 0.0 && counts) {
          if (y > 1.0) n = while_loop([](auto v) { return v != 0.0; }, [](auto v) { return v - 1.0; }, n);
          n = n + 5.0;
        } else if (y > 1.0) {
          n = n * 2.0;
        }
        return n + x;
      },
      following());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(f(1.0, -1.0, -3.0).item(), 4);
    EXPECT_EQ(f(-1.0, -1.0, -3.0).item(), -4);
    EXPECT_EQ(f(1.0, 2.0, -3.0).item(), 6);
    EXPECT_EQ(f(-1.0, 2.0, -3.0).item(), -7);
    EXPECT_EQ(f(-1.0, 0.5, -3.0).item(), -4);
    EXPECT_EQ(f(1.0, 0.5, -3.0).item(), 9);
  }
}

}  // namespace
}  // namespace calque::test
