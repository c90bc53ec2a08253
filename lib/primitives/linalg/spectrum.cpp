#include "primitives/linalg/spectrum.h"

#include <numeric>

#include "primitives/list.h"

namespace calque::primitives {
namespace {

std::vector<int64_t> batch_axes(const Shape& matrices) {
  std::vector<int64_t> axes(matrices.size() - 2);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

Value reduce_rows(const Writer& w, PrimitiveId how, Value x) {
  return w.emit(how, {x}, {{"axes", std::vector<int64_t>{w.shape(x).rank() - 2}}});
}

}  // namespace

bool has_vectors(const Attributes& attributes) { return attributes.get<bool>(kVectorsAttribute.name); }

Value scaled_by(const Writer& w, Value z, Value factors) {
  if (!is_complex(w.dtype(z))) return w.mul(z, factors);
  const Term x{&w, z}, f{&w, factors};
  return complex(real(x) * f, imag(x) * f).value;
}

Value scaled_by_imaginary(const Writer& w, Value x, Value factors) {
  const Term z{&w, x}, f{&w, factors};
  return complex(-(imag(z) * f), real(z) * f).value;
}

Value as_rows(const Writer& w, Value x, const Shape& shape) {
  std::vector<int64_t> axes = batch_axes(shape);
  axes.push_back(shape.rank() - 2);
  return w.broadcast(x, shape, std::move(axes));
}

Value as_columns(const Writer& w, Value x, const Shape& shape) {
  std::vector<int64_t> axes = batch_axes(shape);
  axes.push_back(shape.rank() - 1);
  return w.broadcast(x, shape, std::move(axes));
}

Value reciprocal_off_diagonal(const Writer& w, Value d) {
  const Type type = w.type(d);
  const Term x{&w, d}, none{&w, w.splat(std::numeric_limits<double>::quiet_NaN(), type)};
  const Term inverse = select(x == 0.0, none, 1.0 / nonzero(x));
  return w.select(on_diagonal(w, type.shape), w.zeros(type), inverse.value);
}

Value sum_over_rows(const Writer& w, Value x) { return reduce_rows(w, id_of<ReduceSum>, x); }
Value sum_over_columns(const Writer& w, Value x) { return w.reduce_sum(x, {w.shape(x).rank() - 1}); }

Value phase_rates(const Writer& w, Value v, Value dv) {
  const Shape shape = w.shape(v);
  const Term size = abs(Term{&w, v});
  const double share = w.dtype(v) == DType::c128 ? share_of_greatest<double>() : share_of_greatest<float>();
  const Term most = {&w, as_columns(w, reduce_rows(w, id_of<ReduceMax>, size.value), shape)};
  const Type rows{DType::i32, shape};
  const Value row = w.iota(DType::i32, shape, shape.rank() - 2);
  const Value among = w.select((size >= share * most).value, row,
                               w.splat(static_cast<double>(std::numeric_limits<int32_t>::max()), rows));
  const Value first = as_columns(w, reduce_rows(w, id_of<ReduceMin>, among), shape);
  const Term is_first{&w, w.emit(id_of<Eq>, {row, first})};
  const Term rotated = where(is_first, imag(Term{&w, dv}));
  const Term component = where(is_first, real(Term{&w, v}));
  const Term rates = Term{&w, sum_over_rows(w, rotated.value)} / Term{&w, sum_over_rows(w, component.value)};
  return rates.value;
}

}  // namespace calque::primitives
