#include <limits>

#include "primitives/linalg/determinant.h"
#include "primitives/linalg/matrix.h"
#include "primitives/list.h"
#include "transform/linalg/expansions.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// |x|, of complex numbers |re| + |im|.
Term size_of(Term x) { return is_complex(element_dtype(x)) ? abs(real(x)) + abs(imag(x)) : abs(x); }

/// Which of the rows below row k has the pivot of column k: the first of greatest magnitude, NaN less than any number.
Exchange pivot_of(const Writer& w, const TermMatrix& a, int64_t k) {
  const Term first = a(k, k);
  const Term first_size = size_of(first);
  Term best = select(first == first, first_size, constant(first_size, -1));
  std::vector<Term> is;
  for (int64_t i = k + 1; i < a.rows(); ++i) {
    const Term size = size_of(a(i, k));
    is.push_back(size > best);
    if (i + 1 < a.rows()) best = select(is.back(), size, best);
  }
  // The last that was greater than those before it.
  Exchange out{k, std::vector<Value>(is.size())};
  Term later{&w, Value{}};
  for (size_t i = is.size(); i-- > 0;) {
    const bool is_last = i + 1 == is.size();
    out.is[i] = is_last ? is[i].value : (is[i] & Term{&w, w.emit(id_of<Not>, {later.value})}).value;
    later = is_last ? is[i] : later | is[i];
  }
  return out;
}

}  // namespace

LuFactors small_lu(const Writer& w, Value matrices, Known& known) {
  if (const auto found = known.factors.find(matrices.id()); found != known.factors.end()) return found->second;
  const Type type = w.type(matrices);
  const Elements from(w, matrices, known);
  const Shape batch = from.batch();
  TermMatrix a = from.all();
  TermMatrix order(a.rows(), 1);
  for (int64_t i = 0; i < a.rows(); ++i) order(i, 0) = {&w, w.splat(static_cast<double>(i), {DType::i32, batch})};
  // Reciprocals of subnormal numbers overflow.
  const bool is_f32 = real_of(type.dtype) == DType::f32;
  const double tiny = is_f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const double up = is_f32 ? 0x1p64 : 0x1p128;
  std::vector<Exchange> exchanges;
  Value is_odd = w.splat(0, {DType::bool_, batch});
  for (int64_t k = 0; k < std::min(a.rows() - 1, a.columns()); ++k) {
    const Exchange exchange = pivot_of(w, a, k);
    for (int64_t c = 0; c < a.columns(); ++c) exchange.apply(w, [&](int64_t i) -> Term& { return a(i, c); });
    exchange.apply(w, [&](int64_t i) -> Term& { return order(i, 0); });
    for (const Value is : exchange.is) is_odd = w.emit(id_of<Xor>, {is_odd, is});
    exchanges.push_back(exchange);
    const Term pivot = a(k, k);
    const Term one = constant(pivot, 1);
    const Term size = size_of(pivot);
    const Term scale = select(size < constant(size, tiny), constant(pivot, up), one);
    const Term is_zero = pivot == 0.0;
    const Term reciprocal = 1.0 / select(is_zero, one, pivot * scale);
    const Term scaled = select(is_zero, one, scale);
    for (int64_t i = k + 1; i < a.rows(); ++i) {
      a(i, k) = (a(i, k) * scaled) * reciprocal;
      for (int64_t c = k + 1; c < a.columns(); ++c) a(i, c) = a(i, c) - a(i, k) * a(k, c);
    }
  }
  LuFactors out;
  out.packed = assemble(w, a, batch, known);
  // [..., rows, 1] without its last dimension.
  out.perm = w.reshape(assemble(w, order, batch, known), type.shape.without(type.shape.size() - 1));
  known.exchanges.emplace(out.perm.id(), std::move(exchanges));
  known.is_odd.emplace(out.perm.id(), is_odd);
  known.factors.emplace(matrices.id(), out);
  return out;
}

