// Reductions and functions made of them. Sums of 16-bit floats stay in f32 until the last step of the function.
#include "frontend/ops/common.h"

namespace calque::detail::ops {
namespace {

/// The operand and axes of a reduction.
struct Reduced {
  Handle x;
  Type type;
  Ints axes;
  Shape kept;         ///< the operand's shape with reduced extents 1
  int64_t count = 1;  ///< elements that are reduced into one
};

Reduced prepare(Handle x, const Axes& axes, const Site& s) {
  Reduced r{x, type(x), {}, {}, 1};
  r.axes = normal_axes(axes, r.type, s);
  r.kept = r.type.shape;
  for (int64_t axis : r.axes) {
    const auto a = static_cast<size_t>(axis);
    r.count *= r.type.shape[a];
    r.kept = r.kept.with(a, 1);
  }
  return r;
}

template <class P>
Handle reduce(Handle x, const Reduced& r, bool keepdims, const Site& s) {
  const Handle y = r.axes.empty() ? x : emit<P>(s, {x}, {{"axes", r.axes}});
  return keepdims ? reshape(y, r.kept, s) : y;
}

/// The operand promoted to floats, 16-bit ones widened to f32; `result` is the dtype to return.
Reduced prepare_floats(const Operand& x, const Axes& axes, DType& result, const Site& s) {
  result = to_inexact(operand_dtype(x, s));
  if (is_complex(result)) reject(type(value(x, s)), "real numbers", s);
  return prepare(value(x, wide(result), s), axes, s);
}

template <class P>
Handle extreme(const Operand& x, const Axes& axes, bool keepdims, const Site& s) {
  const Reduced r = prepare(value(x, s), axes, s);
  if (is_complex(r.type.dtype)) reject(r.type, "ordered numbers", s);
  if (r.count == 0) s.shape_error("no elements to choose from in " + to_string(r.type));
  return reduce<P>(r.x, r, keepdims, s);
}

template <class P>
Handle total(const Operand& x, const Axes& axes, bool keepdims, const Site& s) {
  const Handle v = value(x, s);
  const Reduced r = prepare(convert(v, sum_result(dtype(v)), s), axes, s);
  return reduce<P>(r.x, r, keepdims, s);
}

template <class P>
Handle truth(const Operand& x, const Axes& axes, bool keepdims, const Site& s) {
  const Reduced r = prepare(convert(value(x, s), DType::bool_, s), axes, s);
  return reduce<P>(r.x, r, keepdims, s);
}

Handle mean_of(const Reduced& r, bool keepdims, const Site& s) {
  const Handle sum = reduce<prim::ReduceSum>(r.x, r, keepdims, s);
  return emit<prim::Div>(s, {sum, splat(static_cast<double>(r.count), type(sum), s)});
}

/// The mean squared distance from the mean, in two passes.
Handle variance(const Reduced& r, bool keepdims, const Site& s, Handle* centred = nullptr) {
  const Handle mean = mean_of(r, true, s);
  const Handle d = emit<prim::Sub>(s, {r.x, broadcast(mean, r.type.shape, s)});
  if (centred != nullptr) *centred = d;
  Reduced squares = r;
  squares.x = emit<prim::Mul>(s, {d, d});
  return mean_of(squares, keepdims, s);
}

template <class P>
Handle winner(const Operand& x, int axis, const Site& s) {
  const Handle v = value(x, s);
  const Type t = type(v);
  if (is_complex(t.dtype)) reject(t, "ordered numbers", s);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const int64_t extent = t.shape[static_cast<size_t>(a)];
  if (extent == 0) s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " is empty");
  if (extent > INT32_MAX) {
    s.shape_error("axis " + std::to_string(a) + " of " + to_string(t) + " is too long for an index of i32");
  }
  return emit<P>(s, {v}, {{"axis", int64_t{a}}, {"dtype", DType::i32}});
}

template <class P>
Handle cumulate(const Operand& x, int axis, bool ordered, const Site& s) {
  Handle v = value(x, s);
  if (!ordered) v = convert(v, sum_result(dtype(v)), s);
  const Type t = type(v);
  if (ordered && is_complex(t.dtype)) reject(t, "ordered numbers", s);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  return emit<P>(s, {v}, {{"axis", int64_t{a}}, {"reverse", false}});
}

}  // namespace

