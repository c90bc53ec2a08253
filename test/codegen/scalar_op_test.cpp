// Every elementwise operation on every dtype at corner values, in vectors and alone, on every level of the CPU, against
// plain C++.
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include <gtest/gtest.h>

#include "support/kernel_builder.h"

namespace calque::test {
namespace {

template <class T>
constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool kFloat = std::is_floating_point_v<T> || kHalf<T>;
/// What one operation is computed in.
template <class T>
using Wide = std::conditional_t<kHalf<T>, float, T>;

template <class T>
std::vector<T> corners() {
  std::vector<T> v;
  if constexpr (std::is_same_v<T, bool>) {
    v = {false, true};
  } else if constexpr (kFloat<T>) {
    using L = std::numeric_limits<T>;
    for (const double x : {0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 0.49999997, 7.25, 1e-3, 300.0, 65504.0, 1e10, 8388609.0})
      for (const double s : {1.0, -1.0}) v.push_back(static_cast<T>(s * x));
    for (const T x : {L::infinity(), L::max(), L::min(), L::denorm_min(), L::epsilon()}) {
      v.push_back(x);
      v.push_back(static_cast<T>(-x));
    }
    v.push_back(L::quiet_NaN());
  } else {
    using L = std::numeric_limits<T>;
    v = {T(0),           T(1),
         T(2),           T(3),
         T(5),           T(7),
         T(8),           T(15),
         T(31),          T(63),
         T(64),          T(100),
         L::max(),       T(L::max() - 1),
         L::min(),       T(L::min() + 1),
         T(-1),          T(-2),
         T(-7),          T(L::max() / 3),
         T(L::min() / 2)};
  }
  return v;
}

template <class T>
struct Case {
  std::string name;
  int arity;
  std::function<T(T, T, T)> oracle;
};

// The inputs of floor and the like beyond this have no fraction.
template <class T>
std::vector<Case<T>> cases() {
  using W = Wide<T>;
  std::vector<Case<T>> out;
  const auto unary = [&](const char* name, auto f) {
    out.push_back({name, 1, [f](T a, T, T) { return static_cast<T>(f(static_cast<W>(a))); }});
  };
  const auto binary = [&](const char* name, auto f) {
    out.push_back({name, 2, [f](T a, T b, T) { return static_cast<T>(f(static_cast<W>(a), static_cast<W>(b))); }});
  };
  if constexpr (std::is_same_v<T, bool>) {
    unary("not", [](bool a) { return !a; });
    binary("and", [](bool a, bool b) { return a && b; });
    binary("or", [](bool a, bool b) { return a || b; });
    binary("xor", [](bool a, bool b) { return a != b; });
    binary("max", [](bool a, bool b) { return a || b; });
    binary("min", [](bool a, bool b) { return a && b; });
  } else if constexpr (kFloat<T>) {
    const auto maximum = [](W a, W b) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<W>::quiet_NaN();
      return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
    };
    const auto minimum = [](W a, W b) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<W>::quiet_NaN();
      return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
    };
    unary("neg", [](W a) { return -a; });
    unary("abs", [](W a) { return std::fabs(a); });
    unary("sign", [](W a) { return a > 0 ? W(1) : a < 0 ? W(-1) : a; });
    unary("floor", [](W a) { return std::floor(a); });
    unary("ceil", [](W a) { return std::ceil(a); });
    unary("trunc", [](W a) { return std::trunc(a); });
    unary("round", [](W a) { return std::nearbyint(a); });
    unary("round_half_away", [](W a) { return std::round(a); });
    unary("sqrt", [](W a) { return std::sqrt(a); });
    binary("add", [](W a, W b) { return a + b; });
    binary("sub", [](W a, W b) { return a - b; });
    binary("mul", [](W a, W b) { return a * b; });
    binary("div", [](W a, W b) { return a / b; });
    binary("rem", [](W a, W b) { return std::fmod(a, b); });
    binary("max", maximum);
    binary("min", minimum);
    binary("copysign", [](W a, W b) { return std::copysign(a, b); });
    out.push_back({"fma", 3, [](T a, T b, T c) {
                     return static_cast<T>(std::fma(static_cast<W>(a), static_cast<W>(b), static_cast<W>(c)));
                   }});
    out.push_back({"clamp", 3, [=](T a, T b, T c) {
                     return static_cast<T>(minimum(maximum(static_cast<W>(b), static_cast<W>(a)), static_cast<W>(c)));
                   }});
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr unsigned kBits = 8 * sizeof(T);
    const auto wrap = [](auto v) { return static_cast<T>(static_cast<U>(v)); };
    const auto quotient = [=](T a, T b) {
      if (b == 0) return wrap(-1);
      return b == static_cast<T>(-1) && std::is_signed_v<T> ? wrap(uint64_t{0} - static_cast<uint64_t>(a))
                                                            : wrap(a / b);
    };
    unary("neg", [=](T a) { return wrap(uint64_t{0} - static_cast<uint64_t>(a)); });
    unary("abs", [=](T a) { return a < 0 ? wrap(uint64_t{0} - static_cast<uint64_t>(a)) : a; });
    unary("sign", [](T a) { return a > 0 ? 1 : a < 0 ? -1 : 0; });
    unary("floor", [](T a) { return a; });
    unary("round", [](T a) { return a; });
    unary("not", [=](T a) { return wrap(~a); });
    unary("popcount", [](T a) { return std::popcount(static_cast<U>(a)); });
    unary("clz", [](T a) { return std::countl_zero(static_cast<U>(a)); });
    binary("add", [=](T a, T b) { return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
    binary("sub", [=](T a, T b) { return wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); });
    binary("mul", [=](T a, T b) { return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
    binary("div", quotient);
    binary("rem", [=](T a, T b) {
      if (b == 0) return a;
      return b == static_cast<T>(-1) && std::is_signed_v<T> ? T(0) : wrap(a % b);
    });
    binary("max", [](T a, T b) { return std::max(a, b); });
    binary("min", [](T a, T b) { return std::min(a, b); });
    binary("and", [](T a, T b) { return a & b; });
    binary("or", [](T a, T b) { return a | b; });
    binary("xor", [](T a, T b) { return a ^ b; });
    binary("shl", [=](T a, T b) {
      return static_cast<U>(b) >= kBits ? T(0) : wrap(static_cast<uint64_t>(a) << static_cast<unsigned>(b));
    });
    binary("shr_arithmetic", [](T a, T b) {
      const bool wide = static_cast<U>(b) >= kBits;
      return wide ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> static_cast<unsigned>(b));
    });
    binary("shr_logical", [=](T a, T b) {
      return static_cast<U>(b) >= kBits ? T(0) : wrap(static_cast<U>(a) >> static_cast<unsigned>(b));
    });
    out.push_back({"clamp", 3, [](T a, T b, T c) { return std::min(std::max(b, a), c); }});
  }
  return out;
}

template <class T>
bool same(T a, T b) {
  if constexpr (kFloat<T>) {
    const auto x = static_cast<Wide<T>>(a), y = static_cast<Wide<T>>(b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y && std::signbit(x) == std::signbit(y);
  } else {
    return a == b;
  }
}

template <class T>
std::string show(T v) {
  if constexpr (kFloat<T>)
    return std::to_string(static_cast<double>(v)) + "/" + std::to_string(std::signbit(static_cast<Wide<T>>(v)));
  else
    return std::to_string(v);
}

template <class T>
class ScalarOp : public testing::Test {};
using Types = testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float16,
                             bfloat16, float, double>;
TYPED_TEST_SUITE(ScalarOp, Types);

TYPED_TEST(ScalarOp, AgreesWithPlainCode) {
  using T = TypeParam;
  const std::vector<T> values = corners<T>();
  // All pairs, with a third operand that walks through the values at another pace.
  std::vector<T> a, b, c;
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j) {
      a.push_back(values[i]);
      b.push_back(values[j]);
      c.push_back(values[(3 * i + 5 * j + 1) % values.size()]);
    }
  const auto n = static_cast<int64_t>(a.size());
  Guarded<T> x(a.size()), y(a.size()), z(a.size());
  std::copy(a.begin(), a.end(), x.begin());
  std::copy(b.begin(), b.end(), y.begin());
  std::copy(c.begin(), c.end(), z.begin());
  const std::vector<Case<T>> all = cases<T>();
  const std::vector<std::string> comparisons{"eq", "ne", "lt", "le", "gt", "ge"};
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false}) {
      KernelBuilder k("ops");
      const int32_t in[3] = {k.input(dtype_of<T>, n), k.input(dtype_of<T>, n), k.input(dtype_of<T>, n)};
      std::vector<int32_t> outs, flags;
      for (size_t o = 0; o < all.size(); ++o) outs.push_back(k.output(dtype_of<T>, n));
      for (size_t o = 0; o < comparisons.size(); ++o) flags.push_back(k.output(DType::bool_, n));
      const int32_t chosen = k.output(dtype_of<T>, n);
      k.parallel(n, vectorize, [&](Id i) {
        const Id v[3] = {k.load(in[0], i), k.load(in[1], i), k.load(in[2], i)};
        for (size_t o = 0; o < all.size(); ++o)
          k.store(outs[o], i, k.op(all[o].name, dtype_of<T>, std::vector<Id>(v, v + all[o].arity)));
        for (size_t o = 0; o < comparisons.size(); ++o) k.store(flags[o], i, k.compare(comparisons[o], v[0], v[1]));
        k.store(chosen, i, k.op("select", {k.compare("eq", v[0], v[2]), v[1], v[2]}));
      });
      std::vector<std::unique_ptr<Guarded<T>>> results;
      std::vector<std::unique_ptr<Guarded<uint8_t>>> bools;
      std::vector<void*> pointers{x.data(), y.data(), z.data()};
      for (size_t o = 0; o < all.size(); ++o)
        pointers.push_back(results.emplace_back(std::make_unique<Guarded<T>>(a.size()))->data());
      for (size_t o = 0; o < comparisons.size(); ++o)
        pointers.push_back(bools.emplace_back(std::make_unique<Guarded<uint8_t>>(a.size()))->data());
      Guarded<T> selected(a.size());
      pointers.push_back(selected.data());
      run(k.program(), pointers, cpu(level));
      for (size_t e = 0; e < a.size(); ++e) {
        for (size_t o = 0; o < all.size(); ++o) {
          const T expected = all[o].oracle(a[e], b[e], c[e]);
          ASSERT_TRUE(same<T>((*results[o])[e], expected))
              << level << (vectorize ? " vector " : " scalar ") << all[o].name << '(' << show(a[e]) << ", "
              << show(b[e]) << ", " << show(c[e]) << ") gave " << show((*results[o])[e]) << ", expected "
              << show(expected);
        }
        const T p = a[e], q = b[e];
        const bool expected[6] = {p == q, p != q, p<q, p <= q, p> q, p >= q};
        for (size_t o = 0; o < 6; ++o)
          ASSERT_EQ((*bools[o])[e], expected[o] ? 1 : 0)
              << level << ' ' << comparisons[o] << ' ' << show(p) << ' ' << show(q);
        ASSERT_TRUE(same<T>(selected[e], a[e] == c[e] ? b[e] : c[e])) << level << " select";
      }
    }
}

