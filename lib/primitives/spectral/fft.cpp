#include "primitives/spectral/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/list.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<SpectralList>(std::span<const Registration>);

namespace {

constexpr DTypeSet kParts = set_of(DType::f32) | set_of(DType::f64);

/// Nothing if the text names no transform.
std::optional<FftKind> kind_of(const Attributes& attributes) {
  const auto found = std::find(kFftNames.begin(), kFftNames.end(), attributes.get<std::string>("kind"));
  if (found == kFftNames.end()) return std::nullopt;
  return static_cast<FftKind>(found - kFftNames.begin());
}

bool has_pairs(const Attributes& attributes) { return attributes.has("pairs") && attributes.get<bool>("pairs"); }

/// A complex number of the reference, whose product recovers no infinities.
template <class W>
struct Number {
  W re = 0, im = 0;
  Number& operator+=(const Number& z) {
    re += z.re, im += z.im;
    return *this;
  }
  friend Number operator*(const Number& x, const Number& y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
};

/// exp(-2 pi i k / n) of 0 <= k < n: by the angle's distance from the nearest axis, which is at most pi / 4.
template <class W>
Number<W> root_of_unity(size_t k, size_t n) {
  const size_t eighths = 8 * k / n;
  const size_t quarter = (eighths + 1) / 2;  // the axis, 4 is that of 0
  const auto rest = static_cast<long double>(static_cast<int64_t>(4 * k) - static_cast<int64_t>(quarter * n));
  const long double angle = std::numbers::pi_v<long double> / 2 * rest / static_cast<long double>(n);
  const auto c = static_cast<W>(std::cos(angle)), s = static_cast<W>(std::sin(angle));
  switch (quarter % 4) {
    case 0:
      return {c, -s};
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    default:
      return {s, c};
  }
}

/// Transforms of all lengths that divide that of the roots.
template <class W>
class Transform {
 public:
  explicit Transform(size_t n) {
    for (size_t k = 0; k < n; ++k) roots_.push_back(root_of_unity<W>(k, n));
  }

  /// By those of its parts, the elements of equal remainders by the least prime factor.
  std::vector<Number<W>> operator()(const Number<W>* x, size_t stride, size_t n) const {
    if (n == 1) return {*x};
    size_t p = 2;
    while (n % p != 0) p = p * p > n ? n : p + 1;
    const size_t m = n / p, step = roots_.size() / n;
    std::vector<Number<W>> y(n);
    for (size_t r = 0; r < p; ++r) {
      const std::vector<Number<W>> part = (*this)(x + r * stride, stride * p, m);
      for (size_t k = 0; k < n; ++k) y[k] += roots_[r * k % n * step] * part[k % m];
    }
    return y;
  }

 private:
  std::vector<Number<W>> roots_;
};

template <class R>
void evaluate_rows(FftKind kind, const R* from, R* to, size_t n, size_t rows) {
  using W = Wider<R>;
  const Transform<W> transform(n);
  const bool inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  const size_t half = n / 2 + 1;
  std::vector<Number<W>> x(n);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t j = 0; j < n; ++j) {
      if (kind == FftKind::rfft) {
        x[j] = {static_cast<W>(*from++), 0};
      } else if (kind != FftKind::irfft || j < half) {
        x[j] = {static_cast<W>(from[0]), static_cast<W>(from[1])};
        from += 2;
        if (kind == FftKind::irfft && (j == 0 || 2 * j == n)) x[j].im = 0;
      } else {
        x[j] = {x[n - j].re, -x[n - j].im};
      }
    }
    // The inverse: conjugates before and behind.
    if (inverse)
      for (Number<W>& z : x) z.im = -z.im;
    const std::vector<Number<W>> y = transform(x.data(), 1, n);
    const W divisor = inverse ? static_cast<W>(n) : W(1);
    for (size_t k = 0; k < (kind == FftKind::rfft ? half : n); ++k) {
      *to++ = static_cast<R>(y[k].re / divisor);
      if (kind != FftKind::irfft) *to++ = static_cast<R>((inverse ? -y[k].im : y[k].im) / divisor);
    }
  }
}