Handle trace(const Operand& x, int64_t offset, int axis1, int axis2, Location at) {
  const Site s{"trace", at};
  const Handle d = diagonal(value(x, s), offset, axis1, axis2, s);
  const Reduced r = prepare(convert(d, sum_result(dtype(d)), s), Axes{-1}, s);
  return reduce<prim::ReduceSum>(r.x, r, false, s);
}

Handle sum(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return total<prim::ReduceSum>(x, axes, keepdims, {"sum", at});
}
Handle prod(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return total<prim::ReduceProd>(x, axes, keepdims, {"prod", at});
}
Handle amax(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return extreme<prim::ReduceMax>(x, axes, keepdims, {"amax", at});
}
Handle amin(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return extreme<prim::ReduceMin>(x, axes, keepdims, {"amin", at});
}
Handle all(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return truth<prim::ReduceAnd>(x, axes, keepdims, {"all", at});
}
Handle any(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  return truth<prim::ReduceOr>(x, axes, keepdims, {"any", at});
}

Handle mean(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"mean", at};
  const DType result = to_inexact(operand_dtype(x, s));
  const Reduced r = prepare(value(x, wide(result), s), axes, s);
  return convert(mean_of(r, keepdims, s), result, s);
}

Handle var(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"var", at};
  DType result;
  const Reduced r = prepare_floats(x, axes, result, s);
  return convert(variance(r, keepdims, s), result, s);
}

Handle stddev(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"stddev", at};
  DType result;
  const Reduced r = prepare_floats(x, axes, result, s);
  return convert(emit<prim::Sqrt>(s, {variance(r, keepdims, s)}), result, s);
}

Handle norm(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"norm", at};
  const DType own = to_inexact(operand_dtype(x, s)), result = real_of(own);
  const Reduced r = prepare(value(x, wide(own), s), axes, s);
  const auto squared = [&](Handle v) { return emit<prim::Mul>(s, {v, v}); };
  const Handle squares =
      is_complex(own) ? emit<prim::Add>(s, {squared(emit<prim::Real>(s, {r.x})), squared(emit<prim::Imag>(s, {r.x}))})
                      : squared(r.x);
  const Handle sum = reduce<prim::ReduceSum>(squares, r, keepdims, s);
  // Where the sum is 0 the root of 1 is taken and replaced by 0, so that the derivative is 0 and not NaN.
  const Type t = type(sum);
  const Handle zero = splat(0, t, s), none = emit<prim::Eq>(s, {sum, zero});
  const Handle root = emit<prim::Sqrt>(s, {select(none, splat(1, t, s), sum, s)});
  return convert(select(none, zero, root, s), result, s);
}

Handle logsumexp(const Operand& x, const Axes& axes, bool keepdims, Location at) {
  const Site s{"logsumexp", at};
  DType result;
  const Reduced r = prepare_floats(x, axes, result, s);
  if (r.count == 0) {
    const Handle empty = reduce<prim::ReduceMax>(r.x, r, keepdims, s);
    return splat(-__builtin_inf(), {result, shape(empty)}, s);
  }
  // Where the maximum is infinite or NaN it is the result, whose derivative is in equal parts that of the terms that
  // equal it. Elsewhere the formula holds for any number that is subtracted, so the maximum counts as a constant.
  const Handle top = reduce<prim::ReduceMax>(r.x, r, true, s);
  const Handle finite = isfinite(top, at);
  const Handle shift = where(finite, emit<prim::StopGradient>(s, {top}), lit(0.0), at);
  const Handle shifted = emit<prim::Sub>(s, {r.x, broadcast(shift, r.type.shape, s)});
  const Handle exponent = where(finite, shifted, lit(0.0), at);
  const Handle sum = reduce<prim::ReduceSum>(emit<prim::Exp>(s, {exponent}), r, keepdims, s);
  const auto reduced = [&](Handle v) { return keepdims ? v : reshape(v, shape(sum), s); };
  const Handle y = emit<prim::Add>(s, {emit<prim::Log>(s, {sum}), reduced(shift)});
  return convert(select(reduced(finite), y, reduced(top), s), result, s);
}

// ---- along one axis

