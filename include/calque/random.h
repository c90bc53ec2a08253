#pragma once
// Random numbers in JAX's manner: a function of a key and a shape draws numbers, and the same key gives the same
// numbers, on every device, for any number of threads, inside and outside of traces. Keys are made by `key`, and new
// ones of old ones by `split` and `fold_in`; drawing twice with one key gives the same numbers twice.
//
// Bits are those of Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2,
// 3, SC 2011) in JAX's partitionable layout: bits, uniform, randint, bernoulli and rademacher equal JAX's, others up to
// the rounding of functions such as log. Element i of a shape, in row-major order, depends on the key and on i alone
// (poisson excepted).
//
// Each function throws ShapeError for a key that is not u32[2] and for a negative extent, DTypeError for a key that is
// not of u32. Samples have the derivatives of their formulas by their parameters.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/sorting.h"

namespace calque::random {

/// The key of a stream of random numbers: a tree with one leaf of u32[2]. Functions of keys take Keys, and their
/// lambdas BasicKey<Tracer<uint32_t>>; `vmap` over a leaf of u32[n, 2] draws with n keys.
template <class A>
struct BasicKey {
  A data;
};
/// A key of data.
using Key = BasicKey<Array<uint32_t>>;

/// Whether K is a BasicKey.
template <class K>
inline constexpr bool is_key = false;
template <class A>
inline constexpr bool is_key<BasicKey<A>> = true;

/// The key of a seed: its upper and its lower 32 bits.
///     random::key((7ull << 32) + 42).data  // [ 7 42]
inline Key key(uint64_t seed) {
  return {Array<uint32_t>{static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)}};
}
/// The key of a traced seed, an integer scalar; seeds of less than 64 bits are the lower word. Throws DTypeError for
/// other types, ShapeError for other shapes.
///     jit([](auto seed) { return random::key(seed).data; })(42)  // [ 0 42]
template <class I>
BasicKey<Tracer<uint32_t>> key(const Tracer<I>& seed, Loc loc = Loc::current()) {
  return {Tracer<uint32_t>(detail::ops::random::key(seed.handle(), loc))};
}

/// n new keys, independent of each other and of what the key itself draws. Throws ShapeError for a negative n.
///     random::split(random::key(0), 3)[2].data  // [4146024105 2718843009]
template <ArrayLike A>
[[nodiscard]] std::vector<BasicKey<A>> split(const BasicKey<A>& key, int64_t n, Loc loc = Loc::current()) {
  const auto f = [&](std::span<const detail::Operand> o) { return detail::ops::random::split(o[0], n, loc); };
  const detail::Operand operands[] = {detail::operand_of(key.data, loc)};
  std::vector<BasicKey<A>> keys;
  for (A& data : detail::apply_many<A>("random::split", loc, operands, f)) keys.push_back({std::move(data)});
  return keys;
}
/// Two new keys: `auto [a, b] = split(key);`
///     auto [a, b] = random::split(random::key(0));
///     std::tuple{a.data, b.data}  // [1797259609 2579123966], [ 928981903 3453687069]
template <ArrayLike A>
[[nodiscard]] std::pair<BasicKey<A>, BasicKey<A>> split(const BasicKey<A>& key, Loc loc = Loc::current()) {
  std::vector<BasicKey<A>> keys = split(key, 2, loc);
  return {std::move(keys[0]), std::move(keys[1])};
}

/// The key that number `data` makes of a key, an integer scalar of which the lower 32 bits count: the key of step i, of
/// example i. Throws DTypeError for numbers that are not integers, ShapeError for arrays.
///     random::fold_in(random::key(0), 3).data  // [2467461003 3840466878]
template <ArrayLike A, OperandLike I>
BasicKey<out_t<uint32_t, A, I>> fold_in(const BasicKey<A>& key, const I& data, Loc loc = Loc::current()) {
  const auto f = [loc](std::span<const detail::Operand> o) { return detail::ops::random::fold_in(o[0], o[1], loc); };
  return {detail::apply<out_t<uint32_t, A, I>>("random::fold_in", loc, f, key.data, data)};
}

