#pragma once
// Random programs of C++ control flow on data: one interpreter runs them on tracers, as a lambda that branches, and on
// doubles. What a program does is known to neither the compiler nor the library.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "calque/calque.h"

namespace calque::test::programs {

constexpr int kScalars = 4, kIntegers = 2, kArrays = 2, kExtent = 3;

/// The state of the program that is no data: C++ locals of which a trace knows nothing.
struct Locals {
  int counter = 0;
  bool flag = false;
};

/// Arrays of doubles with the operations that programs use, by the names and with the bits of the library's.
struct Doubles {
  std::vector<double> x;
};
inline Doubles scaled(const Doubles& a, double s) {
  Doubles out = a;
  for (double& v : out.x) v *= s;
  return out;
}
inline Doubles shifted(const Doubles& a, double s) {
  Doubles out = a;
  for (double& v : out.x) v += s;
  return out;
}
inline double element(const Doubles& a, int i) { return a.x[static_cast<size_t>(i)]; }
inline int extent(const Doubles& a) { return static_cast<int>(a.x.size()); }
inline Doubles head(const Doubles& a, int n) { return {{a.x.begin(), a.x.begin() + n}}; }
inline double real(int64_t i) { return static_cast<double>(i); }
inline bool is_nan(double x) { return std::isnan(x); }

using Scalar = Tracer<double>;
using Integer = Tracer<int64_t>;
inline Scalar scaled(const Scalar& a, const Scalar& s) { return a * s; }
inline Scalar shifted(const Scalar& a, const Scalar& s) { return a + s; }
inline Scalar element(const Scalar& a, int i) { return a[i]; }
inline int extent(const Scalar& a) { return static_cast<int>(a.size()); }
inline Scalar head(const Scalar& a, int n) { return a[range(0, n)]; }
inline Scalar real(const Integer& i) { return cast<double>(i); }
inline Tracer<bool> is_nan(const Scalar& x) { return isnan(x); }

template <class S, class I, class A>
struct State {
  std::array<S, kScalars> s;
  std::array<I, kIntegers> i;
  std::array<A, kArrays> a;
  Locals locals;
};

struct Expression {
  int op = 0, a = 0, b = 0, i = 0;
  double constant = 0;

  template <class T>
  auto value(const T& t) const {
    using std::abs, std::floor, std::sqrt;
    const auto &x = t.s[static_cast<size_t>(a)], &y = t.s[static_cast<size_t>(b)];
    using S = std::remove_cvref_t<decltype(x)>;
    switch (op) {
      case 0:
        return S(x + y);
      case 1:
        return S(x * y);
      case 2:
        return S(x - constant);
      case 3:
        return S(x * constant);
      case 4:
        return S(-x);
      case 5:
        return S(abs(x));
      case 6:
        return S(floor(x));
      case 7:
        return S(std::max(x, y));
      case 8:
        return S(std::min(x, y));
      case 9:
        return S(std::clamp(x, S(-1.0), S(1.0)));
      case 10:
        return S(element(t.a[static_cast<size_t>(i)], 0) + x);
      case 11:
        return S(real(t.i[static_cast<size_t>(i)]) + x);
      case 12:
        return S(x + double(t.locals.counter));
      case 13:
        return S(x / y);
      default:
        return x;
    }
  }
  static constexpr int kOps = 15;
};

struct Condition {
  int op = 0, a = 0, b = 0, i = 0;
  double constant = 0;

