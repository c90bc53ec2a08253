#pragma once
// Scalars for the templates of examples/robot: eight numbers at once, forward derivatives, and a counter of operations.
#include <array>
#include <cmath>
#include <cstddef>

#include <Eigen/Core>

namespace numbers {

/// Eight numbers in one vector (or in as many vectors as the machine needs).
struct Lanes {
  static constexpr size_t kCount = 8;
  using Vector = double __attribute__((vector_size(8 * kCount)));
  Vector v;

  Lanes() = default;
  explicit Lanes(double x) : v(Vector{} + x) {}
  explicit Lanes(const Vector& x) : v(x) {}
  Lanes& operator+=(const Lanes& o) { return v += o.v, *this; }
  Lanes& operator-=(const Lanes& o) { return v -= o.v, *this; }
  Lanes& operator*=(const Lanes& o) { return v *= o.v, *this; }
  friend Lanes operator+(const Lanes& a, const Lanes& b) { return Lanes(a.v + b.v); }
  friend Lanes operator-(const Lanes& a, const Lanes& b) { return Lanes(a.v - b.v); }
  friend Lanes operator*(const Lanes& a, const Lanes& b) { return Lanes(a.v * b.v); }
  friend Lanes operator/(const Lanes& a, const Lanes& b) { return Lanes(a.v / b.v); }
  friend Lanes operator-(const Lanes& a) { return Lanes(-a.v); }
  template <class F>
  friend Lanes map(const Lanes& a, F f) {
    Lanes out;
    for (size_t i = 0; i < kCount; ++i) out.v[i] = f(a.v[i]);
    return out;
  }
  friend Lanes sin(const Lanes& a) {
    return map(a, [](double x) { return std::sin(x); });
  }
  friend Lanes cos(const Lanes& a) {
    return map(a, [](double x) { return std::cos(x); });
  }
};

/// A number with K derivatives.
template <class S, size_t K>
struct Dual {
  S value;
  std::array<S, K> slopes;

  Dual() = default;
  explicit Dual(double x) : value(x) { slopes.fill(S(0)); }
  Dual& operator+=(const Dual& o) { return *this = *this + o; }
  Dual& operator-=(const Dual& o) { return *this = *this - o; }
  Dual& operator*=(const Dual& o) { return *this = *this * o; }
  template <class F>
  static Dual make(const S& value, F slope) {
    Dual out;
    out.value = value;
    for (size_t k = 0; k < K; ++k) out.slopes[k] = slope(k);
    return out;
  }
  friend Dual operator+(const Dual& a, const Dual& b) {
    return make(a.value + b.value, [&](size_t k) { return a.slopes[k] + b.slopes[k]; });
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return make(a.value - b.value, [&](size_t k) { return a.slopes[k] - b.slopes[k]; });
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return make(a.value * b.value, [&](size_t k) { return a.value * b.slopes[k] + a.slopes[k] * b.value; });
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const S inverse = S(1) / b.value, value = a.value * inverse;
    return make(value, [&](size_t k) { return (a.slopes[k] - value * b.slopes[k]) * inverse; });
  }
  friend Dual operator-(const Dual& a) {
    return make(-a.value, [&](size_t k) { return -a.slopes[k]; });
  }
  friend Dual sin(const Dual& a) {
    using std::cos;
    using std::sin;
    const S c = cos(a.value);
    return make(sin(a.value), [&](size_t k) { return c * a.slopes[k]; });
  }
  friend Dual cos(const Dual& a) {
    using std::cos;
    using std::sin;
    const S s = sin(a.value);
    return make(cos(a.value), [&](size_t k) { return -(s * a.slopes[k]); });
  }
};

/// Counts additions, multiplications and divisions, except those whose result is a constant or an operand (x + 0, 1 x,
/// 0 x). A sine or cosine counts 20.
struct Counted {
  double value = 0;
  bool constant = false;

  Counted() = default;
  explicit Counted(double x) : value(x), constant(true) {}
  static Counted variable(double x) {
    Counted out(x);
    out.constant = false;
    return out;
  }
  static inline double operations = 0;
  bool is(double x) const { return constant && value == x; }
  Counted& operator+=(const Counted& o) { return *this = *this + o; }
  Counted& operator-=(const Counted& o) { return *this = *this - o; }
  Counted& operator*=(const Counted& o) { return *this = *this * o; }
  static Counted computed(double x, bool constant, double cost) {
    operations += constant ? 0 : cost;
    Counted out(x);
    out.constant = constant;
    return out;
  }
  friend Counted operator+(const Counted& a, const Counted& b) {
    return computed(a.value + b.value, a.constant && b.constant, a.is(0) || b.is(0) ? 0 : 1);
  }
  friend Counted operator-(const Counted& a, const Counted& b) {
    return computed(a.value - b.value, a.constant && b.constant, a.is(0) || b.is(0) ? 0 : 1);
  }
  friend Counted operator*(const Counted& a, const Counted& b) {
    const bool zero = a.is(0) || b.is(0), one = a.is(1) || b.is(1) || a.is(-1) || b.is(-1);
    return computed(a.value * b.value, zero || (a.constant && b.constant), one ? 0 : 1);
  }
  friend Counted operator/(const Counted& a, const Counted& b) {
    return computed(a.value / b.value, a.is(0) || (a.constant && b.constant), 1);
  }
  friend Counted operator-(const Counted& a) { return computed(-a.value, a.constant, 0); }
  friend Counted sin(const Counted& a) { return computed(std::sin(a.value), a.constant, 20); }
  friend Counted cos(const Counted& a) { return computed(std::cos(a.value), a.constant, 20); }
};

template <class S>
struct Traits : Eigen::NumTraits<double> {
  using Real = S;
  using NonInteger = S;
  using Nested = S;
  using Literal = S;
  enum { RequireInitialization = 0 };
};

}  // namespace numbers

template <>
struct Eigen::NumTraits<numbers::Lanes> : numbers::Traits<numbers::Lanes> {};
template <>
struct Eigen::NumTraits<numbers::Counted> : numbers::Traits<numbers::Counted> {};
template <class S, size_t K>
struct Eigen::NumTraits<numbers::Dual<S, K>> : numbers::Traits<numbers::Dual<S, K>> {};
