#include "calque/compare.h"

#include <bit>
#include <cmath>
#include <complex>
#include <sstream>
#include <type_traits>

namespace calque::cli {
namespace {

template <class T>
inline constexpr bool kIsComplex = is_complex(dtype_of<T>);

template <size_t Bytes>
using BitsOf = std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>;

/// Representable values from a to b; both zeros are one.
template <class T>
uint64_t distance(T a, T b) {
  using Bits = BitsOf<sizeof(T)>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
  const uint64_t m = static_cast<Bits>(x & ~kSign), n = static_cast<Bits>(y & ~kSign);
  if ((x & kSign) != (y & kSign)) return m + n;
  return m > n ? m - n : n - m;
}

template <class T>
bool sign_of(T x) {
  return std::bit_cast<BitsOf<sizeof(T)>>(x) >> (8 * sizeof(T) - 1) != 0;
}

template <class T>
bool is_nan(std::complex<T> x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

template <class T>
bool close(T got, T want, const Tolerance& t) {
  if constexpr (kIsComplex<T>) {
    // A complex number is NaN when one of its parts is.
    if (is_nan(got) || is_nan(want)) return is_nan(got) && is_nan(want);
    const bool finite = std::isfinite(got.real()) && std::isfinite(got.imag()) && std::isfinite(want.real()) &&
                        std::isfinite(want.imag());
    if (t.kind != Tolerance::Kind::relative || !finite) {
      return close(got.real(), want.real(), t) && close(got.imag(), want.imag(), t);
    }
    if (t.signed_zero && ((want.real() == 0 && got.real() == 0 && sign_of(want.real()) != sign_of(got.real())) ||
                          (want.imag() == 0 && got.imag() == 0 && sign_of(want.imag()) != sign_of(got.imag())))) {
      return false;
    }
    const std::complex<double> a(got), b(want);
    return std::abs(a - b) <= t.atol + t.rtol * std::abs(b);
  } else if constexpr (!is_floating(dtype_of<T>)) {
    return got == want;
  } else {
    if (got != got || want != want) return got != got && want != want;
    const double a = static_cast<double>(got), b = static_cast<double>(want);
    if (t.signed_zero && a == 0 && b == 0) return sign_of(got) == sign_of(want);
    if (a == b) return true;
    switch (t.kind) {
      case Tolerance::Kind::exact:
        return false;
      case Tolerance::Kind::ulp:
        return static_cast<double>(distance(got, want)) <= t.ulp;
      case Tolerance::Kind::relative:
        return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= t.atol + t.rtol * std::abs(b);
    }
    return false;
  }
}

template <class T>
void write(std::ostream& out, T x) {
  if constexpr (kIsComplex<T>) {
    out << '(';
    write(out, x.real());
    out << ", ";
    write(out, x.imag());
    out << ')';
  } else if constexpr (std::is_integral_v<T>) {
    out << +x;
  } else {
    out.precision(sizeof(T) == 8 ? 17 : sizeof(T) == 4 ? 9 : 6);
    out << static_cast<double>(x);
  }
}

/// `[1,2]` of the flat index.
std::string index_text(const Shape& shape, int64_t flat) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = std::to_string(flat % shape[d]) + (text.empty() ? "" : ",") + text;
    flat /= shape[d];
  }
  return "[" + text + "]";
}

bool in_lower_triangle(const Shape& shape, int64_t flat) {
  if (shape.rank() < 2) return true;
  const int64_t columns = shape[shape.size() - 1], rows = shape[shape.size() - 2];
  return flat % columns <= flat / columns % rows;
}

template <class T>
std::string difference_of(const AnyArray& got, const AnyArray& want, const Tolerance& t) {
  const T* a = got.data_as<T>();
  const T* b = want.data_as<T>();
  int64_t count = 0, first = 0;
  for (int64_t i = 0, n = got.size(); i < n; ++i) {
    if (t.lower_only && !in_lower_triangle(got.shape(), i)) continue;
    if (close(a[i], b[i], t)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  std::ostringstream out;
  out << count << " of " << got.size() << " elements differ, first " << index_text(got.shape(), first) << ": got ";
  write(out, a[first]);
  out << ", want ";
  write(out, b[first]);
  if constexpr (is_floating(dtype_of<T>)) {
    if (t.kind == Tolerance::Kind::ulp && a[first] == a[first] && b[first] == b[first]) {
      out << ", " << distance(a[first], b[first]) << " ulp";
    }
  }
  return out.str();
}

}  // namespace

std::string difference(const AnyArray& got, const AnyArray& want, const Tolerance& tolerance) {
  if (got.type() != want.type()) return "got " + to_string(got.type()) + ", want " + to_string(want.type());
  return visit_dtype(got.dtype(), [&]<class T>() { return difference_of<T>(got, want, tolerance); });
}

}  // namespace calque::cli