  /// What C++ makes of it at an `if`.
  template <class T>
  bool holds(const T& t) const {
    const auto &x = t.s[static_cast<size_t>(a)], &y = t.s[static_cast<size_t>(b)];
    const auto& n = t.i[static_cast<size_t>(i)];
    switch (op) {
      case 0:
        return bool(x < y);
      case 1:
        return bool(x <= y);
      case 2:
        return bool(x > constant);
      case 3:
        return bool(!(x >= constant));
      case 4:
        return bool(x == y);
      case 5:
        return bool(is_nan(x));
      case 6:
        return bool(x < y && y < constant);
      case 7:
        return bool(x < y || n > 2);
      case 8:
        return bool(n <= 1);
      case 9:
        return t.locals.flag;
      case 10:
        return t.locals.counter % 2 == 1;
      case 11:
        return bool(x != y) && t.locals.flag;
      default:
        return bool(x > y);
    }
  }
  static constexpr int kOps = 13;
};

struct Statement {
  enum class Kind : uint8_t {
    scalar,
    scale,
    shift,
    integer,
    mask,
    count,
    flag,
    conditional,
    leave,  // early return
    loop,
    exit,  // break
    select,
    value,
    resize,
    order,
    hidden,
    kinds
  };
  Kind kind = Kind::scalar;
  int target = 0, other = 0, times = 0;
  Expression expression;
  Condition condition;
  std::vector<std::vector<Statement>> bodies;
};
using Statements = std::vector<Statement>;

enum class Flow : uint8_t { next, leave, exit };

/// `hidden`: what the program reads that neither its arguments nor earlier answers determine.
template <class T>
Flow run(const Statements& statements, T& t, int hidden) {
  using Kind = Statement::Kind;
  for (const Statement& s : statements) {
    auto& x = t.s[static_cast<size_t>(s.target)];
    auto& n = t.i[static_cast<size_t>(s.target % kIntegers)];
    auto& a = t.a[static_cast<size_t>(s.target % kArrays)];
    switch (s.kind) {
      case Kind::scalar:
        x = s.expression.value(t);
        break;
      case Kind::scale:
        a = scaled(a, s.expression.value(t));
        break;
      case Kind::shift:
        a = shifted(a, s.expression.value(t));
        break;
      case Kind::integer:
        n = n + int64_t{s.other};
        break;
      case Kind::mask:
        n = n & int64_t{3};
        break;
      case Kind::count:
        t.locals.counter += s.other;
        break;
      case Kind::flag:
        t.locals.flag = !t.locals.flag;
        break;
      case Kind::conditional: {
        const Flow flow = s.condition.holds(t) ? run(s.bodies[0], t, hidden) : run(s.bodies[1], t, hidden);
        if (flow != Flow::next) return flow;
        break;
      }
      case Kind::leave:
        if (s.condition.holds(t)) return Flow::leave;
        break;
      case Kind::loop:
        for (int k = 0; k < s.times && s.condition.holds(t); ++k) {
          const Flow flow = run(s.bodies[0], t, hidden);
          if (flow == Flow::exit) break;
          if (flow == Flow::leave) return flow;
          if (s.other == 0) x = x + double(k);
        }
        break;
      case Kind::exit:
        if (s.condition.holds(t)) return Flow::exit;
        break;
      case Kind::select: {
        Flow flow = Flow::next;
        switch (int(n & int64_t{3})) {
          case 0:
            flow = run(s.bodies[0], t, hidden);
            break;
          case 1:
            flow = run(s.bodies[1], t, hidden);
            break;
          default:
            x = -x;
        }
        if (flow != Flow::next) return flow;
        break;
      }
      case Kind::value:
        x = x * double(int(n & int64_t{3}) + 1);
        break;
      case Kind::resize:
        a = head(a, std::min(extent(a), int(n & int64_t{3}) + 1));
        break;
      case Kind::order:
        std::sort(t.s.begin(), t.s.begin() + 3, [](const auto& p, const auto& q) { return bool(p < q); });
        break;
      case Kind::hidden:
        x = x + double(hidden);
        break;
      case Kind::kinds:
        break;
    }
  }
  return Flow::next;
}

struct Input {
  std::array<double, kScalars> s{};
  std::array<int64_t, kIntegers> i{};
  std::array<std::vector<double>, kArrays> a;
};

struct Output {
  std::array<double, kScalars> s{};
  std::array<int64_t, kIntegers> i{};
  std::array<std::vector<double>, kArrays> a;
};

inline bool same(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}
inline bool same(const Output& x, const Output& y) {
  const auto all = [](const auto& p, const auto& q) {
    return std::ranges::equal(p, q, [](double v, double w) { return same(v, w); });
  };
  return all(x.s, y.s) && x.i == y.i && all(x.a[0], y.a[0]) && all(x.a[1], y.a[1]);
}

inline Output plain(const Statements& program, const Input& in, int hidden) {
  State<double, int64_t, Doubles> t;
  t.s = in.s;
  t.i = in.i;
  for (size_t k = 0; k < kArrays; ++k) t.a[k].x = in.a[k];
  (void)run(program, t, hidden);
  return {t.s, t.i, {t.a[0].x, t.a[1].x}};
}

class Generator {
 public:
  Generator(uint64_t seed, bool hides) : random_(seed), hides_(hides) {}

