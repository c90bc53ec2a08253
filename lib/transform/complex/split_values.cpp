#include "transform/complex/split_values.h"

#include <complex>

#include "primitives/list.h"
#include "transform/complex/split_complex.h"

namespace calque::transform {

using namespace primitives;

Value join(const Writer& w, const Parts& parts) {
  const Type& type = w.type(parts.re);
  const Shape last = type.shape.with_inserted(type.shape.size(), 1);
  const int64_t rank = type.shape.rank();
  const auto column = [&](Value v) {
    const Graph& g = w.graph();
    if (g.is_literal(v)) return w.graph().add_literal(Literal(g.literal(v)), {g.dtype(v), last});
    return w.reshape(v, last);
  };
  const Value re = column(parts.re), im = column(parts.im);
  return w.concatenate({re, im}, rank);
}

Value SplitValues::real(Value v) {
  Value& to = forms_[v.id()].real;
  if (!to.valid()) to = to_.add_copy(from_, v);
  return to;
}

SplitValues::Defined SplitValues::form_of(Value v) const {
  return from_.kind(v) == ValueKind::constant ? Defined::joined : forms_[v.id()].defined;
}

void SplitValues::set_joined(Value v, Value to) {
  forms_[v.id()].joined = to;
  forms_[v.id()].defined = Defined::joined;
}

void SplitValues::set_parts(Value v, const Parts& to) {
  forms_[v.id()].parts = to;
  forms_[v.id()].defined = Defined::parts;
}

void SplitValues::make_literal(Value v) {
  const Type type{real_of(from_.dtype(v)), from_.shape(v)};
  const Literal& literal = from_.literal(v);
  const auto make = [&]<class R>(R re, R im) -> Parts {
    return {to_.add_literal(Literal::of(re), type), to_.add_literal(Literal::of(im), type)};
  };
  if (type.dtype == DType::f32) {
    const auto z = literal.as<std::complex<float>>();
    forms_[v.id()].parts = make(z.real(), z.imag());
  } else {
    const auto z = literal.as<std::complex<double>>();
    forms_[v.id()].parts = make(z.real(), z.imag());
  }
}

Value SplitValues::joined(const Writer& w, Value v) {
  Forms& forms = forms_[v.id()];
  if (forms.joined.valid()) return forms.joined;
  if (from_.kind(v) == ValueKind::constant) {
    const AnyArray& array = from_.constant(v);
    forms.joined = to_.add_constant(AnyArray(joined_type(array.type()), array.storage(), array.device()));
    return forms.joined;
  }
  const Parts both = parts(w, v);
  const bool is_splat =
      to_.is_literal(both.re) && to_.is_literal(both.im) && to_.literal(both.re) == to_.literal(both.im);
  forms.joined = is_splat ? to_.add_literal(Literal(to_.literal(both.re)), joined_type(from_.type(v))) : join(w, both);
  return forms.joined;
}

Parts SplitValues::parts(const Writer& w, Value v) {
  Forms& forms = forms_[v.id()];
  if (forms.parts.re.valid()) return forms.parts;
  if (from_.is_literal(v)) {
    make_literal(v);
    return forms.parts;
  }
  const Value whole = joined(w, v);
  const Shape shape = from_.shape(v);
  const auto part = [&](int64_t at) { return w.reshape(w.slice(whole, shape.size(), at, at + 1), shape); };
  forms.parts.re = part(0);
  forms.parts.im = part(1);
  return forms.parts;
}

TermParts SplitValues::terms(const Writer& w, Value v) {
  const Parts both = parts(w, v);
  return {{&w, both.re}, {&w, both.im}};
}

}  // namespace calque::transform
