// Ordinary branches of C++ on tracers, compiled for both answers (branches::all): unmodified templates, nesting,
// transformations, and what is refused.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calque/eigen.h"

namespace calque {
namespace {

using D = Array<double>;
using testing::HasSubstr;

const JitOptions kAll{.branches = branches::all};

template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(AllBranches, FollowTheData) {
  const auto f = jit(
      [](auto x) {
        if (x > 10.0) return x * 2.0;  // early return
        auto y = x + 1.0;
        if (x > 0.0) {
          if (y > 5.0) y = y * 3.0;
        } else {
          y = -y;
        }
        return y;
      },
      kAll);
  const auto plain = [](double x) {
    if (x > 10) return x * 2;
    double y = x + 1;
    if (x > 0) {
      if (y > 5) y = y * 3;
    } else {
      y = -y;
    }
    return y;
  };
  for (const double x : {20.0, 10.0, 7.0, 4.0, 3.0, 0.0, -1.0, -20.0}) EXPECT_EQ(f(x).item(), plain(x)) << x;
  EXPECT_TRUE(std::isnan(f(std::nan("")).item()));
  EXPECT_EQ(f.cache_info().misses, 1u);
}

TEST(AllBranches, OfUnmodifiedTemplates) {
  const auto sorted = jit(
      [](auto x) {
        std::array<Tracer<double>, 4> a{x[0], x[1], x[2], x[3]};
        std::sort(a.begin(), a.end());
        return stack({a[0], a[1], a[2], a[3]}, 0);
      },
      kAll);
  std::array<double, 4> order{1, 2, 3, 4};
  do {
    EXPECT_TRUE(array_equal(sorted(D::from(std::vector<double>(order.begin(), order.end()))), D{1, 2, 3, 4}));
  } while (std::ranges::next_permutation(order).found);
  const auto limited = jit([](auto x, auto y) { return std::clamp(std::max(x, y), x * 0.0, x * 0.0 + 4.0); }, kAll);
  EXPECT_EQ(limited(1.0, 2.0).item(), 2);
  EXPECT_EQ(limited(9.0, 2.0).item(), 4);
  EXPECT_EQ(limited(-9.0, -2.0).item(), 0);

  const auto unit = jit([](const Vector<double, 3>& v) -> Vector<double, 3> { return v.normalized(); }, kAll);
  EXPECT_EQ(Eigen::Vector3d(unit(Eigen::Vector3d(3, 0, 4))), Eigen::Vector3d(3, 0, 4) / 5);
  EXPECT_EQ(Eigen::Vector3d(unit(Eigen::Vector3d(0, 0, 0))), Eigen::Vector3d::Zero().eval());
}

TEST(AllBranches, InLoopsAndCondsAndFunctions) {
  const auto inner = jit([](auto x) {
    if (x > 100.0) return x;
    return x * 2.0;
  });
  const auto f = jit(
      [=](auto x) {
        const auto limit = x * 0.0 + 50.0;
        const auto doubled = fori_loop(
            0, 10,
            [=](auto, auto c) {
              if (c > limit) return inner(c);
              return c * 2.0;
            },
            x);
        return cond(
            x > 1.0,
            [](auto y) {
              if (y > 127.0) return y;
              return -y;
            },
            [](auto y) { return y; }, doubled);
      },
      kAll);
  EXPECT_EQ(f(1.0).item(), 128);
  EXPECT_EQ(f(1.5).item(), -96 * 2 < -127 ? 192 : -192);
  EXPECT_EQ(f(3.0).item(), 192);
}

TEST(AllBranches, Transform) {
  const auto f = [](auto x) {
    if (x > 1.0) return x * x;
    if (x > 0.0) return sqrt(x);
    return 0.0 * x;
  };
  const auto slope = jit(grad(f), kAll);
  EXPECT_EQ(slope(3.0).item(), 6);
  EXPECT_EQ(slope(0.25).item(), 1);
  EXPECT_EQ(slope(-4.0).item(), 0);  // the side that is not taken, with its infinite derivative, has no part
  EXPECT_EQ(slope(0.0).item(), 0);
  const D x{3, 0.25, -4, 0, 1};
  EXPECT_TRUE(array_equal(jit(vmap(f), kAll)(x), D{9, 0.5, 0, 0, 1}));
  EXPECT_TRUE(array_equal(jit(vmap(grad(f)), kAll)(x), D{6, 1, 0, 0, 0.5}));
  const auto [y, dy] = jit([&](auto v) { return jvp(f, std::tuple{v}, std::tuple{v * 0.0 + 1.0}); }, kAll)(3.0);
  EXPECT_EQ(dy.item(), 6);
  const auto angle_axis = [](auto w, auto p) {  // the branch that rotation formulas need near zero
    const auto square = dot(w, w);
    if (square > 1e-12) return p * cos(sqrt(square)) + w * (dot(w, p) * (1.0 - cos(sqrt(square))) / square);
    return p + w * dot(w, p) * 0.5;
  };
  const auto jacobian = jit(jacfwd(angle_axis), kAll);
  EXPECT_TRUE(all(isfinite(jacobian(D{0, 0, 0}, D{1, 2, 3}))).item());
}

TEST(AllBranches, Refused) {
  const std::string shapes = message_of<ShapeError>([] {
    (void)jit(
        [](auto x) {
          if (x[0] > 0.0) return x[0];
          return x;
        },
        kAll)(D{1, 2});
  });
  EXPECT_THAT(shapes, HasSubstr("jit: where a tracer is true and where it is false f64[] (made at "));
  EXPECT_THAT(shapes, HasSubstr("and f64[2] are returned (branches_test.cpp:"));
  EXPECT_THAT(message_of<CompileError>([] {
                (void)jit(
                    [](auto x) {
                      auto y = x;
                      for (int i = 0; i < 40; ++i) {
                        if (x > 1.0 * i) y = y + 1.0;
                      }
                      return y;
                    },
                    kAll)(1.0);
              }),
              testing::AllOf(HasSubstr("more than 4096 paths"), HasSubstr("(40 times)")));
  EXPECT_THAT(message_of<CompileError>([] {
                (void)jit(
                    [](auto x) {
                      auto y = x;
                      while (!(y > 100.0)) y = y * 2.0;
                      return y;
                    },
                    kAll)(1.0);
              }),
              HasSubstr("use while_loop for a loop that data ends"));
  EXPECT_THAT(message_of<ShapeError>([] {
                (void)jit(
                    [](auto x) {
                      std::vector<Tracer<double>> list{x};
                      if (x > 1.0) list.push_back(x);
                      return list;
                    },
                    kAll)(1.0);
              }),
              HasSubstr("the results of two paths differ in a size"));
  int runs = 0;
  EXPECT_THAT(message_of<Error>([&] {
                (void)jit(
                    [&](auto x) {
                      const auto y = x * static_cast<double>(++runs);
                      if (x > 1.0) return y;
                      return x;
                    },
                    kAll)(1.0);
              }),
              HasSubstr("captured values must not change"));
  EXPECT_THAT(message_of<ShapeError>([] {
                (void)jit(
                    [](auto x) {
                      if (x > 1.0) return x;
                      return -x;
                    },
                    kAll)(D{1, 2});
              }),
              HasSubstr("use all(x) or any(x)"));
  // What a path throws reaches the caller.
  EXPECT_THROW((void)jit(
                   [](auto x) {
                     if (x < 0.0) throw std::invalid_argument("negative");
                     return x;
                   },
                   kAll)(1.0),
               std::invalid_argument);
  // The next function refuses again.
  EXPECT_THROW((void)jit([](auto x) {
                 if (x < 0.0) return x;
                 return -x;
               })(1.0),
               ConcretizationError);
}

/// A function with branches that random numbers choose: nested ifs, early returns, sums of earlier values.
template <class T>
T random_program(uint32_t seed, const T& a, const T& b) {
  std::mt19937 bits(seed);
  std::vector<T> values{a, b};
  const auto pick = [&]() -> const T& { return values[bits() % values.size()]; };
  int questions = 0;
  const std::function<bool(int)> block = [&](int depth) {  // true: returned
    for (uint32_t n = 1 + bits() % 3; n > 0; --n) {
      const uint32_t what = bits() % 6;
      const T x = pick(), y = pick();
      if (what < 2) {
        values.push_back(x + y * 0.5);
      } else if (what == 2) {
        values.push_back(x * y);
      } else if (what == 3) {
        values.push_back(x - y);
      } else if (questions < 5 && depth < 3) {
        ++questions;
        const uint32_t on_true = bits(), on_false = bits();
        if (x < y) {
          bits.seed(on_true);
          if (block(depth + 1)) return true;
        } else {
          bits.seed(on_false);
          if (bits() % 4 == 0) return true;
        }
      }
    }
    return false;
  };
  block(0);
  return values.back();
}

TEST(AllBranches, OfRandomProgramsAreThoseOfNumbers) {
  std::mt19937 bits(7);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const auto f = jit([=](auto a, auto b) { return random_program(seed, a, b); }, kAll);
    for (int k = 0; k < 6; ++k) {
      const double a = uniform(bits), b = k == 0 ? a : uniform(bits);
      const double expected = random_program(seed, a, b);
      EXPECT_NEAR(f(a, b).item(), expected, 1e-12 * std::max(1.0, std::abs(expected))) << seed;
    }
  }
}

}  // namespace
}  // namespace calque
