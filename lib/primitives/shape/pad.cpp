#include "primitives/shape/pad.h"

#include <cstring>

#include <fmt/format.h>

#include "primitives/core/batched_axes.h"
#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/core/lowering_helpers.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

}  // namespace

void Pad::infer(Typing& t) {
  const Type& x = t.operand(0);
  t.same_dtype();
  t.rank_is(1, 0, "a value");
  const List& low = t.ints("low");
  const List& high = t.ints("high");
  const List& interior = t.ints("interior");
  t.check_length("low", low, x.shape.size());
  t.check_length("high", high, x.shape.size());
  t.check_length("interior", interior, x.shape.size());
  List shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (interior[i] < 0) {
      t.shape_error(fmt::format("expects interior padding that is not negative, got {}", to_text(interior)));
    }
    const int64_t gaps = x.shape[i] > 0 ? x.shape[i] - 1 : 0;
    int64_t extent = 0;
    // The padding must be small enough for index arithmetic not to overflow.
    constexpr int64_t kLimit = int64_t{1} << 56;
    const bool fits = low[i] > -kLimit && low[i] < kLimit && high[i] > -kLimit && high[i] < kLimit &&
                      interior[i] < kLimit && !__builtin_mul_overflow(gaps, interior[i], &extent) && extent < kLimit;
    if (!fits) t.shape_error(fmt::format("dimension {} of {} is padded too far", i, to_string(x)));
    extent += x.shape[i] + low[i] + high[i];
    if (extent < 0) {
      t.shape_error(
          fmt::format("low {} and high {} cut more than dimension {} of {} has", low[i], high[i], i, to_string(x)));
    }
    shape.push_back(extent);
  }
  t.result(x.dtype, shape);
}

void Pad::evaluate(Evaluation& e) {
  AnyArray& out = e.add_result();
  const AnyArray& x = e.operands[0];
  const size_t width = size_of(out.dtype());
  auto* to = static_cast<char*>(out.mutable_data());
  const int64_t n = out.size();
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * width, e.operands[1].data(), width);
  if (n == 0) return;
  const auto& low = e.attributes.ints("low");
  const auto& interior = e.attributes.ints("interior");
  const auto strides = row_major_strides(out.shape());
  IndexWalk walk(x.shape().dims());
  for (int64_t i = 0, count = x.size(); i < count; ++i, walk.next()) {
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < strides.size(); ++d) {
      const int64_t p = walk[d] * (interior[d] + 1) + low[d];
      inside = inside && p >= 0 && p < out.shape()[d];
      if (inside) at += p * strides[d];
    }
    if (inside) {
      std::memcpy(to + static_cast<size_t>(at) * width, bytes_of(x) + static_cast<size_t>(i) * width, width);
    }
  }
}

Scalar Pad::lower(Lowering& l, const Equation& e, size_t result, std::span<const Scalar> index) {
  const Shape& from = l.graph().shape(e.operand(0));
  const Shape& to = l.graph().shape(e.result(result));
  const auto& low = e.attributes().ints("low");
  const auto& interior = e.attributes().ints("interior");
  const Scalar value = l.operand(1, {});
  if (from.num_elements() == 0) return value;
  Predicate inside(l);
  Indices in;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t step = interior[d] + 1;
    const int64_t last = (from[d] - 1) * step;  // position of the last element, relative to low
    const Scalar p = low[d] == 0 ? index[d] : l.sub(index[d], l.index(low[d]));
    if (from[d] == 1 && to[d] > 1) {
      inside.equal(p, 0);
      in.push_back(l.index(0));
      continue;
    }
    if (low[d] > 0) inside.at_least(p, 0);
    if (to[d] - 1 - low[d] > last) inside.at_most(p, last);
    if (step == 1) {
      in.push_back(p);
      continue;
    }
    // p is shifted up by whole steps before the division, so that it is not negative in the low padding.
    const int64_t up = low[d] > 0 ? (low[d] + step - 1) / step : 0;
    const Scalar moved = up == 0 ? p : l.add(p, l.index(up * step));
    inside.equal(l.mod(moved, step), 0);
    const Scalar quotient = l.div(moved, step);
    in.push_back(up == 0 ? quotient : l.sub(quotient, l.index(up)));
  }
  return inside.guard([&] { return l.operand(0, in); }, value);
}

void Pad::jvp(Jvp& j) { j.add(j.emit<Pad>({j.tangent_or_zero(0), j.tangent_or_zero(1)}, j.attributes())); }

void Pad::transpose(Transposition& t) {
  const List& low = t.attributes().ints("low");
  const List& high = t.attributes().ints("high");
  const List& interior = t.attributes().ints("interior");
  const Type& x = t.operand_type(0);
  const Writer& w = t.writer;
  // Cotangent of x: remove the padding (where the padding was negative, insert zeros for the removed elements).
  List crop_low, crop_high;
  for (size_t d = 0; d < low.size(); ++d) {
    crop_low.push_back(-low[d]);
    crop_high.push_back(-high[d]);
  }
  const List none(low.size(), 0);
  Value inner = pad_with_zeros(w, t.cotangents[0], std::move(crop_low), std::move(crop_high), none);
  for (size_t d = 0; d < low.size(); ++d) {
    if (interior[d] > 0) inner = w.slice(inner, d, 0, w.shape(inner)[d], interior[d] + 1);
  }
  if (t.linear(0)) t.add(0, inner);
  if (!t.linear(1)) return;
  // Cotangent of the padding value: the sum of all cotangents except those of x, which are masked to zero.
  const Value mask_inside = w.emit(id_of<Pad>, {w.splat(0, x), w.splat(1, {x.dtype, {}})}, t.attributes());
  List all;
  for (size_t d = 0; d < low.size(); ++d) all.push_back(static_cast<int64_t>(d));
  const Value outside = w.emit(id_of<Ne>, {mask_inside, w.zeros(w.type(mask_inside))});
  t.add(1, w.reduce_sum(w.select(outside, t.cotangents[0], w.zeros(t.result_type())), std::move(all)));
}

void Pad::batch(Batching& b) {
  const auto with_batch = [&](std::string_view name) { return prepended(0, b.attributes().ints(name)); };
  const Attributes attributes{
      {"high", with_batch("high")}, {"interior", with_batch("interior")}, {"low", with_batch("low")}};
  const Writer& w = b.writer;
  const Value x = b.batched_operand(0);
  if (!b.batched[1]) {
    b.result(w.emit(id_of<Pad>, {x, b.operands[1]}, attributes));
    return;
  }
  // A padding value per example: pad with zeros and a mask, then select the value where the mask is set.
  const Type& type = b.operand_type(0);
  const Value padded = w.emit(id_of<Pad>, {x, w.zeros({type.dtype, {}})}, attributes);
  const Value outside =
      w.emit(id_of<Pad>, {w.splat(0, {DType::bool_, w.shape(x)}), w.splat(1, {DType::bool_, {}})}, attributes);
  b.result(w.select(outside, w.broadcast(b.operands[1], w.shape(padded), {0}), padded));
}

Value pad_with_zeros(const Writer& w, Value x, List low, List high, List interior) {
  const Value zero = w.zeros({w.dtype(x), {}});
  return w.emit(id_of<Pad>, {x, zero},
                {{"high", std::move(high)}, {"interior", std::move(interior)}, {"low", std::move(low)}});
}

}  // namespace calque::primitives
