#include "frontend/ops/incomplete.h"

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "frontend/transforms/common.h"

namespace calque::detail::ops {
namespace {

/// The sum of z^k / (2k + first), k from 0, for |z| < 0.0313: of the series of atanh.
Expression atanh_series(Expression z, int first) {
  Expression sum = z.number(1.0 / (first + 22));
  for (int k = 11; k-- > 0;) sum = sum * z + 1.0 / (first + 2 * k);
  return sum;
}

/// 2^k for whole k of normal powers.
Expression power_of_two(Expression k) {
  const Expression bits = (k + 1023.0).as(DType::i64) * 0x1p52;
  return bits.bits_as(DType::f64);
}

}  // namespace

// ---- functions with rules

namespace {

std::vector<Handle> handles_of(std::span<const Expression> expressions) {
  return {expressions.begin(), expressions.end()};
}

}  // namespace

TracedFunction::TracedFunction(BodyRef f, std::span<const Expression> operands, const Site& s)
    : graph_(trace_symbolically(f, types_of(handles_of(operands), s.at), {s.name, s.at, {}}).graph), s_(s) {}

Expression TracedFunction::with_rule(std::span<const Expression> operands, BodyRef rule) const {
  return {emit_custom_jvp(graph_, rule, handles_of(operands), {s_.name, s_.at, {}}).front(), s_};
}

Expression TracedFunction::without_derivatives(std::span<const Expression> operands) const {
  const std::string reason = std::string(s_.name) + ": has derivatives of order one and two";
  std::vector<Handle> refused, results;
  for (const Expression e : operands)
    refused.push_back(emit<prim::Captured>(s_, {e}, {{"by", std::string()}, {"value", reason}}));
  std::vector<Graph> body(1, graph_);
  emit(prim::get<prim::Call>(), refused, {{"name", graph_.name()}}, std::move(body), s_.at, results);
  return {results.front(), s_};
}

// ---- pairs (Knuth, Dekker)

ExactPair exact_sum(Expression x, Expression y) {
  const Expression sum = x + y, t = sum - x;
  return {sum, (x - (sum - t)) + (y - t)};
}

ExactPair exact_product(Expression x, Expression y) {
  const Expression product = (x * y).rounded();
  return {product, x.times_plus(y, -product)};
}

ExactPair operator+(ExactPair x, ExactPair y) {
  const ExactPair sum = exact_sum(x.high, y.high);
  return {sum.high, sum.low + (x.low.rounded() + y.low.rounded())};
}

Expression exp_of(ExactPair x) {
  const Expression e = x.high.of<prim::Exp>();
  return e.times_plus(x.low, e);
}

// x = 2^k m with m in [sqrt(1/2), sqrt(2)]; log m = 2 atanh s with s = (m - 1) / (m + 1), whose first term is a pair.
ExactPair log_pair(Expression x) {
  const Expression k = (x.of<prim::Log2>() + 0.5).of<prim::Floor>();
  const Expression half = (k * 0.5).of<prim::Floor>();
  const Expression m = x * power_of_two(-half) * power_of_two(half - k);
  const Expression below = m - 1.0;
  const ExactPair above = exact_sum(m, m.number(1));
  const Expression s = below / above.high;
  const Expression s_low = ((-s).times_plus(above.high, below) - s * above.low) / above.high;
  const Expression z = s * s;
  const Expression rest = 2.0 * s * (z * atanh_series(z, 3));
  constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
  const ExactPair first = exact_sum((k * kLn2High).rounded(), (2.0 * s).rounded());
  const ExactPair sum = exact_sum(first.high, rest.rounded());
  return {sum.high, sum.low + (first.low + (k * kLn2Low + 2.0 * s_low))};
}

// Near x = a, with s = d / (x + a): log(x / a) = 2 atanh s and d - 2 a s = d s.
ExactPair log_deviance(Expression a, ExactPair x, ExactPair d) {
  const Expression near = d.high.of<prim::Abs>() <= 0.3 * a;
  const Expression none = a.number(0), one = a.number(1);
  const Expression numerator = near.choose(d.high, none), numerator_low = near.choose(d.low, none);
  const ExactPair sum = exact_sum(near.choose(x.high, one), a);
  const Expression sum_low = sum.low + near.choose(x.low, none);
  const Expression s = numerator / sum.high;
  const Expression s_low = ((-s).times_plus(sum.high, numerator) + (numerator_low - s * sum_low)) / sum.high;
  const ExactPair first = exact_product(numerator, s);
  const Expression first_low = first.low + (numerator * s_low + numerator_low * s);
  const Expression z = s * s;
  const ExactPair around = exact_sum(-first.high, (2.0 * a * (s * (z * atanh_series(z, 3)))).rounded());
  const Expression around_low = around.low - first_low;
  // Elsewhere as it is written.
  const ExactPair log_x = log_pair(near.choose(one, x.high)), log_a = log_pair(a);
  const ExactPair ratio = exact_sum(log_x.high, -log_a.high);
  const Expression ratio_low = ratio.low + (log_x.low - log_a.low + x.low / x.high);
  const ExactPair product = exact_product(a, ratio.high);
  const ExactPair far = exact_sum(product.high, -d.high);
  const Expression far_low = far.low + (product.low + a * ratio_low - d.low);
  return {near.choose(around.high, far.high), near.choose(around_low, far_low)};
}

// ---- gamma functions

Expression stirling_rest(Expression x) {
  // B_2k / (2k (2k - 1))
  constexpr double kTerms[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360.0, 1.0 / 156,  -3617.0 / 122400};
  const Expression r = 1.0 / x, square = r * r;
  Expression sum = x.number(kTerms[7]);
  for (int k = 7; k-- > 0;) sum = sum * square + kTerms[k];
  return sum * r;
}

Expression scaled_gamma(Expression x) {
  const Expression large = x >= 10.0;
  const Expression a = large.choose(x.number(1), x), b = large.choose(x, x.number(10));
  const Expression root = (a * (0.5 / std::numbers::pi)).of<prim::Sqrt>();
  const Expression small = a.of<prim::Tgamma>() * root / a.of<prim::Pow>(a) * a.of<prim::Exp>();
  return large.choose(stirling_rest(b).of<prim::Exp>(), small);
}

Expression reciprocal_gamma_less_one(Expression x) {
  // Taylor's series of 1 / gamma(1 + x), from the first power on.
  constexpr double kTerms[] = {
      0.57721566490153286061,     -0.65587807152025388108,    -0.042002635034095235529,    0.1665386113822914895,
      -0.042197734555544336748,   -0.0096219715278769735621,  0.0072189432466630995424,    -0.0011651675918590651121,
      -0.00021524167411495097282, 0.00012805028238811618615,  -0.000020134854780788238656, -1.2504934821426706573e-6,
      1.1330272319816958824e-6,   -2.0563384169776071035e-7,  6.1160951044814158179e-9,    5.0020076444692229301e-9,
      -1.1812745704870201446e-9,  1.0434267116911005105e-10,  7.782263439905071254e-12,    -3.6968056186422057082e-12,
      5.100370287454475979e-13,   -2.0583260535665067832e-14, -5.3481225394230179824e-15,  1.2267786282382607902e-15};
  constexpr int kCount = std::size(kTerms);
  Expression sum = x.number(kTerms[kCount - 1]);
  for (int k = kCount - 1; k-- > 0;) sum = sum * x + kTerms[k];
  return sum * x;
}

// 1 + the sum of c_k / (x + k), k from 0 to 4, exact at 1 ... 5: to 3e-11 of it everywhere.
Expression lanczos(Expression x) {
  constexpr double kNumerator[] = {3546.56769042730702, 3457.60680792016508, 1348.41318577464312, 262.942567964398176,
                                   25.6383333370603214};
  constexpr double kDenominator[] = {24, 50, 35, 10};
  Expression numerator = x + kNumerator[4], denominator = x + kDenominator[3];
  for (int k = 4; k-- > 0;) numerator = numerator * x + kNumerator[k];
  for (int k = 3; k-- > 0;) denominator = denominator * x + kDenominator[k];
  return numerator / (denominator * x);
}

// ---- integrals

namespace {

/// Nodes and weights of Gauss and Legendre on [0, 1].
struct Quadrature {
  std::vector<double> values[2];

