// Statistics, and reductions over the elements that a mask selects.
#include "frontend/vocabulary/common.h"
#include "frontend/vocabulary/masked.h"

namespace calque::detail::ops {
namespace {

Handle masked_operand(const Operand& mask, const Shape& of, const Site& s) {
  const Handle m = value(mask, s);
  if (!is_bool(dtype(m))) reject(type(m), "a mask of bools", s);
  return broadcast(m, of, s);
}

/// The variance of widened real numbers over the elements of the mask, if there is one.
Handle deviation_of(Handle x, std::optional<Handle> mask, const Ints& axes, double ddof, bool keepdims, const Site& s) {
  const Shape of = shape(x);
  const Expression mean(mean_where(x, mask, axes, true, s), s);
  const Expression d = Expression(x, s) - Expression(broadcast(mean, of, s), s);
  Expression squares = d * d;
  if (mask) squares = Expression(*mask, s).choose(squares, squares.number(0));
  const Expression sum(reduce_axes<prim::ReduceSum>(squares, axes, keepdims, s), s);
  const Expression n(count_where(mask, type(x), axes, keepdims, s), s);
  // Fewer elements than ddof have no variance.
  const Expression left = n - ddof, none = left <= 0.0;
  const Expression result = sum / none.choose(left.number(1), left);
  return none.choose(result.number(__builtin_nan("")), result);
}

struct Variance {
  Handle value;
  DType result;
};
Variance variance_of(const Operand& x, const Operand* mask, const Axes& axes, double ddof, bool keepdims,
                     const Site& s) {
  const auto [v, result] = widened_real(x, s);
  std::optional<Handle> m;
  if (mask != nullptr) m = masked_operand(*mask, shape(v), s);
  return {deviation_of(v, m, normal_axes(axes, type(v), s), ddof, keepdims, s), result};
}

/// The result of a reduction and one more element.
template <class P>
Handle combined(Handle reduced, const Operand& initial, const Site& s) {
  const Type t = type(reduced);
  return emit<P>(s, {reduced, broadcast(value(initial, t.dtype, s), t.shape, s)});
}

template <class P>
Handle reduce_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, double identity,
                    const Site& s) {
  Handle v = value(x, s);
  v = convert(v, sum_result(dtype(v)), s);
  const Handle m = masked_operand(mask, shape(v), s);
  return reduce_axes<P>(select(m, v, splat(identity, type(v), s), s), normal_axes(axes, type(v), s), keepdims, s);
}

template <class P>
Handle extremum_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                      bool least, const Site& s) {
  const Handle v = value(x, s);
  const Type t = type(v);
  if (is_complex(t.dtype)) reject(t, "ordered numbers", s);
  const Handle m = masked_operand(mask, t.shape, s);
  const Handle chosen = select(m, v, extremum_identity(least, t, s), s);
  const Ints list = normal_axes(axes, t, s);
  if (elements_along(t.shape, list) == 0) {
    if (initial == nullptr) s.shape_error("no elements to choose from in " + to_string(t));
    return broadcast(value(*initial, t.dtype, s), shape(count_where(std::nullopt, t, list, keepdims, s)), s);
  }
  const Handle best = reduce_axes<P>(chosen, list, keepdims, s);
  return initial == nullptr ? best
                            : combined<std::conditional_t<std::is_same_v<P, prim::ReduceMax>, prim::Max, prim::Min>>(
                                  best, *initial, s);
}

template <class P>
Handle truth_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, bool identity,
                   const Site& s) {
  const Handle v = as_truth(x, s);
  const Handle m = masked_operand(mask, shape(v), s);
  const Handle chosen = select(m, v, constant_bools(identity, shape(v), s), s);
  return reduce_axes<P>(chosen, normal_axes(axes, type(v), s), keepdims, s);
}

/// A dimension of extent 1 where the axis was, if wanted.
Handle kept_if(Handle x, int axis, bool keepdims, const Site& s) {
  const Shape of = shape(x);
  return keepdims ? reshape(x, of.with_inserted(static_cast<size_t>(axis < 0 ? axis + of.rank() + 1 : axis), 1), s) : x;
}

