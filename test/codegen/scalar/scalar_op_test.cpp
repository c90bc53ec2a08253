// Every elementwise operation on every dtype at corner values, in vectors and scalars, on every CPU level, compared
// with plain C++.
#include "codegen/scalar/scalar_op.h"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include <gtest/gtest.h>

#include "codegen/scalar/element_bytes.h"
#include "support/kernel_builder.h"
#include "support/stages.h"

namespace calque::test {
namespace {

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

/// An operation and the results of plain C++ for every triple of operands.
struct Case {
  std::string name;
  size_t arity;
  std::vector<uint8_t> expected;
};
/// The operands and the cases of one dtype, as bytes. The code that compiles, runs and compares them is not a template.
struct Cases {
  DType dtype;
  std::vector<uint8_t> operands[3];
  std::vector<Case> ops;
  std::vector<Case> comparisons;
  std::vector<uint8_t> selected;  ///< the second operand where the first equals the third, else the third
};

/// The oracles of the operations on T: captureless lambdas, passed by type.
template <class T>
class Oracles {
  using W = Wide<T>;

 public:
  Oracles(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& c, Cases& out)
      : a_(a), b_(b), c_(c), out_(out) {}

  template <class F>
  void unary(const char* name, F) {
    add(name, 1, [](T a, T, T) { return static_cast<T>(F()(static_cast<W>(a))); });
  }
  template <class F>
  void binary(const char* name, F) {
    add(name, 2, [](T a, T b, T) { return static_cast<T>(F()(static_cast<W>(a), static_cast<W>(b))); });
  }
  template <class F>
  void ternary(const char* name, F) {
    add(name, 3,
        [](T a, T b, T c) { return static_cast<T>(F()(static_cast<W>(a), static_cast<W>(b), static_cast<W>(c))); });
  }
  template <class F>
  void comparison(const char* name, F) {
    add_to<bool>(out_.comparisons, name, 2, [](T a, T b, T) -> bool { return F()(a, b); });
  }

 private:
  void add(const char* name, size_t arity, T (*f)(T, T, T)) { add_to<T>(out_.ops, name, arity, f); }
  template <class R>
  void add_to(std::vector<Case>& cases, const char* name, size_t arity, R (*f)(T, T, T)) {
    std::vector<uint8_t> expected(a_.size() * sizeof(R));
    for (size_t i = 0; i < a_.size(); ++i) {
      const R r = f(a_[i], b_[i], c_[i]);
      std::memcpy(expected.data() + i * sizeof(R), &r, sizeof(R));
    }
    cases.push_back({name, arity, std::move(expected)});
  }

