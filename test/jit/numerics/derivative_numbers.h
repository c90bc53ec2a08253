#pragma once
// Derivatives as lists of numbers, of every float type, compared with what they must be: NaN and infinities included.
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "calque/calque.h"

namespace calque::test {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The numbers of an array of any float type, of which there may be one in a tuple.
template <class T>
std::vector<double> numbers(const Array<T>& a) {
  std::vector<double> v;
  for (const T x : a.host()) v.push_back(static_cast<double>(x));
  return v;
}
template <class T>
std::vector<double> numbers(const std::tuple<Array<T>>& a) {
  return numbers(std::get<0>(a));
}

template <class A>
struct ElementOf;
template <class T>
struct ElementOf<Array<T>> {
  using type = T;
};
template <class T>
struct ElementOf<std::tuple<Array<T>>> {
  using type = T;
};
template <class A>
using element_t = typename ElementOf<A>::type;

/// Equal within `epsilons`; NaN where NaN is wanted.
template <class A>
void expect_numbers(const A& got, const std::vector<double>& want, double epsilons = 16) {
  using T = element_t<A>;
  const std::vector<double> is = numbers(got);
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(is[i]) : is[i] == want[i]) << i << ": " << is[i];
    } else {
      const double allowed = epsilons * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(want[i]);
      EXPECT_TRUE(std::abs(is[i] - want[i]) <= allowed) << i << ": " << is[i] << ", want " << want[i];
    }
  }
}

template <class T>
Array<T> array(const std::vector<double>& x) {
  std::vector<T> all;
  for (const double v : x) all.push_back(static_cast<T>(v));
  return Array<T>::from(all, {static_cast<int64_t>(all.size())});
}

template <class T>
Array<T> scalar(double x) {
  return Array<T>::full({}, static_cast<T>(x));
}

using Floats = testing::Types<double, float, float16, bfloat16>;

}  // namespace calque::test
