// The exponential of matrices, by scaling and squaring.
#include <array>
#include <limits>

#include "calque/detail/control/control.h"

#include "frontend/linalg/systems.h"

namespace calque::detail::ops::linalg {
namespace {

/// Diagonal Padé approximants of exp and the 1-norms up to which they are exact to rounding (Higham, The scaling and
/// squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26, 2005, tables 2.3 and 2.1).
struct Approximant {
  std::span<const double> coefficients;
  double largest_norm;
};
constexpr std::array kSeventh = {17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0};
constexpr std::array kThirteenth = {64764752532480000.0,
                                    32382376266240000.0,
                                    7771770303897600.0,
                                    1187353796428800.0,
                                    129060195264000.0,
                                    10559470521600.0,
                                    670442572800.0,
                                    33522128640.0,
                                    1323241920.0,
                                    40840800.0,
                                    960960.0,
                                    16380.0,
                                    182.0,
                                    1.0};

Approximant approximant_of(DType dtype) {
  if (real_of(dtype) == DType::f32) return {kSeventh, 3.925724783138660};
  return {kThirteenth, 5.371920351148152};
}

/// Norms of matrices that are halved more often are refused.
constexpr int64_t kMostSquarings = 32;

/// The 1-norm of each matrix.
Handle norm_of(Handle a, const Site& s) {
  const int64_t rank = shape(a).rank();
  const Handle sums = emit<prim::ReduceSum>(s, {emit<prim::Abs>(s, {a})}, {{"axes", Ints{rank - 2}}});
  return emit<prim::ReduceMax>(s, {sums}, {{"axes", Ints{rank - 2}}});
}

/// The elements [...] for each matrix of that shape.
Handle for_each_element(Handle x, const Shape& matrices, const Site& s) {
  Ints axes;
  for (int64_t d = 0; d + 2 < matrices.rank(); ++d) axes.push_back(d);
  return broadcast_in(x, matrices, axes, s);
}

/// The sum of c[first], c[first + 2] ... times powers[0], powers[1] ...
Handle combined(std::span<const Handle> powers, std::span<const double> c, size_t first, const Site& s) {
  Handle sum = scaled(powers[0], c[first], s);
  for (size_t i = 1; i < powers.size(); ++i) sum = add(sum, scaled(powers[i], c[first + 2 * i], s), s);
  return sum;
}

/// exp of matrices whose norms are small enough: q inverse times p, where p = v + u, q = v - u, and u has the odd
/// powers.
Handle approximated(Handle a, std::span<const double> c, const Site& s) {
  const Handle a2 = product(a, a, s), a4 = product(a2, a2, s), a6 = product(a4, a2, s);
  const Handle low[] = {identity(type(a), s), a2, a4, a6}, high[] = {a2, a4, a6};
  Handle u = combined(low, c, 1, s), v = combined(low, c, 0, s);
  if (c.size() > 8) {
    u = add(u, product(a6, combined(high, c, 9, s), s), s);
    v = add(v, product(a6, combined(high, c, 8, s), s), s);
  }
  u = product(a, u, s);
  return solve_system(emit<prim::Sub>(s, {v, u}), add(v, u, s), s);
}

}  // namespace

Handle expm(const Operand& matrices, Location at) {
  const Site s{"linalg::expm", at};
  const Handle a = square_matrices_of(matrices, s);
  const Type t = type(a);
  if (t.shape.num_elements() == 0) return a;
  const Approximant approximant = approximant_of(t.dtype);
  const Handle norm = norm_of(emit<prim::StopGradient>(s, {a}), s);
  const Type norms = type(norm);
  const Handle ratio = scaled(norm, 1 / approximant.largest_norm, s);
  const Handle wanted = emit<prim::Ceil>(s, {emit<prim::Log2>(s, {ratio})});
  const Handle most = splat(static_cast<double>(kMostSquarings), norms, s);
  const Handle count = emit<prim::Clamp>(s, {splat(0, norms, s), wanted, most});
  const Handle factor = convert(emit<prim::Exp2>(s, {emit<prim::Neg>(s, {count})}), t.dtype, s);
  const Handle small = emit<prim::Mul>(s, {a, for_each_element(factor, t.shape, s)});
  const Handle first = approximated(small, approximant.coefficients, s);
  // Matrices that need fewer squarings than others stay as they are; when none needs more, nothing is done.
  const Handle steps = iota(norms.dtype, kMostSquarings, at);
  const auto square_once = [&](std::span<const Handle> in, std::vector<Handle>& out) {
    const Handle x = in[0], step = in[1];
    const Handle due = emit<prim::Lt>(s, {broadcast(step, norms.shape, s), count});
    Ints all;
    for (int64_t d = 0; d < norms.shape.rank(); ++d) all.push_back(d);
    const Handle any = all.empty() ? due : emit<prim::ReduceOr>(s, {due}, {{"axes", all}});
    const Handle operands[] = {x, due};
    const auto square = [&](std::span<const Handle> y, std::vector<Handle>& squared) {
      squared = {select(for_each_element(y[1], t.shape, s), product(y[0], y[0], s), y[0], s)};
    };
    const auto keep = [](std::span<const Handle> y, std::vector<Handle>& kept) { kept = {y[0]}; };
    out = cond(any, square, keep, operands, {at, {}});
  };
  const Handle carry[] = {first}, xs[] = {steps};
  const Handle power = scan(square_once, carry, xs, {}, {at, {}})[0];
  const Handle fits = emit<prim::Le>(s, {wanted, most});
  const Handle nan = splat(std::numeric_limits<double>::quiet_NaN(), t, s);
  return select(for_each_element(fits, t.shape, s), power, nan, s);
}

}  // namespace calque::detail::ops::linalg