#define CALQUE_SAMPLER(f, Default)                                                                           \
  template <Elem T = Default, ArrayLike A>                                                                   \
  [[nodiscard]] out_t<T, A> f(const BasicKey<A>& key, const Counts& shape, Loc loc = Loc::current()) {       \
    const auto erased = [&](std::span<const detail::Operand> o) {                                            \
      return detail::ops::random::f(o[0], dtype_of<T>, detail::shape_of("random::" #f, shape, loc), loc);    \
    };                                                                                                       \
    return detail::apply<out_t<T, A>>("random::" #f, loc, erased, key.data);                                 \
  }                                                                                                          \
  template <Elem T = Default, class K>                                                                       \
    requires(!is_key<K>)                                                                                     \
  [[nodiscard]] Array<T> f(const K&, const Counts&) {                                                        \
    static_assert(is_key<K>, "calque: random::" #f ": the first argument is a key, as cq::random::key(42)"); \
    return {};                                                                                               \
  }

/// Random bits: every unsigned integer is equally likely. u8 and u16 are the low bits of u32. Throws DTypeError unless
/// T is an unsigned integer type.
///     random::bits<uint8_t>(random::key(0), {4})  // [167 146  40  53]
CALQUE_SAMPLER(bits, uint32_t)
/// Uniform in [0, 1): multiples of 2^-23 (f32), 2^-52 (f64), 2^-10 (f16), 2^-7 (bf16). Throws DTypeError unless T is a
/// floating-point type.
///     random::uniform<double>(random::key(0), {3})  // [0.41845711 0.21629545 0.96532146]
CALQUE_SAMPLER(uniform, float)
/// The standard normal distribution: sqrt(2) erfinv(u) of uniform u in (-1, 1). Complex: real and imaginary part have
/// variance 1/2 each. Throws DTypeError unless T is a floating-point or complex type.
///     random::normal<double>(random::key(0), {3})  // [-0.20584214 -0.78476578  1.81608667]
CALQUE_SAMPLER(normal, float)
/// The exponential distribution of rate 1: -log1p(-u). Throws DTypeError unless T is a floating-point type.
///     random::exponential<double>(random::key(0), {3})  // [0.54207056 0.24372319 3.36163426]
CALQUE_SAMPLER(exponential, float)
/// The standard Gumbel distribution: -log(-log(u)). Throws DTypeError unless T is a floating-point type.
///     random::gumbel<double>(random::key(0), {3})  // [ 0.13790566 -0.42599294  3.34403911]
CALQUE_SAMPLER(gumbel, float)
/// The standard Laplace distribution: sign(u) log1p(-|u|) of u in (-1, 1). Throws DTypeError unless T is a
/// floating-point type.
///     random::laplace<double>(random::key(0), {3})  // [ 0.17803369  0.83796278 -2.66848708]
CALQUE_SAMPLER(laplace, float)
/// The standard logistic distribution: log(u) - log1p(-u). Throws DTypeError unless T is a floating-point type.
///     random::logistic<double>(random::key(0), {3})  // [-0.32911032 -1.28738678  3.32634015]
CALQUE_SAMPLER(logistic, float)
/// The standard Cauchy distribution: tan(pi (u - 1/2)). Throws DTypeError unless T is a floating-point type.
///     random::cauchy<double>(random::key(0), {3})  // [-0.26192951 -1.23784602  9.14252843]
CALQUE_SAMPLER(cauchy, float)
/// -1 and 1, equally likely. Throws DTypeError for bool and unsigned integer types.
///     random::rademacher(random::key(0), {6})  // [-1 -1  1  1 -1  1]
CALQUE_SAMPLER(rademacher, int32_t)
#undef CALQUE_SAMPLER

#define CALQUE_SAMPLER(f, Default)                                                                                    \
  template <Elem T = Default, ArrayLike A, OperandLike L, OperandLike H>                                              \
  [[nodiscard]] out_t<T, A, L, H> f(const BasicKey<A>& key, const Counts& shape, const L& low, const H& high,         \
                                    Loc loc = Loc::current()) {                                                       \
    const auto erased = [&](std::span<const detail::Operand> o) {                                                     \
      return detail::ops::random::f(o[0], o[1], o[2], dtype_of<T>, detail::shape_of("random::" #f, shape, loc), loc); \
    };                                                                                                                \
    return detail::apply<out_t<T, A, L, H>>("random::" #f, loc, erased, key.data, low, high);                         \
  }

/// Uniform in [low, high): low + (high - low) u of u in [0, 1), rounded operation by operation; the bounds broadcast to
/// the shape. Rounding may give `high`. Throws DTypeError unless T is a floating-point type to which the bounds
/// promote, ShapeError when they do not broadcast.
///     random::uniform<double>(random::key(0), {3}, -1, D{0, 1, 2})  // [-0.58154289 -0.56740909  1.89596438]
CALQUE_SAMPLER(uniform, float)
/// Integers in [low, high), from two draws modulo the range as JAX; biased by less than 2^-32 (of 64-bit types 2^-64)
/// times the range. Bounds are integers of any type and broadcast to the shape; those beyond T are limited to it, and
/// `high` may be one more than the greatest T. An empty range gives `low`. Throws DTypeError unless T and the bounds
/// are integers, ShapeError when the bounds do not broadcast.
///     random::randint(random::key(0), {6}, 1, 7)  // [2 1 3 2 6 4]
CALQUE_SAMPLER(randint, int32_t)
#undef CALQUE_SAMPLER

/// The standard normal distribution limited to (low, high): sqrt(2) erfinv(u) of u between erf(low / sqrt(2)) and
/// erf(high / sqrt(2)). Throws DTypeError unless T is a floating-point type to which the bounds promote, ShapeError
/// when they do not broadcast to the shape.
///     random::truncated_normal<double>(random::key(0), -1, 1, {3})  // [-0.13999612 -0.50631466  0.90652156]
template <Elem T = float, ArrayLike A, OperandLike L, OperandLike H>
[[nodiscard]] out_t<T, A, L, H> truncated_normal(const BasicKey<A>& key, const L& low, const H& high,
                                                 const Counts& shape, Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::truncated_normal(o[0], o[1], o[2], dtype_of<T>,
                                                 detail::shape_of("random::truncated_normal", shape, loc), loc);
  };
  return detail::apply<out_t<T, A, L, H>>("random::truncated_normal", loc, erased, key.data, low, high);
}

#define CALQUE_SAMPLER(f, Default)                                                                              \
  template <Elem T = Default, ArrayLike A, OperandLike P>                                                       \
  [[nodiscard]] out_t<T, A, P> f(const BasicKey<A>& key, const P& parameter, const Counts& shape,               \
                                 Loc loc = Loc::current()) {                                                    \
    const auto erased = [&](std::span<const detail::Operand> o) {                                               \
      return detail::ops::random::f(o[0], o[1], dtype_of<T>, detail::shape_of("random::" #f, shape, loc), loc); \
    };                                                                                                          \
    return detail::apply<out_t<T, A, P>>("random::" #f, loc, erased, key.data, parameter);                      \
  }

/// The gamma distribution of shape parameter a, which broadcasts to the shape, and scale 1 (Marsaglia and Tsang 2000;
/// of a < 1 that of a + 1 times u^(1/a)); NaN unless a > 0. The derivative of a sample by a is that of its quantile
/// (Figurnov, Mohamed and Mnih 2018), of order one and two; differentiating again throws GradError. 16-bit floats are
/// drawn as f32 and rounded. Throws DTypeError unless T is a floating-point type to which a promotes, ShapeError when a
/// does not broadcast.
///     random::gamma<double>(random::key(0), D{0.5, 2, 100}, {3})  // [9.80536868e-02 1.12435945e+00 1.12069468e+02]
CALQUE_SAMPLER(gamma, float)
/// The logarithm of `gamma` of the same key: precise for small a, where most samples are too small for T.
///     random::loggamma<double>(random::key(0), D{1e-3, 2, 100}, {3})
///     // [-1.11302585e+03  1.17213496e-01  4.71911893e+00]
CALQUE_SAMPLER(loggamma, float)
/// The chi-squared distribution of df degrees of freedom: twice gamma of df / 2. NaN unless df > 0; derivatives and
/// errors as those of gamma.
///     random::chisquare<double>(random::key(0), 3, {3})  // [1.81389348 1.44835385 5.98027483]
CALQUE_SAMPLER(chisquare, float)
/// Student's t distribution of df degrees of freedom: n sqrt(df / 2 / g) of normal n and g of gamma of df / 2. NaN
/// unless df > 0; derivatives and errors as those of gamma.
///     random::t<double>(random::key(0), 3, {3})  // [ 1.40115888 -0.60724612  1.12196326]
CALQUE_SAMPLER(t, float)
/// The number of events of the given rate, which broadcasts to the shape and is computed in f32: Knuth's product of
/// uniform numbers for rates below 10, else transformed rejection (Hoermann: The Transformed Rejection Method for
/// Generating Poisson Random Variables, 1993). -1, in T, where the rate is negative or NaN. Unlike those of other
/// distributions, an element depends on the others of the shape where rates are 10 and more, as in JAX. Numbers beyond
/// T are limited to it. Throws DTypeError unless T is an integer type and the rate real, ShapeError when the rate does
/// not broadcast.
///     random::poisson(random::key(0), D{0.5, 4, 1000}, {3})  // [  0   1 959]
CALQUE_SAMPLER(poisson, int32_t)
#undef CALQUE_SAMPLER

/// The beta distribution: x / (x + y) of x and y of gamma of a and b, which broadcast to the shape. NaN unless both are
/// positive; derivatives by both, and errors, as those of gamma.
///     random::beta<double>(random::key(0), 2, 3, {3})  // [0.32795607 0.61380901 0.76013421]
template <Elem T = float, ArrayLike A, OperandLike X, OperandLike Y>
[[nodiscard]] out_t<T, A, X, Y> beta(const BasicKey<A>& key, const X& a, const Y& b, const Counts& shape,
                                     Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::beta(o[0], o[1], o[2], dtype_of<T>, detail::shape_of("random::beta", shape, loc), loc);
  };
  return detail::apply<out_t<T, A, X, Y>>("random::beta", loc, erased, key.data, a, b);
}

/// The Dirichlet distribution: softmax of loggamma of alpha, whose last dimension counts the classes and whose others
/// broadcast to the shape; the result is of that shape followed by the classes. NaN for draws with an alpha that is not
/// positive; derivatives and errors as those of gamma. Throws ShapeError for a scalar alpha.
///     random::dirichlet<double>(random::key(0), D{1, 2, 3}, {2})  // [[7.06534556e-02 1.67055689e-01 7.62290855e-01]
///                                                                 //  [6.81884956e-04 2.07679228e-01 7.91638887e-01]]
template <Elem T = float, ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<T, A, X> dirichlet(const BasicKey<A>& key, const X& alpha, const Counts& shape,
                                       Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    const Shape draws = detail::shape_of("random::dirichlet", shape, loc);
    return detail::ops::random::dirichlet(o[0], o[1], dtype_of<T>, draws, loc);
  };
  return detail::apply<out_t<T, A, X>>("random::dirichlet", loc, erased, key.data, alpha);
}

/// Vectors from normal distributions: mean + l z, where l = linalg::cholesky(cov) and z is standard normal. mean is
/// [..., n], cov [..., n, n], the result [shape..., n] of their promoted type; their batch dimensions broadcast to the
/// shape, which is that of the batch if there is none. NaN where cov is not positive definite. Throws ShapeError when
/// shapes do not fit, DTypeError for 16-bit floats and complex numbers.
///     random::multivariate_normal(random::key(0), D{0, 10}, D{{2, 1}, {1, 2}}, Shape{2})
///     // [[-0.29110475  8.89330977]
///     //  [ 2.5683344  11.51422819]]
template <class A, OperandLike M, OperandLike C>
auto multivariate_normal(const BasicKey<A>& key, const M& mean, const C& cov, std::optional<Shape> shape = {},
                         Loc loc = Loc::current()) {
  using X = out_t<inexact_t<promoted_elem_t<M, C>>, A, M, C>;
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::multivariate_normal(o[0], o[1], o[2], shape, loc);
  };
  return detail::apply<X>("random::multivariate_normal", loc, erased, key.data, mean, cov);
}

/// Orthogonal matrices n x n, [shape..., n, n], uniformly distributed (by Haar's measure): q of linalg::qr of standard
/// normal numbers, with the signs of r's diagonal. T is float or double (DTypeError). Throws ShapeError for n < 0.
///     random::orthogonal<double>(random::key(0), 2)  // [[-0.11262267 -0.99363783]
///                                                    //  [ 0.99363783 -0.11262267]]
template <class T, class A>
[[nodiscard]] out_t<T, A> orthogonal(const BasicKey<A>& key, int64_t n, const Counts& shape = {},
                                     Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::orthogonal(o[0], n, dtype_of<T>, detail::shape_of("random::orthogonal", shape, loc),
                                           loc);
  };
  return detail::apply<out_t<T, A>>("random::orthogonal", loc, erased, key.data);
}

/// True with probability p, which broadcasts to the shape: u < p of uniform u of p's type (f32 for a C++ number), so
/// false where p is NaN. Throws DTypeError for complex p, ShapeError when p does not broadcast.
///     random::bernoulli(random::key(0), 0.5, {4})  // [False False  True  True]
template <ArrayLike A, OperandLike P>
[[nodiscard]] out_t<bool, A, P> bernoulli(const BasicKey<A>& key, const P& p, const Counts& shape,
                                          Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::bernoulli(o[0], o[1], detail::shape_of("random::bernoulli", shape, loc), loc);
  };
  return detail::apply<out_t<bool, A, P>>("random::bernoulli", loc, erased, key.data, p);
}

/// The index (i32) of a class along the axis, with probability softmax(logits): the maximum of logits plus Gumbel
/// noise. One draw for each of the other dimensions of the logits. Throws ShapeError for an axis out of range and
/// without classes, DTypeError for complex logits.
///     random::categorical(random::key(0), log(D{{0.1, 0.9}, {0.9, 0.1}}))  // [1 0]
template <ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<int32_t, A, X> categorical(const BasicKey<A>& key, const X& logits, Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::categorical(o[0], o[1], std::nullopt, -1, loc);
  };
  return detail::apply<out_t<int32_t, A, X>>("random::categorical", loc, erased, key.data, logits);
}
/// The same of a shape that ends with the other dimensions of the logits, or with dimensions to which they broadcast.
/// Throws ShapeError when it does not.
///     random::categorical(random::key(0), log(D{0.1, 0.7, 0.2}), {6})  // [2 1 1 1 1 1]
template <ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<int32_t, A, X> categorical(const BasicKey<A>& key, const X& logits, const Counts& shape,
                                               int axis = -1, Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    const Shape draws = detail::shape_of("random::categorical", shape, loc);
    return detail::ops::random::categorical(o[0], o[1], draws, axis, loc);
  };
  return detail::apply<out_t<int32_t, A, X>>("random::categorical", loc, erased, key.data, logits);
}

/// The numbers 0 to n - 1 (i32) in random order: stable sorts by random bits, the permutation of JAX. Throws ShapeError
/// for a negative n and for one that i32 does not hold.
///     random::permutation(random::key(0), 5)  // [0 1 4 3 2]
template <ArrayLike A>
[[nodiscard]] out_t<int32_t, A> permutation(const BasicKey<A>& key, int64_t n, Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::permutation(o[0], n, loc);
  };
  return detail::apply<out_t<int32_t, A>>("random::permutation", loc, erased, key.data);
}
/// The slices of x along the axis in random order, all in the same one. Throws ShapeError for an axis out of range.
///     random::permutation(random::key(0), D{10, 20, 30, 40})  // [10. 20. 40. 30.]
template <ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, A, X> permutation(const BasicKey<A>& key, const X& x, int axis = 0,
                                                 Loc loc = Loc::current()) {
  const auto erased = [&](std::span<const detail::Operand> o) {
    return detail::ops::random::permutation(o[0], o[1], axis, loc);
  };
  return detail::apply<out_t<elem_t<X>, A, X>>("random::permutation", loc, erased, key.data, x);
}

/// Probabilities of `choice`: an array, or a tracer, that lives during the call.
struct Probabilities {
  std::optional<detail::Operand> operand;

  Probabilities() = default;
  template <ArrayLike P>
  Probabilities(const P& p, Loc loc = Loc::current()) : operand(detail::operand_of(p, loc)) {}
  /// Appends them if there are any.
  std::vector<detail::Operand> behind(std::vector<detail::Operand> operands) const {
    if (operand) operands.push_back(*operand);
    return operands;
  }
};
/// How `choice` draws.
struct ChoiceOptions {
  /// Whether an element may be drawn more than once.
  bool replace = true;
  /// The probability of each element, up to a common factor; without them all are equally likely.
  Probabilities p{};
  int axis = 0;
};
/// Slices of x along an axis, drawn at random: the dimensions of `shape` replace the axis, as jax.random.choice, with
/// the same draws. With replacement: `randint`, or a search in the sums of the probabilities; without: the first of
/// `permutation`, or those with the greatest log(p) plus Gumbel noise. Inside a trace x or the key is a tracer when p
/// is one. Throws ShapeError for an axis out of range, without elements, when more are drawn than there are without
/// replacement, and unless p has one number for each element; DTypeError for complex p.
///     random::choice(random::key(0), D{10, 20, 30}, {4}, {.p = D{1, 1, 8}})  // [30. 30. 10. 30.]
template <ArrayLike A, ArrayLike X>
[[nodiscard]] out_t<elem_t<X>, A, X> choice(const BasicKey<A>& key, const X& x, const Counts& shape,
                                            const ChoiceOptions& options = {}, Loc loc = Loc::current()) {
  const std::vector<detail::Operand> operands =
      options.p.behind({detail::operand_of(key.data, loc), detail::operand_of(x, loc)});
  const auto erased = [&](std::span<const detail::Operand> o) {
    const Shape of = detail::shape_of("random::choice", shape, loc);
    return detail::ops::random::choice(o[0], o[1], of, options.replace, o.size() > 2 ? &o[2] : nullptr, options.axis,
                                       loc);
  };
  return detail::apply_to<out_t<elem_t<X>, A, X>>("random::choice", loc, operands, erased);
}
/// The same of the numbers 0 to n - 1 (i32).
///     random::choice(random::key(0), 5, {3}, {.replace = false})  // [0 1 4]
template <ArrayLike A>
[[nodiscard]] out_t<int32_t, A> choice(const BasicKey<A>& key, int64_t n, const Counts& shape,
                                       const ChoiceOptions& options = {}, Loc loc = Loc::current()) {
  const std::vector<detail::Operand> operands = options.p.behind({detail::operand_of(key.data, loc)});
  const auto erased = [&](std::span<const detail::Operand> o) {
    const Shape of = detail::shape_of("random::choice", shape, loc);
    return detail::ops::random::choice(o[0], n, of, options.replace, o.size() > 1 ? &o[1] : nullptr, loc);
  };
  return detail::apply_to<out_t<int32_t, A>>("random::choice", loc, operands, erased);
}

/// A std::uniform_random_bit_generator: the numbers bits<uint64_t>(key, {n}) one after the other, for the distributions
/// of <random> and for std::shuffle. Satisfies what they need of an engine; copies continue independently.
class BitGenerator {
 public:
  using result_type = uint64_t;
  /// Throws ShapeError unless the key is u32[2].
  explicit BitGenerator(const Key& key, Loc loc = Loc::current());
  /// The least number, 0.
  static constexpr result_type min() { return 0; }
  /// The greatest number, 2^64 - 1.
  static constexpr result_type max() { return ~uint64_t{0}; }
  /// The next number.
  result_type operator()();

 private:
  uint32_t k0_, k1_;
  uint64_t counter_ = 0;
};

}  // namespace calque::random