/// `ends` at 0 and, of an even length, at length / 2; `inner` between them. Of that shape, whose last dimension is half
/// of the results.
Term half_weights(const Writer& w, Type type, int64_t length, double ends, double inner) {
  const Term index{&w, w.iota(DType::i64, type.shape, type.shape.rank() - 1)};
  Term is_end = index == 0.0;
  if (length % 2 == 0) is_end = is_end | (index == static_cast<double>(length / 2));
  return select(is_end, {&w, w.splat(ends, type)}, {&w, w.splat(inner, type)});
}

}  // namespace

uint32_t Fft::routine_flags(const Attributes& attributes) { return static_cast<uint32_t>(*kind_of(attributes)); }

void Fft::infer(Typing& t) {
  const std::optional<FftKind> kind = kind_of(t.attributes());
  if (!kind)
    t.rule_error("kind is \"" + t.attributes().get<std::string>("kind") + "\", expects fft, ifft, rfft or irfft");
  const int64_t length = t.integer("length");
  if (length < 1) t.shape_error(fmt::format("length is {}, expects at least 1", length));
  const bool pairs = has_pairs(t.attributes()), from_real = *kind == FftKind::rfft, to_real = *kind == FftKind::irfft;
  t.accept(0, from_real || pairs ? kParts : kComplex);
  const Type& type = t.operand(0);
  Shape rows = type.shape;
  if (pairs && !from_real) {
    if (rows.rank() == 0 || rows[rows.size() - 1] != 2)
      t.shape_error(fmt::format("expects pairs, got {}", to_string(type)));
    rows = rows.without(rows.size() - 1);
  }
  const int64_t half = length / 2 + 1, read = to_real ? half : length;
  if (rows.rank() == 0 || rows[rows.size() - 1] != read)
    t.shape_error(fmt::format("expects rows of {} for length {}, got {}", read, length, to_string(type)));
  const Shape shape = rows.with(rows.size() - 1, from_real ? half : length);
  if (pairs) return t.result({type.dtype, to_real ? shape : shape.with_inserted(shape.size(), 2)});
  t.result({from_real ? (type.dtype == DType::f64 ? DType::c128 : DType::c64)
            : to_real ? real_of(type.dtype)
                      : type.dtype,
            shape});
}

void Fft::evaluate(Evaluation& e) {
  const FftKind kind = *kind_of(e.attributes);
  const auto n = static_cast<size_t>(e.attributes.integer("length"));
  const AnyArray& x = e.operands[0];
  AnyArray& out = e.add_result();
  const bool is_double = size_of(real_of(x.dtype())) == sizeof(double);
  // In numbers of memory: those of a row of the operand.
  const size_t parts = x.shape().num_elements() * (is_complex(x.dtype()) ? 2 : 1);
  const size_t row = kind == FftKind::rfft ? n : kind == FftKind::irfft ? 2 * (n / 2 + 1) : 2 * n;
  if (is_double)
    evaluate_rows(kind, static_cast<const double*>(x.data()), static_cast<double*>(out.mutable_data()), n, parts / row);
  else
    evaluate_rows(kind, static_cast<const float*>(x.data()), static_cast<float*>(out.mutable_data()), n, parts / row);
}

void Fft::jvp(Jvp& j) { j.add(j.emit<Fft>({j.tangents[0]}, j.attributes())); }

/// Complex transforms are symmetric. Of real ones each result between the ends stands for two of the complex transform,
/// it and its conjugate: rfft and irfft are each other's transposes but for weights and conjugates.
void Fft::transpose(Transposition& t) {
  const Writer& w = t.writer;
  const FftKind kind = *kind_of(t.attributes());
  const int64_t length = t.attributes().integer("length");
  const auto n = static_cast<double>(length);
  Attributes attributes = t.attributes();
  if (kind == FftKind::rfft) {
    attributes.set("kind", std::string("irfft"));
    const Term z = t.cotangent(), x = real(z);
    const Term weights = half_weights(w, w.type(x.value), length, n, n / 2);
    t.add(0, t.emit<Fft>({complex(x * weights, -(imag(z) * weights)).value}, attributes));
  } else if (kind == FftKind::irfft) {
    attributes.set("kind", std::string("rfft"));
    const Term z{&w, t.emit<Fft>({t.cotangents[0]}, attributes)}, x = real(z);
    const Term weights = half_weights(w, w.type(x.value), length, 1 / n, 2 / n);
    t.add(0, complex(x * weights, -(imag(z) * weights)));
  } else {
    t.add(0, t.emit<Fft>({t.cotangents[0]}, attributes));
  }
}

}  // namespace calque::primitives
