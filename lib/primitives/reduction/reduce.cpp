#include "primitives/reduction/reduce.h"

#include <limits>

#include "primitives/core/emit.h"
#include "primitives/core/index_walk.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/reduction/cumulative.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// f(... f(f(start, x0), x1) ...).
template <class C, class F>
struct Fold {
  C value;
  F f;
  void add(C x) { value = f(value, x); }
  C result() const { return value; }
};

template <class C, class F>
Fold(C, F) -> Fold<C, F>;

/// Sums blocks of eight, then pairs of blocks, pairs of pairs ...: the error grows with the logarithm of the length.
template <class C>
struct PairwiseSum {
  static constexpr int kBlock = 8;
  C block{};
  int in_block = 0;
  uint64_t blocks = 0;
  C levels[64];  // levels[k] is the sum of 2^k blocks where bit k of `blocks` is set

  void add(C x) {
    block += x;
    if (++in_block < kBlock) return;
    C sum = block;
    int k = 0;
    for (; (blocks >> k & 1) != 0; ++k) sum = levels[k] + sum;
    levels[k] = sum;
    ++blocks;
    block = C{};
    in_block = 0;
  }
  C result() const {
    C sum = block;
    for (int k = 0; k < 64; ++k) {
      if ((blocks >> k & 1) != 0) sum = levels[k] + sum;
    }
    return sum;
  }
};

/// The least and greatest value of T, infinite for floats.
template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

template <class T>
T highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

/// Reduces with `start<C>()`, which makes an accumulator, for each dtype of the set.
template <DTypeSet Accepted, class Start>
void reduce(Evaluation& e, Start start) {
  const AnyArray& x = e.operands[0];
  const auto& axes = e.attributes.ints("axes");
  const auto strides = row_major_strides(x.shape());
  std::vector<int64_t> kept_strides, dims, inner_strides;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    if (has_axis(axes, static_cast<int64_t>(d))) {
      dims.push_back(x.shape()[d]);
      inner_strides.push_back(strides[d]);
    } else {
      kept_strides.push_back(strides[d]);
    }
  }
  const int64_t length = Shape(dims).num_elements();
  AnyArray& out = e.add_result();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (contains(Accepted, dtype_of<T>)) {
      using C = Compute<T>;
      const T* from = x.data_as<T>();
      T* to = static_cast<T*>(out.mutable_data());
      IndexWalk walk(out.shape().dims());
      for (int64_t i = 0, n = out.size(); i < n; ++i, walk.next()) {
        const int64_t base = walk.dot(kept_strides);
        auto accumulator = start.template operator()<C>();
        IndexWalk inner(dims);
        for (int64_t k = 0; k < length; ++k, inner.next()) {
          accumulator.add(static_cast<C>(from[base + inner.dot(inner_strides)]));
        }
        to[i] = static_cast<T>(accumulator.result());
      }
    }
  });
}

/// Multiplies the first half of the elements by the second, element by element, and the result in the same way, until
/// one is left: of complex numbers, whose products round each time they are made of parts.
template <class C>
struct ProductOfHalves {
  std::vector<C> all;
  void add(C x) { all.push_back(x); }
  C result() {
    if (all.empty()) return C{1};
    while (all.size() > 1) {
      const size_t half = all.size() / 2;
      for (size_t i = 0; i < half; ++i) all[i] = scalar::mul(all[i], all[half + i]);
      if (all.size() % 2 != 0) all[half] = all.back();
      all.resize(all.size() - half);
    }
    return all[0];
  }
};

constexpr auto kSum = [](auto x, auto y) { return scalar::add(x, y); };

constexpr auto kProduct = [](auto x, auto y) { return scalar::mul(x, y); };

constexpr auto kMax = [](auto x, auto y) { return scalar::max(x, y); };

constexpr auto kMin = [](auto x, auto y) { return scalar::min(x, y); };

/// The dimensions that are not reduced.
List kept_axes(const Shape& shape, const List& axes) {
  List kept;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!has_axis(axes, d)) kept.push_back(d);
  }
  return kept;
}

/// Broadcasts a reduced value back to the shape of the operand.
Value broadcast_back(const Writer& w, Value reduced, const Shape& shape, const List& axes) {
  return w.broadcast(reduced, shape, kept_axes(shape, axes));
}

