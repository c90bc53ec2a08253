#pragma once
// What the incomplete gamma and beta functions share. Every quantity is an f64 value for each element. The functions
// are integrals of exp(-h(u)) for u from 0 to infinity, with h(0) = 0, h' >= 0 and h'' >= 0, times the value of the
// integrand at the bound; a fixed number of Gauss-Legendre nodes gives every digit, for all parameters alike.
#include <optional>
#include <vector>

#include "frontend/ops/expression.h"

namespace calque::detail::ops {

inline constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");
/// Parameters above make a distribution a step for f64.
inline constexpr double kLargestParameter = 1e100;
/// How accurate values are that f64 holds: for results of f64, or of f32 and less, to about 1e-10.
enum class Digits : uint8_t { single, full };
inline Digits digits_of(DType result) { return result == DType::f64 ? Digits::full : Digits::single; }
/// Of derivatives: a rule contains the function again, with a rule of its own as long as there are orders.
inline constexpr int kIncompleteOrders = 2;

/// A function of f64 elements, traced once: the rule of its derivative contains it again.
class TracedFunction {
 public:
  /// `f` has as many operands as `operands`, which are only read for their type.
  TracedFunction(BodyRef f, std::span<const Expression> operands, const Site& s);
  /// With a rule, from operands and tangents to the value and its tangent.
  Expression with_rule(std::span<const Expression> operands, BodyRef rule) const;
  /// With derivatives that are errors.
  Expression without_derivatives(std::span<const Expression> operands) const;

 private:
  Graph graph_;
  const Site& s_;
};

/// Two operands as real floats of one shape: of `computed`, else of the type in which functions of several operations
/// are. `dtype` is that of the result. Throws DTypeError for complex numbers.
struct RealOperands {
  Expression x, y;
  DType dtype;
};
RealOperands real_operands(const Operand& x, const Operand& y, std::optional<DType> computed, const Site& s);

/// high + low, about twice the precision of f64.
struct ExactPair {
  Expression high, low;
};

ExactPair exact_sum(Expression x, Expression y);
ExactPair exact_product(Expression x, Expression y);
/// log x of positive finite x, to about 2^-60 of it.
ExactPair log_pair(Expression x);
inline ExactPair operator-(ExactPair x) { return {-x.high, -x.low}; }
ExactPair operator+(ExactPair x, ExactPair y);
/// e^(x.high + x.low)
Expression exp_of(ExactPair x);

/// a log(x / a) - d for positive a and x = a + d, at most 0: neither the difference nor the product loses digits.
ExactPair log_deviance(Expression a, ExactPair x, ExactPair d);

/// lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2 of x >= 10, to about 1e-17.
Expression stirling_rest(Expression x);
/// gamma(x) e^x x^-x sqrt(x / 2 pi), which is near 1 for large x; of x > 0.
Expression scaled_gamma(Expression x);
/// 1 / gamma(1 + x) - 1 of x in [0, 1]
Expression reciprocal_gamma_less_one(Expression x);

/// Lanczos's approximation of gamma(x) (x + c)^(1/2 - x) e^(x + c) / sqrt(2 pi), with c = kLanczosShift; of x > 0.
constexpr double kLanczosShift = 5.1;
Expression lanczos(Expression x);

/// Where series of few terms are for w, and w there.
struct SmallOf {
  Digits digits;
  Expression where, inside;

  SmallOf(Expression w, Digits of);
  Expression exp_remainder() const;
  Expression log_remainder() const;
};

/// e^w and e^w - 1 - w.
struct Exponential {
  Expression value, remainder;
};
Exponential exponential(Expression w, Digits digits);
/// w - log(1 + w), from w and 1 + w.
Expression log_remainder(Expression w, Expression one_more, Digits digits);
/// log(1 + w)
Expression log_one_more(Expression w, Digits digits);

/// How accurate an integral is: the number of nodes, and how far h goes where it is cut off.
struct Precision {
  int nodes;
  double depth;
  Digits digits;
};

/// Gauss and Legendre's nodes on one or two intervals, one behind the other from 0 on, as the last dimension, behind
/// those of the elements.
class Nodes {
 public:
  /// n nodes on each interval; where the intervals end.
  Nodes(int n, std::vector<Expression> ends, const Site& s);
  Expression positions() const;
  /// The values of elements, the same at every node.
  Expression over(Expression e) const;
  /// The integral of a function with these values at the nodes.
  Expression integral(Expression values) const;

 private:
  /// Of the intervals: the sum of each one's number, at each of its nodes, times its length, with `before` at the nodes
  /// behind an interval.
  Expression of_lengths(const std::vector<double>& each, double before) const;
  /// The numbers of each node.
  Expression constants(const std::vector<double>& values) const;

  int n_;
  std::vector<Expression> ends_;
  Shape each_, all_;
  const Site& s_;
};

/// The positive root u of q u^2 + p u = depth, for q >= 0; infinite if there is none.
Expression root_at(const Precision& precision, Expression p, Expression q);

/// d log x / da of a sample x of the gamma distribution of parameter a.
Expression log_derivative_of_sample(Expression a, Expression log_x, Expression x, const Precision& precision,
                                    const Site& s);
/// For results of an element type.
Precision derivative_precision(DType d);

}  // namespace calque::detail::ops