/// The variables [number, observations] of one or two operands.
struct Variables {
  Handle x;
  DType result;
  bool single;  ///< one variable that was given as a vector or a scalar
};
Variables variables_of(std::span<const Operand> xs, bool rowvar, const Site& s) {
  const DType result = to_inexact(promoted_dtype(pointers_to(xs), s));
  std::vector<Handle> rows;
  for (size_t i = 0; i < xs.size(); ++i) {
    Handle v = value(xs[i], wide(result), s);
    const Type t = type(v);
    if (t.shape.rank() > 2) s.shape_error("needs vectors and matrices, got " + to_string(t));
    if (t.shape.rank() < 2) {
      v = reshape(v, Shape{1, t.shape.num_elements()}, s);
    } else if (!rowvar) {
      v = transpose(v, {1, 0}, s);
    }
    if (i > 0 && extent_of(v, 1) != extent_of(rows[0], 1)) {
      s.shape_error("numbers of observations differ, got " + to_string(type(rows[0])) + " and " + to_string(type(v)));
    }
    rows.push_back(v);
  }
  const Handle x = concatenated(rows, 0, s);
  return {x, result, extent_of(x, 0) == 1};
}

/// The weights of observations [observations]: how often each counts, and how much.
struct ObservationWeights {
  std::optional<Expression> frequency{}, relative{};

  ObservationWeights() = default;
  ObservationWeights(std::span<const Operand> weights, WeightsGiven given, Handle variables, const Site& s) {
    const DType real = real_of(dtype(variables));
    const auto vector = [&](const Operand& w, std::string_view name) {
      const Type own = type(value(w, s));
      if (name == "fweights" && !is_integer(own.dtype)) reject(own, "fweights that are integers", s);
      if (is_complex(own.dtype)) reject(own, "real aweights", s);
      if (own.shape != Shape{extent_of(variables, 1)}) {
        s.shape_error("needs " + std::string(name) + " [" + std::to_string(extent_of(variables, 1)) +
                      "], one for each observation, got " + to_string(own));
      }
      return Expression(convert(value(w, s), real, s), s);
    };
    if (given.fweights) frequency = vector(weights[0], "fweights");
    if (given.aweights) relative = vector(weights[given.fweights ? 1 : 0], "aweights");
  }

  /// The products, if there are weights.
  std::optional<Expression> all() const {
    if (!frequency) return relative;
    return relative ? *frequency * *relative : *frequency;
  }
};

Expression sum_of(Expression v, const Site& s) { return {reduce_axes<prim::ReduceSum>(v, {0}, false, s), s}; }

/// [variables, variables].
Handle covariance(const Variables& v, const ObservationWeights& weights, double ddof, const Site& s) {
  const Shape of = shape(v.x);
  const auto w = weights.all();
  const auto along_rows = [&](Handle vector) {
    return Expression(broadcast_in(convert(vector, dtype(v.x), s), of, {1}, s), s);
  };
  Expression x(v.x, s);
  Handle mean;
  if (w) {
    const Handle sums = reduce_axes<prim::ReduceSum>(x * along_rows(*w), {1}, true, s);
    mean = Expression(sums, s) / Expression(broadcast(convert(sum_of(*w, s), dtype(v.x), s), shape(sums), s), s);
  } else {
    mean = mean_where(v.x, std::nullopt, {1}, true, s);
  }
  const Expression d = x - Expression(broadcast(mean, of, s), s);
  Handle other = d;
  if (is_complex(dtype(d))) other = emit<prim::Conj>(s, {other});
  const Handle product = emit<prim::DotGeneral>(
      s, {w ? d * along_rows(*w) : d, other},
      {{"lhs_batch", Ints{}}, {"lhs_contract", Ints{1}}, {"rhs_batch", Ints{}}, {"rhs_contract", Ints{1}}});
  const Expression c(product, s);
  if (!w) return c / (static_cast<double>(of[1]) - ddof);
  // Of relative weights alone, ddof observations count as much as the mean one.
  Expression left = sum_of(*w, s);
  if (weights.relative) {
    left = left - sum_of(*w * *weights.relative, s) / left * ddof;
  } else {
    left = left - ddof;
  }
  return c / Expression(broadcast(convert(left, dtype(c), s), shape(c), s), s);
}

}  // namespace

// ---- what other files use

Handle extremum_identity(bool greatest, const Type& t, const Site& s) {
  return visit_dtype(t.dtype, [&]<class T>() {
    Literal l;
    if constexpr (is_complex(dtype_of<T>)) {
      l = Literal::of(T());
    } else if constexpr (is_floating(dtype_of<T>)) {
      l = make_literal(t.dtype, greatest ? __builtin_inf() : -__builtin_inf());
    } else {
      l = Literal::of(greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());
    }
    return literal(l, t, s.at);
  });
}