TEST(ScalarOpNames, AllExistAsPrimitives) {
  for (const char* name : {"neg",
                           "abs",
                           "sign",
                           "floor",
                           "ceil",
                           "trunc",
                           "round",
                           "round_half_away",
                           "sqrt",
                           "not",
                           "popcount",
                           "clz",
                           "stop_gradient",
                           "add",
                           "sub",
                           "mul",
                           "div",
                           "rem",
                           "max",
                           "min",
                           "copysign",
                           "and",
                           "or",
                           "xor",
                           "shl",
                           "shr_arithmetic",
                           "shr_logical",
                           "eq",
                           "ne",
                           "lt",
                           "le",
                           "gt",
                           "ge",
                           "fma",
                           "clamp",
                           "select",
                           "convert",
                           "bitcast"})
    EXPECT_NE(find_primitive(name), nullptr) << name;
}

TEST(ScalarOpNames, TranscendentalIsRefusedByName) {
  KernelBuilder k("wave");
  const int32_t in = k.input(DType::f32, 4), out = k.output(DType::f32, 4);
  k.parallel(4, true, [&](Id i) { k.store(out, i, k.op("sin", {k.load(in, i)})); });
  try {
    codegen::compile(k.program(), {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_STREQ(e.what(),
                 "compile: kernel wave: `sin` is not elementary: it must be expanded before code is generated");
  }
}

TEST(ScalarOpNames, ComplexIsRefused) {
  KernelBuilder k("c");
  const int32_t in = k.input(DType::c64, 4), out = k.output(DType::c64, 4);
  k.parallel(4, true, [&](Id i) { k.store(out, i, k.add(k.load(in, i), k.load(in, i))); });
  try {
    codegen::compile(k.program(), {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_STREQ(e.what(), "compile: kernel c: complex is not supported on the CPU yet");
  }
}

}  // namespace
}  // namespace calque::test
