#pragma once
// Arrays of random elements for operation tests: every dtype, corner values among them.
#include <complex>
#include <limits>
#include <type_traits>

#include "calque/ir/any_array.h"

#include "support/random/random.h"

namespace calque::test {

/// The set from which the elements of an operand are drawn.
enum class Domain : uint8_t {
  any,       ///< small numbers, numbers of all magnitudes, and the corners of the dtype
  moderate,  ///< numbers in [-4, 4], no corner values: functions are smooth and nothing overflows
  positive,  ///< numbers in (0, 4]
  unit,      ///< numbers in [-1, 1]
  index,     ///< integers in [-1, 4]: mostly valid positions
};

namespace detail {

template <class F>
F any_float(Rng& rng) {
  using L = std::numeric_limits<F>;
  const F corners[] = {F(0.0F),  F(-0.0F),        L::infinity(), -L::infinity(), L::quiet_NaN(), L::max(),
                       L::min(), L::denorm_min(), L::lowest(),   F(0.5F),        F(-2.5F),       L::epsilon()};
  if (rng.chance(20)) return rng.pick(corners);
  const double small = static_cast<double>(rng.between(-64, 64)) / 8;
  if (rng.chance(70)) return static_cast<F>(static_cast<float>(small));
  return static_cast<F>(static_cast<float>(small) * std::ldexp(1.0F, static_cast<int>(rng.between(-30, 30))));
}

template <class T>
T sample(Rng& rng, Domain domain) {
  if constexpr (std::is_same_v<T, bool>) {
    return rng.chance(50);
  } else if constexpr (std::is_integral_v<T>) {
    switch (domain) {
      case Domain::any: {
        using L = std::numeric_limits<T>;
        const T corners[] = {L::min(), L::max(), static_cast<T>(L::min() + 1), T{0}, T{1}, static_cast<T>(-1)};
        if (rng.chance(20)) return rng.pick(corners);
        if (rng.chance(20)) return static_cast<T>(rng.next());
        return static_cast<T>(rng.between(std::is_signed_v<T> ? -9 : 0, 9));
      }
      case Domain::positive:
        return static_cast<T>(rng.between(1, 4));
      case Domain::index:
        return static_cast<T>(rng.between(std::is_signed_v<T> ? -1 : 0, 4));
      default:
        return static_cast<T>(rng.between(std::is_signed_v<T> ? -4 : 0, 4));
    }
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using R = typename T::value_type;
    const R re = sample<R>(rng, domain);
    return {re, sample<R>(rng, domain)};
  } else {
    switch (domain) {
      case Domain::any:
        return any_float<T>(rng);
      case Domain::positive:
        return static_cast<T>(static_cast<float>(rng.between(1, 4096)) / 1024);
      case Domain::unit:
        return static_cast<T>(static_cast<float>(rng.between(-1024, 1024)) / 1024);
      case Domain::index:
        return static_cast<T>(static_cast<float>(rng.between(-1, 4)));
      default:
        return static_cast<T>(static_cast<float>(rng.between(-4096, 4096)) / 1024);
    }
  }
}

}  // namespace detail

/// An array of random elements.
inline AnyArray sample_array(const Type& type, Rng& rng, Domain domain = Domain::any) {
  AnyArray array = AnyArray::uninitialized(type);
  visit_dtype(type.dtype, [&]<class T>() {
    T* to = static_cast<T*>(array.mutable_data());
    for (int64_t i = 0, n = array.size(); i < n; ++i) to[i] = detail::sample<T>(rng, domain);
  });
  return array;
}

/// Same type and the same bits, any NaN being equal to any other.
inline bool same_numbers(const AnyArray& a, const AnyArray& b) {
  if (a.type() != b.type()) return false;
  return visit_dtype(a.dtype(), [&]<class T>() {
    const auto same = [](auto x, auto y) { return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); };
    for (int64_t i = 0, n = a.size(); i < n; ++i) {
      const T x = a.data_as<T>()[i];
      const T y = b.data_as<T>()[i];
      if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        if (!same(x.real(), y.real()) || !same(x.imag(), y.imag())) return false;
      } else if (!same(x, y)) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace calque::test