Handle count_where(std::optional<Handle> mask, const Type& of, const Ints& axes, bool keepdims, const Site& s) {
  if (!mask) {
    const Shape kept = kept_shape(of.shape, axes);
    Ints dims;
    for (size_t i = 0; i < of.shape.size(); ++i) {
      if (keepdims || std::ranges::find(axes, static_cast<int64_t>(i)) == axes.end()) dims.push_back(kept[i]);
    }
    return splat(static_cast<double>(elements_along(of.shape, axes)), {of.dtype, Shape(dims)}, s);
  }
  const Handle n = reduce_axes<prim::ReduceSum>(convert(*mask, DType::i32, s), axes, keepdims, s);
  return convert(n, of.dtype, s);
}

Handle mean_where(Handle x, std::optional<Handle> mask, const Ints& axes, bool keepdims, const Site& s) {
  const Type t = type(x);
  const Handle chosen = mask ? select(*mask, x, splat(0, t, s), s) : x;
  const Handle sum = reduce_axes<prim::ReduceSum>(chosen, axes, keepdims, s);
  return emit<prim::Div>(s, {sum, count_where(mask, t, axes, keepdims, s)});
}

Handle variance_where(Handle x, std::optional<Handle> mask, const Ints& axes, double ddof, bool keepdims,
                      const Site& s) {
  return deviation_of(x, mask, axes, ddof, keepdims, s);
}

// ---- statistics

Handle ptp(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"ptp", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  if (is_complex(t.dtype) || is_bool(t.dtype)) reject(t, "real numbers", s);
  const Ints list = normal_axes(axes, t, s);
  if (elements_along(t.shape, list) == 0) s.shape_error("no elements to choose from in " + to_string(t));
  return emit<prim::Sub>(
      s, {reduce_axes<prim::ReduceMax>(v, list, keepdims, s), reduce_axes<prim::ReduceMin>(v, list, keepdims, s)});
}

Handle count_nonzero(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"count_nonzero", at};
  const Handle v = as_truth(x, s);
  return reduce_axes<prim::ReduceSum>(convert(v, DType::i32, s), normal_axes(axes, type(v), s), keepdims, s);
}

Handle average(const Operand& x, const Operand& weights, const Axes& axes, bool keepdims, Location at) {
  return average_and_sum(x, weights, axes, keepdims, at)[0];
}

std::vector<Handle> average_and_sum(const Operand& x, const Operand& weights, const Axes& axes, bool keepdims,
                                    Location at) {
  const Site s{"average", at};
  const DType result = to_inexact(promoted_dtype(x, weights, s)), d = wide(result);
  const Handle v = value(x, d, s);
  const Type t = type(v);
  const Ints list = normal_axes(axes, t, s);
  Handle w = value(weights, d, s);
  const Type tw = type(w);
  if (tw.shape != t.shape) {
    // Weights of the reduced dimensions alone, in order.
    Ints wanted;
    for (int64_t a : list) wanted.push_back(t.shape[static_cast<size_t>(a)]);
    if (tw.shape != Shape(wanted)) {
      s.shape_error("needs weights of the array's shape or along the axes, got " + to_string(t) + " and " +
                    to_string(tw));
    }
    w = broadcast_in(w, t.shape, list, s);
  }
  const Handle products = emit<prim::Mul>(s, {v, w});
  const Handle sum = reduce_axes<prim::ReduceSum>(products, list, keepdims, s),
               total = reduce_axes<prim::ReduceSum>(w, list, keepdims, s);
  return {convert(emit<prim::Div>(s, {sum, total}), result, s), convert(total, result, s)};
}

Handle argmax_kept(const Operand& x, int axis, bool keepdims, Location at) {
  return kept_if(argmax(x, axis, at), axis, keepdims, {"argmax", at});
}
Handle argmin_kept(const Operand& x, int axis, bool keepdims, Location at) {
  return kept_if(argmin(x, axis, at), axis, keepdims, {"argmin", at});
}

Handle cov(std::span<const Operand> xs, bool rowvar, int64_t ddof, Location at) {
  return cov_weighted(xs, xs.size(), rowvar, ddof, {}, at);
}

Handle cov_weighted(std::span<const Operand> all, size_t variables, bool rowvar, int64_t ddof, WeightsGiven given,
                    Location at) {
  const Site s{"cov", at};
  const Variables v = variables_of(all.first(variables), rowvar, s);
  const ObservationWeights weights(all.subspan(variables), given, v.x, s);
  const Handle c = covariance(v, weights, static_cast<double>(ddof), s);
  return convert(v.single ? reshape(c, Shape(), s) : c, v.result, s);
}

