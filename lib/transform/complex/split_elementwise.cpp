#include "primitives/list.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// The same equation on each part; operands that are not complex are the same for both.
void split_by_parts(const ComplexEquation& s) {
  ValueList re, im;
  for (size_t i = 0; i < s.e.operands().size(); ++i) {
    if (s.is_complex(i)) {
      const Parts parts = s.parts(i);
      re.push_back(parts.re);
      im.push_back(parts.im);
    } else {
      re.push_back(s.real(i));
      im.push_back(s.real(i));
    }
  }
  const Value real = s.w.emit(s.e.id(), std::move(re), s.e.attributes());
  s.values.set_parts(s.e.result(), {real, s.w.emit(s.e.id(), std::move(im), s.e.attributes())});
}

void split_product(const ComplexEquation& s) {
  const Parts x = s.parts(0), y = s.parts(1);
  // With the attribute `exact`, if the equation has it.
  const auto op = [&](PrimitiveId id, Value a, Value b) { return s.w.emit(id, {a, b}, s.e.attributes()); };
  const auto mul = [&](Value a, Value b) { return op(id_of<Mul>, a, b); };
  const Value re = op(id_of<Sub>, mul(x.re, y.re), mul(x.im, y.im));
  s.values.set_parts(s.e.result(), {re, op(id_of<Add>, mul(x.re, y.im), mul(x.im, y.re))});
}

void split_quotient(const ComplexEquation& s) {
  const TermParts x = s.terms(0), y = s.terms(1);
  if (element_dtype(x.re) == DType::f64) return s.values.set_terms(s.e.result(), complex_numbers::quotient(x, y));
  const auto wide = [](const TermParts& z) -> TermParts {
    return {convert(z.re, DType::f64), convert(z.im, DType::f64)};
  };
  const TermParts q = complex_numbers::recovered_quotient(wide(x), wide(y));
  s.values.set_terms(s.e.result(), {convert(q.re, DType::f32), convert(q.im, DType::f32)});
}

void split_comparison(const ComplexEquation& s, PrimitiveId joining) {
  const Parts x = s.parts(0), y = s.parts(1);
  const Value re = s.w.emit(s.e.id(), {x.re, y.re}), im = s.w.emit(s.e.id(), {x.im, y.im});
  s.values.set_real(s.e.result(), s.w.emit(joining, {re, im}));
}

void split_conversion(const ComplexEquation& s) {
  const DType to = s.e.attributes().get<DType>("dtype");
  if (!s.is_complex(0)) {
    const Value re = s.w.convert(s.real(0), real_of(to));
    return s.values.set_parts(s.e.result(), {re, s.w.zeros(s.w.type(re))});
  }
  const Parts x = s.parts(0);
  if (is_complex(to))
    return s.values.set_parts(s.e.result(), {s.w.convert(x.re, real_of(to)), s.w.convert(x.im, real_of(to))});
  const Value re = s.w.convert(x.re, to);
  s.values.set_real(s.e.result(), to == DType::bool_ ? s.w.emit(id_of<Or>, {re, s.w.convert(x.im, to)}) : re);
}

/// Each part with the values that are to be there first.
void split_barrier(const ComplexEquation& s) {
  ValueList rest;
  for (size_t i = 1; i < s.e.operands().size(); ++i) {
    if (!s.is_complex(i)) {
      rest.push_back(s.real(i));
      continue;
    }
    const Parts parts = s.parts(i);
    rest.push_back(parts.re);
    rest.push_back(parts.im);
  }
  const auto barrier = [&](Value x) {
    ValueList operands{x};
    for (const Value v : rest) operands.push_back(v);
    return s.w.emit(id_of<OptimizationBarrier>, std::move(operands), s.e.attributes());
  };
  if (!s.is_complex(0)) return s.values.set_real(s.e.result(), barrier(s.real(0)));
  const Parts x = s.parts(0);
  const Value re = barrier(x.re);
  s.values.set_parts(s.e.result(), {re, barrier(x.im)});
}

}  // namespace

bool split_elementwise(const ComplexEquation& s) {
  const Value result = s.e.results().empty() ? Value() : s.e.result();
  switch (s.e.id()) {
    case id_of<Neg>:
    case id_of<Add>:
    case id_of<Sub>:
    case id_of<Select>:
    case id_of<StopGradient>:
    case id_of<Captured>:
      split_by_parts(s);
      return true;
    case id_of<Mul>:
      split_product(s);
      return true;
    case id_of<Div>:
      split_quotient(s);
      return true;
    case id_of<Abs>: {
      const Parts x = s.parts(0);
      s.values.set_real(result, s.w.emit(id_of<Hypot>, {x.re, x.im}));
      return true;
    }
    case id_of<Eq>:
      split_comparison(s, id_of<And>);
      return true;
    case id_of<Ne>:
      split_comparison(s, id_of<Or>);
      return true;
    case id_of<Convert>:
      split_conversion(s);
      return true;
    case id_of<OptimizationBarrier>:
      split_barrier(s);
      return true;
    case id_of<Real>:
      s.values.set_real(result, s.parts(0).re);
      return true;
    case id_of<Imag>:
      s.values.set_real(result, s.parts(0).im);
      return true;
    case id_of<Conj>: {
      const Parts x = s.parts(0);
      s.values.set_parts(result, {x.re, s.w.neg(x.im)});
      return true;
    }
    case id_of<Complex>:
      s.values.set_parts(result, {s.real(0), s.real(1)});
      return true;
    default:
      return false;
  }
}

}  // namespace calque::transform