Handle argmax(const Operand& x, int axis, Location at) { return winner<prim::Argmax>(x, axis, {"argmax", at}); }
Handle argmin(const Operand& x, int axis, Location at) { return winner<prim::Argmin>(x, axis, {"argmin", at}); }
Handle cumsum(const Operand& x, int axis, Location at) {
  return cumulate<prim::Cumsum>(x, axis, false, {"cumsum", at});
}
Handle cumprod(const Operand& x, int axis, Location at) {
  return cumulate<prim::Cumprod>(x, axis, false, {"cumprod", at});
}
Handle cummax(const Operand& x, int axis, Location at) { return cumulate<prim::Cummax>(x, axis, true, {"cummax", at}); }
Handle cummin(const Operand& x, int axis, Location at) { return cumulate<prim::Cummin>(x, axis, true, {"cummin", at}); }

namespace {

/// x minus its maximum along the axis.
Handle below_maximum(const Reduced& r, const Site& s) {
  if (r.count == 0) return r.x;
  const Handle top = emit<prim::StopGradient>(s, {reduce<prim::ReduceMax>(r.x, r, true, s)});
  return emit<prim::Sub>(s, {r.x, broadcast(top, r.type.shape, s)});
}

}  // namespace

Handle softmax(const Operand& x, int axis, Location at) {
  const Site s{"softmax", at};
  DType result;
  const Reduced r = prepare_floats(x, axis, result, s);
  const Handle e = emit<prim::Exp>(s, {below_maximum(r, s)});
  const Handle sum = reduce<prim::ReduceSum>(e, r, true, s);
  return convert(emit<prim::Div>(s, {e, broadcast(sum, r.type.shape, s)}), result, s);
}

Handle log_softmax(const Operand& x, int axis, Location at) {
  const Site s{"log_softmax", at};
  DType result;
  const Reduced r = prepare_floats(x, axis, result, s);
  const Handle shifted = below_maximum(r, s);
  const Handle sum = reduce<prim::ReduceSum>(emit<prim::Exp>(s, {shifted}), r, true, s);
  const Handle log_sum = broadcast(emit<prim::Log>(s, {sum}), r.type.shape, s);
  return convert(emit<prim::Sub>(s, {shifted, log_sum}), result, s);
}

namespace {

Handle normalized(const Operand& x, int axis, double eps, DType& result, const Site& s) {
  const Reduced r = prepare_floats(x, axis, result, s);
  Handle centred;
  const Handle squared_deviation = variance(r, true, s, &centred);
  const Handle shifted = emit<prim::Add>(s, {squared_deviation, splat(eps, type(squared_deviation), s)});
  const Handle scale = emit<prim::Div>(s, {splat(1, type(shifted), s), emit<prim::Sqrt>(s, {shifted})});
  return emit<prim::Mul>(s, {centred, broadcast(scale, r.type.shape, s)});
}

/// p broadcast to x: a vector along `axis` if its extent is that axis', else by NumPy's rules.
Handle along(const Operand& p, const Type& x, int axis, const Site& s) {
  Handle v = value(p, s);
  const Type t = type(v);
  const int a = normal_axis(axis, x.shape.rank(), x, s);
  if (t.shape.rank() == 1 && t.shape[0] == x.shape[static_cast<size_t>(a)]) {
    return broadcast_in(convert(v, x.dtype, s), x.shape, {a}, s);
  }
  return broadcast(convert(v, x.dtype, s), x.shape, s);
}

}  // namespace

Handle layer_norm(const Operand& x, int axis, double eps, Location at) {
  const Site s{"layer_norm", at};
  DType result;
  const Handle y = normalized(x, axis, eps, result, s);
  return convert(y, result, s);
}

Handle layer_norm(const Operand& x, const Operand& gamma, const Operand& beta, int axis, double eps, Location at) {
  const Site s{"layer_norm", at};
  const DType result = to_inexact(operand_dtype(x, s));
  value_fitting(gamma, result, s);
  value_fitting(beta, result, s);
  DType own;
  const Handle y = normalized(x, axis, eps, own, s);
  const Type t = type(y);
  const Handle scaled = emit<prim::Mul>(s, {y, along(gamma, t, axis, s)});
  return convert(emit<prim::Add>(s, {scaled, along(beta, t, axis, s)}), result, s);
}

}  // namespace calque::detail::ops
