// Elementwise functions of two operands: they promote, broadcast and emit one primitive; a few need more for bool, for
// integers, or because no primitive computes them.
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/ops/complex.h"
#include "frontend/ops/expression.h"
#include "trace/builder.h"
#include "trace/literals.h"

namespace calque::detail::ops {
namespace {

struct Pair {
  Handle x, y;
  DType dtype;
};

/// Both operands converted to `d` and broadcast to a common shape.
Pair promote_operands(const Operand& x, const Operand& y, DType d, const Site& s) {
  Handle xs[] = {value(x, d, s), value(y, d, s)};
  broadcast_together(xs, s);
  return {xs[0], xs[1], d};
}

Pair promote_operands(const Operand& x, const Operand& y, const Site& s) {
  return promote_operands(x, y, promoted_dtype(x, y, s), s);
}

/// Fast path for tracing loops of scalars: records P at once for two tracers of the innermost trace of one type, or one
/// floating-point tracer and a real literal. Returns false otherwise.
template <class P>
bool record_plain(const Operand& x, const Operand& y, const Site& s, Handle& result) {
  Builder* b = innermost();
  if (b == nullptr) return false;
  const auto literal = [](const Operand& o) { return o.kind() == Operand::Kind::tracer && o.handle().is_literal(); };
  if (literal(x)) return record_plain<P>(b->handle(b->resolve(x.handle(), s.at)), y, s, result);
  if (literal(y)) return record_plain<P>(x, b->handle(b->resolve(y.handle(), s.at)), s, result);
  const auto own = [&](const Operand& o) { return o.kind() == Operand::Kind::tracer && o.handle().trace == b->id(); };
  const auto weak = [&](const Operand& o, DType d) {
    return o.kind() == Operand::Kind::weak && is_floating(d) && !o.weak().is_complex();
  };
  const auto literal_like = [&](const Operand& o, Value v) {
    const Type type = b->graph().type(v);
    return b->literal(weak_literal(o.weak(), type.dtype, s.at, s.name), type);
  };
  Value vx, vy;
  if (own(x) && own(y)) {
    vx = Value(x.handle().value);
    vy = Value(y.handle().value);
    const Type& t = b->graph().type(vx);
    if (is_bool(t.dtype) || t != b->graph().type(vy)) return false;
  } else if (own(x) && weak(y, b->graph().dtype(Value(x.handle().value)))) {
    vx = Value(x.handle().value);
    vy = literal_like(y, vx);
  } else if (own(y) && weak(x, b->graph().dtype(Value(y.handle().value)))) {
    vy = Value(y.handle().value);
    vx = literal_like(x, vy);
  } else {
    return false;
  }
  result = b->handle(b->record(prim::get<P>(), {vx, vy}, {}, {}, b->locate(s.at)).result());
  return true;
}

// Templates over the primitive P; elementwise.def names some as rules.

template <class P>
Handle arithmetic(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_operands(x, y, s);
  if (is_bool(p.dtype)) reject(type(p.x), "numbers", s);
  return emit<P>(s, {p.x, p.y});
}

template <class P>
Handle real_arithmetic(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_operands(x, y, s);
  if (is_bool(p.dtype) || is_complex(p.dtype)) reject(type(p.x), "real numbers", s);
  return emit<P>(s, {p.x, p.y});
}

template <class P>
Handle ordered(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_operands(x, y, s);
  if (is_complex(p.dtype)) reject(type(p.x), "ordered numbers", s);
  return emit<P>(s, {p.x, p.y});
}

template <class P>
Handle bits(const Operand& x, const Operand& y, const Site& s, bool admit_bool) {
  const Pair p = promote_operands(x, y, s);
  if (is_inexact(p.dtype) || (is_bool(p.dtype) && !admit_bool)) {
    reject(type(p.x), admit_bool ? "integers or bool" : "integers", s);
  }
  return emit<P>(s, {p.x, p.y});
}

/// Both operands promoted, integers to float. Complex operands are rejected.
Pair promote_to_inexact(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_operands(x, y, to_inexact(promoted_dtype(x, y, s)), s);
  if (is_complex(p.dtype)) reject(type(p.x), "real numbers", s);
  return p;
}

template <class P>
Handle floats(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_to_inexact(x, y, s);
  return emit<P>(s, {p.x, p.y});
}

/// Of a number and NaN the number.
template <class P>
Handle ignoring_nan(const Operand& x, const Operand& y, const Site& s) {
  const Pair p = promote_operands(x, y, s);
  if (is_complex(p.dtype)) reject(type(p.x), "ordered numbers", s);
  const Handle both = emit<P>(s, {p.x, p.y});
  if (!is_floating(p.dtype)) return both;
  const Handle x_nan = emit<prim::Ne>(s, {p.x, p.x}), y_nan = emit<prim::Ne>(s, {p.y, p.y});
  return select(x_nan, p.y, select(y_nan, p.x, both, s), s);
}

template <class P>
Handle logical(const Operand& x, const Operand& y, const Site& s) {
  const auto truth = [&](const Operand& o) {
    return o.kind() == Operand::Kind::weak ? value(o, DType::bool_, s) : convert(value(o, s), DType::bool_, s);
  };
  Handle xs[] = {truth(x), truth(y)};
  broadcast_together(xs, s);
  return emit<P>(s, {xs[0], xs[1]});
}

Handle zero_like(Handle v, const Site& s) { return splat(0, type(v), s); }

/// Both operands promoted to `result`, then 16-bit floats widened to f32. Bool and complex operands are rejected.
Pair promote_widened(const Operand& x, const Operand& y, DType& result, const Site& s) {
  result = promoted_dtype(x, y, s);
  if (is_bool(result) || is_complex(result)) {
    const Pair p = promote_operands(x, y, result, s);
    reject(type(p.x), "real numbers", s);
  }
  Pair p = promote_operands(x, y, result, s);
  p.dtype = wide(result);
  p.x = convert(p.x, p.dtype, s);
  p.y = convert(p.y, p.dtype, s);
  return p;
}

/// True where x rem y is nonzero and of the other sign than y: there Python's quotient and remainder differ from C's.
Handle needs_step(Handle rem, Handle y, const Site& s) {
  const Handle zero = zero_like(rem, s);
  const Handle nonzero = emit<prim::Ne>(s, {rem, zero});
  const Handle differ = emit<prim::Ne>(s, {emit<prim::Lt>(s, {rem, zero}), emit<prim::Lt>(s, {y, zero})});
  return emit<prim::And>(s, {nonzero, differ});
}

}  // namespace

#define CALQUE_BINARY(f, result, rule, P) \
  Handle f(const Operand& x, const Operand& y, Location at) { return rule<prim::P>(x, y, {#f, at}); }
#include "calque/elementwise.def"

// ---- arithmetic

Handle add(const Operand& x, const Operand& y, Location at) {
  const Site s{"add", at};
  Handle r;
  if (record_plain<prim::Add>(x, y, s, r)) return r;
  const Pair p = promote_operands(x, y, s);
  return is_bool(p.dtype) ? emit<prim::Or>(s, {p.x, p.y}) : emit<prim::Add>(s, {p.x, p.y});
}

namespace {
/// Throws ShapeError for a matrix times a vector that are both Eigen arguments: in Eigen that is their product.
void reject_eigen_product(Handle x, Handle y, const Site& s) {
  if (!is_eigen_argument(x) || !is_eigen_argument(y)) return;
  const Type a = type(x), b = type(y);
  if (a.shape.rank() + b.shape.rank() != 3 || a.shape.empty() || b.shape.empty()) return;
  s.shape_error("* of two Eigen arguments, " + to_string(a) + " and " + to_string(b) +
                ", would be elementwise; write matmul(a, b), or give the parameters Eigen's arithmetic by their types: "
                "[](const cq::Matrix<double, 3, 3>& a, const cq::Vector<double, 3>& x)");
}
}  // namespace

Handle multiply(const Operand& x, const Operand& y, Location at) {
  const Site s{"multiply", at};
  Handle r;
  if (x.kind() == Operand::Kind::tracer && y.kind() == Operand::Kind::tracer) {
    reject_eigen_product(x.handle(), y.handle(), s);
    if (const auto product = product_of_distances(x.handle(), y.handle(), s)) return *product;
  }
  if (record_plain<prim::Mul>(x, y, s, r)) return r;
  const Pair p = promote_operands(x, y, s);
  return is_bool(p.dtype) ? emit<prim::And>(s, {p.x, p.y}) : emit<prim::Mul>(s, {p.x, p.y});
}

Handle subtract(const Operand& x, const Operand& y, Location at) {
  const Site s{"subtract", at};
  Handle r;
  return record_plain<prim::Sub>(x, y, s, r) ? r : arithmetic<prim::Sub>(x, y, s);
}

Handle divide(const Operand& x, const Operand& y, Location at) {
  const Site s{"divide", at};
  Handle r;
  return record_plain<prim::Div>(x, y, s, r) ? r : arithmetic<prim::Div>(x, y, s);
}

Handle remainder(const Operand& x, const Operand& y, Location at) {
  const Site s{"remainder", at};
  const Pair p = promote_operands(x, y, s);
  if (!is_floating(p.dtype)) reject(type(p.x), "floating-point numbers (integers have rem and mod)", s);
  return emit<prim::Remainder>(s, {p.x, p.y});
}

Handle mod(const Operand& x, const Operand& y, Location at) {
  const Site s{"mod", at};
  DType result;
  const Pair p = promote_widened(x, y, result, s);
  const Handle r = emit<prim::Rem>(s, {p.x, p.y});
  if (is_unsigned_integer(p.dtype)) return r;
  // Division by zero gives the dividend for integers (0 is added) and NaN for floats.
  Handle m = select(needs_step(r, p.y, s), emit<prim::Add>(s, {r, p.y}), r, s);
  if (is_floating(p.dtype)) {
    // Zeros take the sign of y. Their derivative does not change, since the subtracted value is +0.
    const Handle zero = zero_like(m, s), is_zero = emit<prim::Eq>(s, {m, zero});
    const Handle positive_zero = emit<prim::Sub>(s, {emit<prim::StopGradient>(s, {m}), m});
    m = select(is_zero, emit<prim::Sub>(s, {emit<prim::Copysign>(s, {zero, p.y}), positive_zero}), m, s);
  }
  return convert(m, result, s);
}

Handle floor_divide(const Operand& x, const Operand& y, Location at) {
  const Site s{"floor_divide", at};
  DType result;
  const Pair p = promote_widened(x, y, result, s);
  const Handle quotient = emit<prim::Div>(s, {p.x, p.y});
  if (is_unsigned_integer(p.dtype)) return quotient;
  const Handle r = emit<prim::Rem>(s, {p.x, p.y}), step = needs_step(r, p.y, s);
  const Handle zero = zero_like(p.x, s), one = splat(1, type(p.x), s);
  const Handle by_zero = emit<prim::Eq>(s, {p.y, zero});
  if (is_integer(p.dtype)) {
    const Handle lower = emit<prim::And>(s, {step, emit<prim::Not>(s, {by_zero})});
    return select(lower, emit<prim::Sub>(s, {quotient, one}), quotient, s);
  }
  // As in NumPy's divmod: (x - fmod) / y is nearly an integer and is rounded to the nearest one.
  const Handle near = emit<prim::Div>(s, {emit<prim::Sub>(s, {p.x, r}), p.y});
  const Handle stepped = select(step, emit<prim::Sub>(s, {near, one}), near, s);
  const Handle down = emit<prim::Floor>(s, {stepped});
  const Handle above = emit<prim::Gt>(s, {emit<prim::Sub>(s, {stepped, down}), splat(0.5, type(p.x), s)});
  const Handle snapped = select(above, emit<prim::Add>(s, {down, one}), down, s);
  const Handle signed_zero = emit<prim::Copysign>(s, {zero, quotient});
  const Handle whole = select(emit<prim::Eq>(s, {stepped, zero}), signed_zero, snapped, s);
  return convert(select(by_zero, quotient, whole, s), result, s);
}

namespace {

/// A literal exponent that is a whole number of moderate size.
std::optional<int> whole_exponent(const Operand& y) {
  if (y.kind() != Operand::Kind::weak || y.weak().imaginary != 0) return std::nullopt;
  const double n = y.weak().is_integer() ? static_cast<double>(y.weak().integer) : y.weak().real;
  if (std::abs(n) > kMostMultiplied || n != std::trunc(n)) return std::nullopt;
  return static_cast<int>(n);
}

Handle pow_of_complex(const Pair& p, const Operand& y, const Site& s) {
  if (const auto n = whole_exponent(y)) return complex_power(Expression(p.x, s), *n, s);
  return complex_power(Expression(p.x, s), Expression(p.y, s), s);
}

}  // namespace

Handle pow(const Operand& x, const Operand& y, Location at) {
  const Site s{"pow", at};
  const Pair p = promote_operands(x, y, s);
  if (is_bool(p.dtype)) reject(type(p.x), "numbers", s);
  if (is_complex(p.dtype)) return pow_of_complex(p, y, s);
  // x * x equals the correctly rounded power, and its derivative has no logarithm.
  if (y.kind() == Operand::Kind::weak && y.weak().real == 2) return multiply(p.x, p.x, at);
  return emit<prim::Pow>(s, {p.x, p.y});
}

Handle fdim(const Operand& x, const Operand& y, Location at) {
  const Site s{"fdim", at};
  const Pair p = promote_operands(x, y, s);
  if (is_bool(p.dtype) || is_complex(p.dtype)) reject(type(p.x), "real numbers", s);
  // NaN compares false, so the subtraction propagates it.
  return select(emit<prim::Le>(s, {p.x, p.y}), zero_like(p.x, s), emit<prim::Sub>(s, {p.x, p.y}), s);
}

Handle midpoint(const Operand& x, const Operand& y, Location at) {
  const Site s{"midpoint", at};
  const Pair p = promote_operands(x, y, s);
  if (is_bool(p.dtype) || is_complex(p.dtype)) reject(type(p.x), "real numbers", s);
  const Expression a(p.x, s), b(p.y, s);
  if (is_floating(p.dtype)) {
    // The sum keeps the last bit of tiny numbers, the halves of large ones do not overflow.
    const double limit = visit_dtype(p.dtype, []<class T>() {
      if constexpr (is_floating(dtype_of<T>)) {
        return static_cast<double>(std::numeric_limits<T>::max()) / 2;
      } else {
        return 0.0;
      }
    });
    const Expression small = (a.of<prim::Abs>() <= limit) & (b.of<prim::Abs>() <= limit);
    return small.choose((a + b) * 0.5, a * 0.5 + b * 0.5);
  }
  // The mean rounded down, then towards x.
  const Expression one = a.number(1), differing = a.of<prim::Xor>(b);
  const Expression down = a.of<prim::And>(b) + Expression(right_shift(differing.handle(), one.handle(), at), s);
  return (a > b).choose(down + differing.of<prim::And>(one), down);
}

// ---- floats

Handle xlogy(const Operand& x, const Operand& y, Location at) {
  const Site s{"xlogy", at};
  const Pair p = promote_to_inexact(x, y, s);
  const Handle a = convert(p.x, wide(p.dtype), s), b = convert(p.y, wide(p.dtype), s);
  const Handle zero = zero_like(a, s);
  // The product at x = 0 is replaced only where the logarithm is not finite: elsewhere it is zero already, and its
  // derivative by x, the logarithm, is right.
  const Handle no_log =
      emit<prim::Or>(s, {emit<prim::Le>(s, {b, zero}), emit<prim::Eq>(s, {b, splat(__builtin_inf(), type(b), s)})});
  const Handle trivial = emit<prim::And>(s, {emit<prim::Eq>(s, {a, zero}), no_log});
  // The logarithm of 1 where the product is replaced keeps derivatives finite.
  const Handle log_of = emit<prim::Log>(s, {select(trivial, splat(1, type(b), s), b, s)});
  // 0 times a negative logarithm is -0; adding +0 gives +0.
  const Handle product = emit<prim::Add>(s, {emit<prim::Mul>(s, {a, log_of}), zero});
  return convert(select(trivial, zero, product, s), p.dtype, s);
}

namespace {

/// log(base^x + base^y), with the base's functions: power p = base^x, and log1p(p) times 1 / log(base).
template <class Power>
Handle log_of_sum(const Operand& x, const Operand& y, double one_over_log, const Site& s) {
  const Pair p = promote_to_inexact(x, y, s);
  const Handle a = convert(p.x, wide(p.dtype), s), b = convert(p.y, wide(p.dtype), s);
  // The formula holds for either order of the operands, so selecting one keeps derivatives of every order right at
  // ties; those of a maximum and an absolute value would be wrong there.
  const Handle swap = emit<prim::Lt>(s, {a, b});
  const Handle high = select(swap, b, a, s), low = select(swap, a, b, s);
  const Handle difference = emit<prim::Sub>(s, {low, high});
  // The difference of infinities of one sign is NaN; the result is their mean, with a derivative of 1/2 by each.
  const Handle undefined = emit<prim::Ne>(s, {difference, difference});
  const Handle exponent = select(undefined, zero_like(a, s), difference, s);
  Handle tail = emit<prim::Log1p>(s, {emit<Power>(s, {exponent})});
  if (one_over_log != 1) tail = emit<prim::Mul>(s, {tail, splat(one_over_log, type(tail), s)});
  const Handle sum = emit<prim::Add>(s, {high, tail});
  const Handle mean = emit<prim::Mul>(s, {emit<prim::Add>(s, {a, b}), splat(0.5, type(a), s)});
  return convert(select(undefined, mean, sum, s), p.dtype, s);
}

}  // namespace

Handle logaddexp(const Operand& x, const Operand& y, Location at) {
  return log_of_sum<prim::Exp>(x, y, 1, {"logaddexp", at});
}

Handle logaddexp2(const Operand& x, const Operand& y, Location at) {
  return log_of_sum<prim::Exp2>(x, y, std::numbers::log2e, {"logaddexp2", at});
}

// ---- comparisons and logic

Handle equal(const Operand& x, const Operand& y, Location at) {
  const Site s{"equal", at};
  const Pair p = promote_operands(x, y, s);
  return emit<prim::Eq>(s, {p.x, p.y});
}

Handle not_equal(const Operand& x, const Operand& y, Location at) {
  const Site s{"not_equal", at};
  const Pair p = promote_operands(x, y, s);
  return emit<prim::Ne>(s, {p.x, p.y});
}

Handle isless(const Operand& x, const Operand& y, Location at) { return ordered<prim::Lt>(x, y, {"isless", at}); }
Handle islessequal(const Operand& x, const Operand& y, Location at) {
  return ordered<prim::Le>(x, y, {"islessequal", at});
}
Handle isgreater(const Operand& x, const Operand& y, Location at) { return ordered<prim::Gt>(x, y, {"isgreater", at}); }
Handle isgreaterequal(const Operand& x, const Operand& y, Location at) {
  return ordered<prim::Ge>(x, y, {"isgreaterequal", at});
}
Handle islessgreater(const Operand& x, const Operand& y, Location at) {
  const Site s{"islessgreater", at};
  return emit<prim::Or>(s, {ordered<prim::Lt>(x, y, s), ordered<prim::Gt>(x, y, s)});
}
Handle isunordered(const Operand& x, const Operand& y, Location at) {
  const Site s{"isunordered", at};
  return emit<prim::Not>(s, {emit<prim::Or>(s, {ordered<prim::Le>(x, y, s), ordered<prim::Ge>(x, y, s)})});
}

Handle less(const Operand& x, const Operand& y, Location at) { return ordered<prim::Lt>(x, y, {"less", at}); }
Handle less_equal(const Operand& x, const Operand& y, Location at) {
  return ordered<prim::Le>(x, y, {"less_equal", at});
}
Handle greater(const Operand& x, const Operand& y, Location at) { return ordered<prim::Gt>(x, y, {"greater", at}); }
Handle greater_equal(const Operand& x, const Operand& y, Location at) {
  return ordered<prim::Ge>(x, y, {"greater_equal", at});
}

Handle logical_and(const Operand& x, const Operand& y, Location at) {
  return logical<prim::And>(x, y, {"logical_and", at});
}
Handle logical_or(const Operand& x, const Operand& y, Location at) {
  return logical<prim::Or>(x, y, {"logical_or", at});
}

// ---- bits

Handle bitwise_and(const Operand& x, const Operand& y, Location at) {
  return bits<prim::And>(x, y, {"bitwise_and", at}, true);
}
Handle bitwise_or(const Operand& x, const Operand& y, Location at) {
  return bits<prim::Or>(x, y, {"bitwise_or", at}, true);
}
Handle bitwise_xor(const Operand& x, const Operand& y, Location at) {
  return bits<prim::Xor>(x, y, {"bitwise_xor", at}, true);
}
Handle left_shift(const Operand& x, const Operand& y, Location at) {
  return bits<prim::Shl>(x, y, {"left_shift", at}, false);
}
Handle right_shift(const Operand& x, const Operand& y, Location at) {
  return bits<prim::ShrArithmetic>(x, y, {"right_shift", at}, false);
}

}  // namespace calque::detail::ops
