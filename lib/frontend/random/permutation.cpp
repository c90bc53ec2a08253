// Shuffles and draws from a list: sorts by random keys.
#include <cmath>
#include <cstdint>

#include "calque/detail/sorting.h"

#include "frontend/random/random.h"

namespace calque::detail::ops::random {
namespace {

/// A permutation of 0..n-1: stable sorts by random bits, as often as makes equal keys unlikely enough (JAX's
/// `_shuffle`).
Handle shuffled(Key key, int64_t n, const Site& s) {
  if (n > INT32_MAX) s.shape_error(std::to_string(n) + " elements are too many for indices of i32");
  Handle order = counted(DType::i32, Shape{n}, 0, s);
  const double rounds = std::ceil(3 * std::log(static_cast<double>(std::max<int64_t>(n, 1))) / std::log(UINT32_MAX));
  for (auto left = static_cast<int>(rounds); left > 0; --left) {
    const Key drawn = derived(key, 1, s);
    key = derived(key, 0, s);
    order = take(order, argsort(bits32(drawn, Shape{n}, s), 0, false, s.at), 0, mode::clip, s.at);
  }
  return order;
}

/// Probabilities for n elements. ShapeError for another number, DTypeError for complex ones.
Handle probabilities(const Operand& p, int64_t n, const Site& s) {
  const DType d = to_inexact(operand_dtype(p, s));
  const Handle v = value(p, d, s);
  if (is_complex(d)) reject(type(v), "real numbers", s);
  if (shape(v) != Shape{n}) {
    s.shape_error("needs a probability for each of the " + std::to_string(n) + " elements, got " + to_string(type(v)));
  }
  return v;
}

/// The numbers of the drawn elements, of `shape`.
Handle drawn(const Operand& key, int64_t n, const Shape& of, bool replace, const Operand* p, const Site& s) {
  const Key k = key_of(key, s);
  const int64_t draws = of.num_elements();
  if (n <= 0 && draws > 0) s.shape_error("there is no element to draw");
  if (n > INT32_MAX) s.shape_error(std::to_string(n) + " elements are too many for indices of i32");
  if (!replace && draws > n) {
    s.shape_error("cannot draw " + std::to_string(draws) + " of " + std::to_string(n) +
                  " elements without replacement");
  }
  if (p == nullptr) {
    if (draws == 0) return splat(0, {DType::i32, of}, s);
    if (replace) return randint(key, lit(0), literal_operand(n), DType::i32, of, s.at);
    return reshape(slice_axis(shuffled(k, n, s), 0, 0, draws, 1, s), of, s);
  }
  const Handle weights = probabilities(*p, n, s);
  if (draws == 0) return splat(0, {DType::i32, of}, s);
  const DType d = dtype(weights);
  if (!replace) {
    // The greatest of log(p) plus Gumbel noise are a draw without replacement (Yellott 1977).
    const Handle scores = emit<prim::Add>(s, {gumbel(joined(k, s), d, Shape{n}, s.at), log(weights, s.at)});
    return reshape(top_k(scores, draws, s.at)[1], of, s);
  }
  const Handle sums = cumsum(weights, 0, s.at);
  const Handle total = broadcast(reshape(slice_axis(sums, 0, n - 1, n, 1, s), Shape{}, s), of, s);
  const Handle u = uniform(k, d, of, s);
  const Handle r = emit<prim::Mul>(s, {total, emit<prim::Sub>(s, {splat(1, type(u), s), u})});
  return searchsorted(sums, r, side::left, s.at);
}

}  // namespace

Handle permutation(const Operand& key, int64_t n, Location at) {
  const Site s{"random::permutation", at};
  if (n < 0) s.shape_error("the number of elements must not be negative, got " + std::to_string(n));
  return shuffled(key_of(key, s), n, s);
}

Handle permutation(const Operand& key, const Operand& x, int axis, Location at) {
  const Site s{"random::permutation", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const Handle order = shuffled(key_of(key, s), t.shape[static_cast<size_t>(a)], s);
  if (t.shape.num_elements() == 0) return v;
  return take(v, order, a, mode::clip, at);
}

Handle choice(const Operand& key, const Operand& x, const Shape& shape_of, bool replace, const Operand* p, int axis,
              Location at) {
  const Site s{"random::choice", at};
  const Handle v = value(x, s);
  const Type t = type(v);
  const int a = normal_axis(axis, t.shape.rank(), t, s);
  const Handle i = drawn(key, t.shape[static_cast<size_t>(a)], shape_of, replace, p, s);
  return take(v, i, a, shape_of.num_elements() == 0 ? mode::fill : mode::clip, at);
}

Handle choice(const Operand& key, int64_t n, const Shape& shape_of, bool replace, const Operand* p, Location at) {
  return drawn(key, n, shape_of, replace, p, {"random::choice", at});
}

}  // namespace calque::detail::ops::random