Value reordered(const Writer& w, Value b, Value perm, bool back, Known& known) {
  const auto found = known.exchanges.find(perm.id());
  if (found == known.exchanges.end()) return back ? rows_back(w, b, perm) : rows_in_order(w, b, perm);
  const std::vector<Exchange>& exchanges = found->second;
  const Shape shape = w.shape(b);
  const int64_t n = num_rows(shape), columns = num_columns(shape);
  const auto each = [&](const auto& apply) {
    for (size_t i = 0; i < exchanges.size(); ++i) apply(exchanges[back ? exchanges.size() - 1 - i : i]);
  };
  const Elements from(w, b, known);
  if (by_elements(w, b, known)) {
    TermMatrix x = from.all();
    for (int64_t c = 0; c < columns; ++c)
      each([&](const Exchange& e) { e.apply(w, [&](int64_t i) -> Term& { return x(i, c); }); });
    return assemble(w, x, from.batch(), known);
  }
  std::vector<Term> rows;
  for (int64_t i = 0; i < n; ++i) rows.push_back(from.row(i));
  const Shape space = w.shape(rows[0].value);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d + 1 < space.rank(); ++d) axes.push_back(d);
  each([&](const Exchange& e) {
    Exchange wide{e.k, {}};
    for (const Value is : e.is) wide.is.push_back(w.broadcast(is, space, axes));
    wide.apply(w, [&](int64_t i) -> Term& { return rows[static_cast<size_t>(i)]; });
  });
  return assemble_rows(w, rows, known);
}

namespace {

/// 1 or -1.
Term sign_of(const Writer& w, const LuFactors& factors, Known& known) {
  const DType dtype = w.dtype(factors.packed);
  const auto found = known.is_odd.find(factors.perm.id());
  if (found == known.is_odd.end()) return {&w, sign_of_order(w, factors.perm, dtype)};
  const Type type{dtype, w.shape(found->second)};
  return {&w, w.select(found->second, w.splat(-1, type), w.splat(1, type))};
}

/// The pivots combined by f(x, y) in their order, or by a reduction.
template <class Map, class Combine>
Term over_pivots(const Writer& w, Value packed, PrimitiveId reduction, Known& known, const Map& map,
                 const Combine& combine) {
  const Shape shape = w.shape(packed);
  if (known.elements.contains(packed.id()) && num_rows(shape) > 0) {
    const Elements elements(w, packed, known);
    Term out = map(elements.at(0, 0));
    for (int64_t i = 1; i < num_rows(shape); ++i) out = combine(out, map(elements.at(i, i)));
    return out;
  }
  const Value pivots = map(Term{&w, diagonal_of(w, packed)}).value;
  return {&w, w.emit(reduction, {pivots}, {{"axes", std::vector<int64_t>{shape.rank() - 2}}})};
}

Term product_over(const Writer& w, Value packed, Known& known, Term (*map)(Term)) {
  return over_pivots(w, packed, id_of<ReduceProd>, known, map, [](Term x, Term y) { return x * y; });
}

}  // namespace

Value determinant_of(const Writer& w, const LuFactors& factors, Known& known) {
  const Term product = product_over(w, factors.packed, known, [](Term x) { return x; });
  return (sign_of(w, factors, known) * product).value;
}

Determinant sign_and_log_of(const Writer& w, const LuFactors& factors, Known& known) {
  const Term signs = product_over(w, factors.packed, known, [](Term x) {
    if (!is_complex(element_dtype(x))) return sign(x);
    return x / convert(nonzero(abs(x)), element_dtype(x));
  });
  const Term log_sum = over_pivots(
      w, factors.packed, id_of<ReduceSum>, known, [](Term x) { return log(abs(x)); },
      [](Term x, Term y) { return x + y; });
  return {(sign_of(w, factors, known) * signs).value, log_sum.value};
}

}  // namespace calque::transform
