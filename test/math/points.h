// Arguments for the measurements: random ones of every magnitude, and known hard ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace calque::math::test {

/// An endless sequence: bit patterns, numbers of moderate size, numbers near small multiples of 1/2 and of pi/4.
template <class T>
class PointSource {
 public:
  explicit PointSource(std::uint64_t seed) : engine_(seed) {}

  T next() {
    const std::uint64_t r = engine_();
    const T unit = static_cast<T>(static_cast<double>(r >> 11) * 0x1p-53);
    switch (index_++ % 8) {
      case 0:
        return any_bits(r);
      case 1:
        return signed_by(r, unit * 2);
      case 2:
        return signed_by(r, unit * 10);
      case 3:
        return signed_by(r, unit * 800);
      case 4:
        return signed_by(r, std::ldexp(1 + unit, static_cast<int>(r % 80) - 60));
      case 5: {
        const T center = static_cast<T>(static_cast<double>(r % 64) / 4);
        return center + signed_by(r >> 3, std::ldexp(unit, -static_cast<int>((r >> 8) % 50)));
      }
      case 6:
        return std::nextafter(static_cast<T>(static_cast<double>(r % 100000) * 0.785398163397448309616),
                              T((r >> 20) % 2) * 100000);
      default:
        return 1 + signed_by(r, unit / 2);
    }
  }

  T any_bits(std::uint64_t r) {
    if constexpr (sizeof(T) == 4) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(r >> 32));
    } else {
      return std::bit_cast<double>(r);
    }
  }

 private:
  static T signed_by(std::uint64_t r, T v) { return (r & 1) != 0 ? -v : v; }

  std::mt19937_64 engine_;
  std::uint64_t index_ = 0;
};

/// Ends of ranges and of formats, powers of two and their neighbours, near multiples of pi/2, where results overflow or
/// underflow.
template <class T>
std::vector<T> hard_points() {
  std::vector<T> list;
  const auto both = [&](T v) {
    for (const T s : {v, std::nextafter(v, std::numeric_limits<T>::infinity()),
                      std::nextafter(v, -std::numeric_limits<T>::infinity())}) {
      list.push_back(s);
      list.push_back(-s);
    }
  };
  const int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  for (int e = low; e < std::numeric_limits<T>::max_exponent; ++e) {
    both(std::ldexp(T(1), e));
    both(std::ldexp(T(1.5), e));
    both(std::ldexp(T(1.4142135623730951), e));
    both(std::ldexp(T(1.5707963267948966), e));
    both(std::ldexp(T(0.6931471805599453), e));
  }
  both(0);
  both(std::numeric_limits<T>::max());
  for (int i = 1; i <= 2000; ++i) {
    both(static_cast<T>(i * 0.78539816339744830962));
    both(static_cast<T>(i * 0.34657359027997265471));
    both(static_cast<T>(i * 0.5));
    both(static_cast<T>(i * 0.125));
  }
  // The doubles nearest to a multiple of pi/2, relative to their size, and large ones that need many bits of 2 / pi.
  for (const double v :
       {0x1.6ac5b262ca1ffp849, 0x1.921fb54442d18p1, 0x1.f9cbe7f8d2c6ap30, 0x1.921fb54442d18p600, 0x1p1023, 1e22, 1e300,
        709.782712893384, -745.1332191019411, 710.4758600739439, 88.72283935546875, -103.97207641601562, 36.7368,
        -36.7368, 19.06, 171.62437695630272, 26.54, 27.226}) {
    both(static_cast<T>(v));
  }
  list.push_back(std::numeric_limits<T>::infinity());
  list.push_back(-std::numeric_limits<T>::infinity());
  list.push_back(std::numeric_limits<T>::quiet_NaN());
  return list;
}

}  // namespace calque::math::test