Handle corrcoef(std::span<const Operand> xs, bool rowvar, Location at) {
  return corrcoef_weighted(xs, xs.size(), rowvar, {}, at);
}

Handle corrcoef_weighted(std::span<const Operand> all, size_t variables, bool rowvar, WeightsGiven given, Location at) {
  const Site s{"corrcoef", at};
  const Variables v = variables_of(all.first(variables), rowvar, s);
  // The divisor cancels.
  Expression c(covariance(v, ObservationWeights(all.subspan(variables), given, v.x, s), 0, s), s);
  const Shape of = shape(c);
  Expression variances(diagonal(c, 0, 0, 1, s), s);
  if (is_complex(dtype(c))) variances = variances.re();
  const Expression deviation = variances.of<prim::Sqrt>();
  const Expression both =
      Expression(broadcast_in(deviation, of, {0}, s), s) * Expression(broadcast_in(deviation, of, {1}, s), s);
  const auto bounded = [&](Expression part) {
    return Expression(emit<prim::Clamp>(s, {part.number(-1), part / both, part.number(1)}), s);
  };
  c = is_complex(dtype(c)) ? bounded(c.re()).with_im(bounded(c.im())) : bounded(c);
  return convert(v.single ? reshape(c, Shape(), s) : c.handle(), v.result, s);
}

// ---- under masks

Handle sum_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return reduce_where<prim::ReduceSum>(x, mask, axes, keepdims, 0, {"sum", at});
}
Handle sum_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                      Location at) {
  const Handle reduced = sum_where(x, mask, axes, keepdims, at);
  return initial == nullptr ? reduced : combined<prim::Add>(reduced, *initial, {"sum", at});
}
Handle prod_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return reduce_where<prim::ReduceProd>(x, mask, axes, keepdims, 1, {"prod", at});
}
Handle prod_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                       Location at) {
  const Handle reduced = prod_where(x, mask, axes, keepdims, at);
  return initial == nullptr ? reduced : combined<prim::Mul>(reduced, *initial, {"prod", at});
}
Handle amax_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return amax_where_from(x, mask, axes, keepdims, nullptr, at);
}
Handle amax_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                       Location at) {
  return extremum_where<prim::ReduceMax>(x, mask, axes, keepdims, initial, false, {"amax", at});
}
Handle amin_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return amin_where_from(x, mask, axes, keepdims, nullptr, at);
}
Handle amin_where_from(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, const Operand* initial,
                       Location at) {
  return extremum_where<prim::ReduceMin>(x, mask, axes, keepdims, initial, true, {"amin", at});
}
Handle all_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return truth_where<prim::ReduceAnd>(x, mask, axes, keepdims, true, {"all", at});
}
Handle any_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  return truth_where<prim::ReduceOr>(x, mask, axes, keepdims, false, {"any", at});
}

Handle mean_where(const Operand& x, const Operand& mask, const Axes& axes, bool keepdims, Location at) {
  const Site s{"mean", at};
  const auto [v, result] = widened(x, s);
  const Handle m = masked_operand(mask, shape(v), s);
  return convert(mean_where(v, m, normal_axes(axes, type(v), s), keepdims, s), result, s);
}

Handle var_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at) {
  const Site s{"var", at};
  const auto [v, result] = variance_of(x, &mask, axes, ddof, keepdims, s);
  return convert(v, result, s);
}
Handle stddev_where(const Operand& x, const Operand& mask, const Axes& axes, double ddof, bool keepdims, Location at) {
  const Site s{"stddev", at};
  const auto [v, result] = variance_of(x, &mask, axes, ddof, keepdims, s);
  return convert(emit<prim::Sqrt>(s, {v}), result, s);
}
Handle var_ddof(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at) {
  const Site s{"var", at};
  const auto [v, result] = variance_of(x, nullptr, axes, ddof, keepdims, s);
  return convert(v, result, s);
}
Handle stddev_ddof(const Operand& x, const Axes& axes, double ddof, bool keepdims, Location at) {
  const Site s{"stddev", at};
  const auto [v, result] = variance_of(x, nullptr, axes, ddof, keepdims, s);
  return convert(emit<prim::Sqrt>(s, {v}), result, s);
}

}  // namespace calque::detail::ops