  Statements program() {
    Statements out = block(0, false);
    if (hides_) {
      Statement s;
      s.kind = Statement::Kind::hidden;
      s.target = below(kScalars);
      Statements* into = &out;
      // Somewhere: at the top, or in the body of a branch.
      for (Statement& inner : out) {
        if (!inner.bodies.empty() && below(2) == 0) into = &inner.bodies[0];
      }
      into->insert(into->begin() + below(static_cast<int>(into->size()) + 1), s);
    }
    return out;
  }

  Input input() {
    Input in;
    for (double& v : in.s) v = number();
    if (below(3) == 0) in.s[1] = in.s[0];
    for (int64_t& v : in.i) v = below(7) - 2;
    for (auto& a : in.a) {
      a.resize(kExtent);
      for (double& v : a) v = number();
    }
    return in;
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

 private:
  double number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::array kSpecial{
        0.0, -0.0, 1.0, -1.0, 0.5, 2.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e-310, 1e300};
    if (below(4) != 0) return std::uniform_real_distribution<double>(-3, 3)(random_);
    return kSpecial[static_cast<size_t>(below(kSpecial.size()))];
  }
  double constant() {
    constexpr std::array kConstants{0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1.5};
    return kConstants[static_cast<size_t>(below(kConstants.size()))];
  }
  Expression expression() {
    return {below(Expression::kOps), below(kScalars), below(kScalars), below(kIntegers), constant()};
  }
  Condition condition() {
    return {below(Condition::kOps), below(kScalars), below(kScalars), below(kIntegers), constant()};
  }
  Statements block(int depth, bool in_loop) {
    using Kind = Statement::Kind;
    Statements out;
    const int count = depth == 0 ? 3 + below(5) : below(4);
    for (int k = 0; k < count; ++k) {
      Statement s;
      s.kind = static_cast<Kind>(below(static_cast<int>(Kind::hidden)));
      // Branches are what is tested.
      if (below(3) == 0) s.kind = Kind::conditional;
      if (s.kind == Kind::exit && !in_loop) s.kind = Kind::leave;
      if (s.kind == Kind::leave && below(2) == 0) s.kind = Kind::scalar;
      const bool nests = s.kind == Kind::conditional || s.kind == Kind::loop || s.kind == Kind::select;
      if (nests && depth >= 3) s.kind = Kind::scalar;
      s.target = below(kScalars);
      s.other = below(4);
      s.times = 1 + below(3);
      s.expression = expression();
      s.condition = condition();
      if (nests && depth < 3) {
        s.bodies.push_back(block(depth + 1, in_loop || s.kind == Kind::loop));
        if (s.kind != Kind::loop) s.bodies.push_back(block(depth + 1, in_loop));
      }
      out.push_back(std::move(s));
    }
    return out;
  }

  std::mt19937_64 random_;
  bool hides_;
};

/// Compiles a program as a lambda. `hidden()` is read once in each run of the lambda.
template <class Hidden>
auto compiled(const Statements& program, JitOptions options, Hidden hidden) {
  return jit(
      [&program, hidden](Scalar s0, Scalar s1, Scalar s2, Scalar s3, Integer i0, Integer i1, Scalar a0, Scalar a1) {
        State<Scalar, Integer, Scalar> t{{s0, s1, s2, s3}, {i0, i1}, {a0, a1}, {}};
        (void)run(program, t, hidden());
        return std::tuple{t.s[0], t.s[1], t.s[2], t.s[3], t.i[0], t.i[1], t.a[0], t.a[1]};
      },
      std::move(options));
}

template <class F>
Output call(const F& f, const Input& in) {
  const auto array = [](const std::vector<double>& x) { return Array<double>::from(x); };
  const auto [s0, s1, s2, s3, i0, i1, a0, a1] =
      f(in.s[0], in.s[1], in.s[2], in.s[3], in.i[0], in.i[1], array(in.a[0]), array(in.a[1]));
  const auto list = [](const Array<double>& x) { return std::vector<double>(x.host().begin(), x.host().end()); };
  return {{s0.item(), s1.item(), s2.item(), s3.item()}, {i0.item(), i1.item()}, {list(a0), list(a1)}};
}

}  // namespace calque::test::programs