/// The elements that equal the extremum share its tangent.
void jvp_extremum(Jvp& j) {
  const List& axes = j.attributes().ints("axes");
  const Writer& w = j.writer;
  const Type& x = j.operand_type(0);
  if (x.shape.num_elements() == 0) return;  // the extremum of an empty array is a constant
  const Value at = w.emit(id_of<Eq>, {j.primals[0], broadcast_back(w, j.results[0], x.shape, axes)});
  const Value ones = w.convert(at, x.dtype);
  const Value sum = w.reduce_sum(w.mul(j.tangents[0], ones), axes);
  j.add(w.emit(id_of<Div>, {sum, w.reduce_sum(ones, axes)}));
}

}  // namespace

void infer_reduction(Typing& t, DTypeSet accepted) {
  const Type& x = t.operand(0);
  t.accept(0, accepted);
  const List& axes = t.ints("axes");
  t.check_axes("axes", axes, x.shape.rank(), /*sorted=*/true);
  List shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (!has_axis(axes, static_cast<int64_t>(d))) shape.push_back(x.shape[d]);
  }
  t.result(x.dtype, shape);
}

void ReduceSum::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() {
    if constexpr (std::is_integral_v<C>) {
      return Fold{C{0}, kSum};
    } else {
      return PairwiseSum<C>{};
    }
  });
}

void ReduceProd::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() {
    if constexpr (scalar::is_complex_v<C>) {
      return ProductOfHalves<C>{};
    } else {
      return Fold{C{1}, kProduct};
    }
  });
}

void ReduceMax::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{lowest<C>(), kMax}; });
}

void ReduceMin::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{highest<C>(), kMin}; });
}

void ReduceAnd::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() {
    constexpr auto kAll = std::is_same_v<C, bool> ? C{1} : static_cast<C>(-1);
    return Fold{C{kAll}, [](C x, C y) { return static_cast<C>(x & y); }};
  });
}

void ReduceOr::evaluate(Evaluation& e) {
  reduce<accepted>(e, []<class C>() { return Fold{C{0}, [](C x, C y) { return static_cast<C>(x | y); }}; });
}

void ReduceSum::jvp(Jvp& j) { j.add(j.emit<ReduceSum>({j.tangents[0]}, j.attributes())); }

void ReduceSum::transpose(Transposition& t) {
  t.add(0, broadcast_back(t.writer, t.cotangents[0], t.operand_type(0).shape, t.attributes().ints("axes")));
}

/// The derivative is the product of all other elements, computed from cumulative products from both sides: no division
/// by zero.
void ReduceProd::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const List& axes = j.attributes().ints("axes");
  const Shape& shape = j.operand_type(0).shape;
  if (axes.empty()) {
    j.add(j.tangents[0]);
    return;
  }
  List perm = kept_axes(shape, axes);
  const size_t kept = perm.size();
  perm.insert(perm.end(), axes.begin(), axes.end());
  const Shape& reduced = j.result_type().shape;
  int64_t count = 1;
  for (const int64_t a : axes) count *= shape[static_cast<size_t>(a)];
  const Shape rows = reduced.with_inserted(kept, count);
  const auto as_rows = [&](Value v) { return w.reshape(w.transpose(v, perm), rows); };
  const Value x = as_rows(j.primals[0]);
  const auto axis = static_cast<int64_t>(kept);
  const Value left = emit_cumulative(w, id_of<Cumprod>, shift_along(w, x, kept, false, 1), axis, false);
  const Value right = emit_cumulative(w, id_of<Cumprod>, shift_along(w, x, kept, true, 1), axis, true);
  j.add(w.reduce_sum(w.mul(as_rows(j.tangents[0]), w.mul(left, right)), {axis}));
}

void ReduceMax::jvp(Jvp& j) { jvp_extremum(j); }

void ReduceMin::jvp(Jvp& j) { jvp_extremum(j); }

void batch_reduction(Batching& b) {
  List axes = b.attributes().ints("axes");
  for (int64_t& a : axes) ++a;
  b.result(b.writer.emit(b.equation.id(), {b.operands[0]}, {{"axes", std::move(axes)}}));
}

}  // namespace calque::primitives
