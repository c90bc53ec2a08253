#include "primitives/elementwise/complex_terms.h"

#include "primitives/list.h"

namespace calque::primitives {
namespace {

Term emit(PrimitiveId id, Term x, Term y) { return {x.writer, x.writer->emit(id, {x.value, y.value})}; }

Term bits_as(Term x, DType dtype) { return {x.writer, x.writer->emit(id_of<Bitcast>, {x.value}, {{"dtype", dtype}})}; }

Term bits(Term x, uint64_t number) {
  const Type type{DType::u64, x.writer->shape(x.value)};
  return {x.writer, x.writer->graph().add_literal(Literal::of(number), type)};
}

}  // namespace

Term is_nan(Term x) { return emit(id_of<Ne>, x, x); }

Term scale_of(Term x) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52, kOne = uint64_t{1} << 52;
  const Term exponent = emit(id_of<And>, bits_as(x, DType::u64), bits(x, kExponent));
  const Term normal = emit(id_of<Min>, emit(id_of<Max>, exponent, bits(x, kOne)), bits(x, kExponent - kOne));
  return bits_as(bits(x, kExponent) - normal, DType::f64);
}

}  // namespace calque::primitives