  const std::vector<T>&a_, &b_, &c_;
  Cases& out_;
};

template <class W>
W maximum(W a, W b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<W>::quiet_NaN();
  return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <class W>
W minimum(W a, W b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<W>::quiet_NaN();
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <class T, class V>
T wrap(V v) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(v));
}

// The inputs of floor and the like beyond this have no fraction.
template <class T>
void add_ops(Oracles<T>& out) {
  using W = Wide<T>;
  if constexpr (std::is_same_v<T, bool>) {
    out.unary("not", [](bool a) { return !a; });
    out.binary("and", [](bool a, bool b) { return a && b; });
    out.binary("or", [](bool a, bool b) { return a || b; });
    out.binary("xor", [](bool a, bool b) { return a != b; });
    out.binary("max", [](bool a, bool b) { return a || b; });
    out.binary("min", [](bool a, bool b) { return a && b; });
  } else if constexpr (kFloat<T>) {
    out.unary("neg", [](W a) { return -a; });
    out.unary("abs", [](W a) { return std::fabs(a); });
    out.unary("sign", [](W a) { return a > 0 ? W(1) : a < 0 ? W(-1) : a; });
    out.unary("floor", [](W a) { return std::floor(a); });
    out.unary("ceil", [](W a) { return std::ceil(a); });
    out.unary("trunc", [](W a) { return std::trunc(a); });
    out.unary("round", [](W a) { return std::nearbyint(a); });
    out.unary("round_half_away", [](W a) { return std::round(a); });
    out.unary("sqrt", [](W a) { return std::sqrt(a); });
    out.binary("add", [](W a, W b) { return a + b; });
    out.binary("sub", [](W a, W b) { return a - b; });
    out.binary("mul", [](W a, W b) { return a * b; });
    out.binary("div", [](W a, W b) { return a / b; });
    out.binary("rem", [](W a, W b) { return std::fmod(a, b); });
    out.binary("max", [](W a, W b) { return maximum(a, b); });
    out.binary("min", [](W a, W b) { return minimum(a, b); });
    out.binary("copysign", [](W a, W b) { return std::copysign(a, b); });
    out.ternary("fma", [](W a, W b, W c) { return std::fma(a, b, c); });
    out.ternary("clamp", [](W a, W b, W c) { return minimum(maximum(b, a), c); });
  } else {
    using U = std::make_unsigned_t<T>;
    out.unary("neg", [](T a) { return wrap<T>(uint64_t{0} - static_cast<uint64_t>(a)); });
    out.unary("abs", [](T a) { return a < 0 ? wrap<T>(uint64_t{0} - static_cast<uint64_t>(a)) : a; });
    out.unary("sign", [](T a) { return a > 0 ? 1 : a < 0 ? -1 : 0; });
    out.unary("floor", [](T a) { return a; });
    out.unary("round", [](T a) { return a; });
    out.unary("not", [](T a) { return wrap<T>(~a); });
    out.unary("popcount", [](T a) { return std::popcount(static_cast<U>(a)); });
    out.unary("clz", [](T a) { return std::countl_zero(static_cast<U>(a)); });
    out.binary("add", [](T a, T b) { return wrap<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
    out.binary("sub", [](T a, T b) { return wrap<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); });
    out.binary("mul", [](T a, T b) { return wrap<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
    out.binary("div", [](T a, T b) {
      if (b == 0) return wrap<T>(-1);
      return b == static_cast<T>(-1) && std::is_signed_v<T> ? wrap<T>(uint64_t{0} - static_cast<uint64_t>(a))
                                                            : wrap<T>(a / b);
    });
    out.binary("rem", [](T a, T b) {
      if (b == 0) return a;
      return b == static_cast<T>(-1) && std::is_signed_v<T> ? T(0) : wrap<T>(a % b);
    });
    out.binary("max", [](T a, T b) { return std::max(a, b); });
    out.binary("min", [](T a, T b) { return std::min(a, b); });
    out.binary("and", [](T a, T b) { return a & b; });
    out.binary("or", [](T a, T b) { return a | b; });
    out.binary("xor", [](T a, T b) { return a ^ b; });
    out.binary("shl", [](T a, T b) {
      return static_cast<U>(b) >= 8 * sizeof(T) ? T(0) : wrap<T>(static_cast<uint64_t>(a) << static_cast<unsigned>(b));
    });
    out.binary("shr_arithmetic", [](T a, T b) {
      const bool wide = static_cast<U>(b) >= 8 * sizeof(T);
      return wide ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> static_cast<unsigned>(b));
    });
    out.binary("shr_logical", [](T a, T b) {
      return static_cast<U>(b) >= 8 * sizeof(T) ? T(0) : wrap<T>(static_cast<U>(a) >> static_cast<unsigned>(b));
    });
    out.ternary("clamp", [](T a, T b, T c) { return std::min(std::max(b, a), c); });
  }
}

template <class T>
Cases cases() {
  const std::vector<T> values = corners<T>();
  // All pairs, with a third operand that steps through the values with another stride.
  std::vector<T> a, b, c;
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j) {
      a.push_back(values[i]);
      b.push_back(values[j]);
      c.push_back(values[(3 * i + 5 * j + 1) % values.size()]);
    }
  Cases all{dtype_of<T>, {bytes_of(a), bytes_of(b), bytes_of(c)}, {}, {}, {}};
  Oracles<T> oracles(a, b, c, all);
  add_ops(oracles);
  oracles.comparison("eq", [](T p, T q) { return p == q; });
  oracles.comparison("ne", [](T p, T q) { return p != q; });
  oracles.comparison("lt", [](T p, T q) { return p < q; });
  oracles.comparison("le", [](T p, T q) { return p <= q; });
  oracles.comparison("gt", [](T p, T q) { return p > q; });
  oracles.comparison("ge", [](T p, T q) { return p >= q; });
  std::vector<T> selected;
  for (size_t e = 0; e < a.size(); ++e) selected.push_back(a[e] == c[e] ? b[e] : c[e]);
  all.selected = bytes_of(selected);
  return all;
}

void expect_cases(const Cases& all, const std::string& level, bool vectorize) {
  const size_t size = size_of(all.dtype), count = all.selected.size() / size;
  const auto n = static_cast<int64_t>(count);
  KernelBuilder k("ops");
  const int32_t in[3] = {k.input(all.dtype, n), k.input(all.dtype, n), k.input(all.dtype, n)};
  std::vector<int32_t> outs, flags;
  for (size_t o = 0; o < all.ops.size(); ++o) outs.push_back(k.output(all.dtype, n));
  for (size_t o = 0; o < all.comparisons.size(); ++o) flags.push_back(k.output(DType::bool_, n));
  const int32_t chosen = k.output(all.dtype, n);
  k.parallel(n, vectorize, [&](Id i) {
    const Id v[3] = {k.load(in[0], i), k.load(in[1], i), k.load(in[2], i)};
    for (size_t o = 0; o < all.ops.size(); ++o)
      k.store(outs[o], i, k.op(all.ops[o].name, all.dtype, std::vector<Id>(v, v + all.ops[o].arity)));
    for (size_t o = 0; o < all.comparisons.size(); ++o)
      k.store(flags[o], i, k.compare(all.comparisons[o].name, v[0], v[1]));
    k.store(chosen, i, k.op("select", {k.compare("eq", v[0], v[2]), v[1], v[2]}));
  });
  std::vector<std::unique_ptr<Guarded<uint8_t>>> memory;
  std::vector<void*> pointers;
  const auto guarded = [&](size_t bytes) {
    pointers.push_back(memory.emplace_back(std::make_unique<Guarded<uint8_t>>(bytes))->data());
    return static_cast<uint8_t*>(pointers.back());
  };
  for (const std::vector<uint8_t>& operand : all.operands)
    std::memcpy(guarded(operand.size()), operand.data(), operand.size());
  std::vector<const uint8_t*> results, bools;
  for (size_t o = 0; o < all.ops.size(); ++o) results.push_back(guarded(count * size));
  for (size_t o = 0; o < all.comparisons.size(); ++o) bools.push_back(guarded(count));
  const uint8_t* const selected = guarded(count * size);
  run(k.program(), pointers, cpu(level));
  const auto expect = [&](const std::string& name, DType dtype, const uint8_t* got, const uint8_t* want, size_t e) {
    const auto operand = [&](int o) { return show(all.dtype, all.operands[o].data() + e * size); };
    const size_t at = e * size_of(dtype);
    ASSERT_TRUE(same(dtype, got + at, want + at))
        << level << (vectorize ? " vector " : " scalar ") << name << '(' << operand(0) << ", " << operand(1) << ", "
        << operand(2) << ") gave " << show(dtype, got + at) << ", expected " << show(dtype, want + at);
  };
  for (size_t e = 0; e < count && !testing::Test::HasFatalFailure(); ++e) {
    for (size_t o = 0; o < all.ops.size(); ++o)
      expect(all.ops[o].name, all.dtype, results[o], all.ops[o].expected.data(), e);
    for (size_t o = 0; o < all.comparisons.size(); ++o)
      expect(all.comparisons[o].name, DType::bool_, bools[o], all.comparisons[o].expected.data(), e);
    expect("select", all.dtype, selected, all.selected.data(), e);
  }
}

template <class T>
class ScalarOp : public testing::Test {};
using Types = testing::Types<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float16,
                             bfloat16, float, double>;
TYPED_TEST_SUITE(ScalarOp, Types);

TYPED_TEST(ScalarOp, AgreesWithPlainCode) {
  const Cases all = cases<TypeParam>();
  for (const std::string& level : cpu_levels())
    for (const bool vectorize : {true, false}) ASSERT_NO_FATAL_FAILURE(expect_cases(all, level, vectorize));
}

TEST(ScalarOpNames, EachIsTheTraitOfOnePrimitive) {
  using primitives::ScalarOp;
  std::map<ScalarOp, int> primitives_of;
  for (PrimitiveId id = 0; id < num_primitives(); ++id) ++primitives_of[codegen::scalar_op(id)];
  for (auto op = ScalarOp::neg; op <= ScalarOp::bitcast; op = static_cast<ScalarOp>(static_cast<int>(op) + 1)) {
    EXPECT_EQ(primitives_of[op], 1) << static_cast<int>(op);
    EXPECT_EQ(codegen::scalar_op(primitives::primitive_of(op)), op);
  }
}

TEST(ScalarOpNames, ComplexIsRefused) {
  KernelBuilder k("c");
  const int32_t in = k.input(DType::c64, 4), out = k.output(DType::c64, 4);
  k.parallel(4, true, [&](Id i) { k.store(out, i, k.add(k.load(in, i), k.load(in, i))); });
  try {
    test::stages::compile(k.program(), {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_STREQ(e.what(), "compile: kernel c: kernels have no complex numbers");
  }
}

}  // namespace
}  // namespace calque::test