  explicit Quadrature(int n) {
    for (int k = n; k-- > 0;) {
      long double x = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1;
      for (int step = 0; step < 6; ++step) {  // Newton's, on the polynomial by its recurrence
        long double before = 1, p = x;
        for (int i = 2; i <= n; ++i) {
          const long double next = ((2 * i - 1) * x * p - (i - 1) * before) / i;
          before = p;
          p = next;
        }
        slope = n * (x * p - before) / (x * x - 1);
        x -= p / slope;
      }
      values[0].push_back(static_cast<double>((1 + x) / 2));
      values[1].push_back(static_cast<double>(1 / ((1 - x * x) * slope * slope)));
    }
  }
};

const Quadrature& quadrature(int n) {
  static std::mutex mutex;
  static std::map<int, Quadrature> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(n, n).first->second;
}

}  // namespace

Nodes::Nodes(int n, std::vector<Expression> ends, const Site& s)
    : n_(n),
      ends_(std::move(ends)),
      each_(shape(ends_[0])),
      all_(each_.with_inserted(static_cast<size_t>(each_.rank()), n * static_cast<int64_t>(ends_.size()))),
      s_(s) {}

Expression Nodes::constants(const std::vector<double>& values) const {
  const AnyArray array = AnyArray::from(std::span<const double>(values), {static_cast<int64_t>(values.size())});
  return {broadcast_in(constant(array, s_.at), all_, {each_.rank()}, s_), s_};
}

// In terms of the ends, which are operands already: the second interval's length is their difference.
Expression Nodes::of_lengths(const std::vector<double>& each, double before) const {
  if (ends_.size() == 1) return over(ends_[0]) * constants(each);
  std::vector<double> of_first = each, of_second(each.size(), 0);
  for (const double x : each) of_first.push_back(before - x);
  of_second.insert(of_second.end(), each.begin(), each.end());
  return over(ends_[0]) * constants(of_first) + over(ends_[1]) * constants(of_second);
}

Expression Nodes::positions() const { return of_lengths(quadrature(n_).values[0], 1); }

Expression Nodes::over(Expression e) const {
  Ints axes;
  for (int i = 0; i < each_.rank(); ++i) axes.push_back(i);
  return {broadcast_in(e, all_, axes, s_), s_};
}

Expression Nodes::integral(Expression values) const {
  const std::vector<double>& weights = quadrature(n_).values[1];
  const auto sum = [&](Expression x) -> Expression {
    return {emit<prim::ReduceSum>(s_, {x}, {{"axes", Ints{each_.rank()}}}), s_};
  };
  if (ends_.size() == 1) return ends_[0] * sum(values * constants(weights));
  return sum(values * of_lengths(weights, 0));
}

Expression root_at(const Precision& precision, Expression p, Expression q) {
  const Expression square = 4 * precision.depth * q;
  // The squares of f32 are finite.
  const Expression both =
      precision.digits == Digits::full ? p.of<prim::Hypot>(square.of<prim::Sqrt>()) : (p * p + square).of<prim::Sqrt>();
  return 2 * precision.depth / (p + both);
}

// ---- remainders

SmallOf::SmallOf(Expression w, Digits of)
    : digits(of), where(w.of<prim::Abs>() < (of == Digits::full ? 0.3 : 0.02)), inside(where.choose(w, w.number(0))) {}

Expression SmallOf::exp_remainder() const {
  constexpr double kReciprocals[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,       1.0 / 120,
                                     1.0 / 720,     1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
                                     1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  int n = digits == Digits::full ? 10 : 3;
  Expression series = inside.number(kReciprocals[n]);
  while (n-- > 0) series = series * inside + kReciprocals[n];
  return series * (inside * inside);
}

// s = w / (2 + w): w - 2 s = w s, log(1 + w) = 2 s + 2 s^3 / 3 + ...
Expression SmallOf::log_remainder() const {
  const Expression s = inside / (inside + 2.0), z = s * s;
  int k = digits == Digits::full ? 11 : 1;
  Expression series = inside.number(2.0 / (2 * k + 3));
  while (k-- > 0) series = series * z + 2.0 / (2 * k + 3);
  return s * (inside - z * series);
}

Exponential exponential(Expression w, Digits digits) {
  const SmallOf small(w, digits);
  const Expression value = w.of<prim::Exp>();
  const Expression less_one = digits == Digits::full ? w.of<prim::Expm1>() : value - 1.0;
  return {value, small.where.choose(small.exp_remainder(), less_one - w)};
}

Expression log_remainder(Expression w, Expression one_more, Digits digits) {
  const SmallOf small(w, digits);
  const Expression log = digits == Digits::full ? w.of<prim::Log1p>() : one_more.of<prim::Log>();
  return small.where.choose(small.log_remainder(), w - log);
}

Expression log_one_more(Expression w, Digits digits) {
  return digits == Digits::full ? w.of<prim::Log1p>() : w - log_remainder(w, 1.0 + w, digits);
}

}  // namespace calque::detail::ops
