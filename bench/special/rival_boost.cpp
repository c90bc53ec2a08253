// Boost.Math. Without its headers it has no functions.
#include "special/special.h"

#if __has_include(<boost/math/special_functions/beta.hpp>)

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <boost/math/special_functions/zeta.hpp>
#include <boost/version.hpp>

template <class T>
Loop<T> boost_loop(std::string_view function) {
  namespace bm = boost::math;
  if (function == "lgamma") return each<T, [](T x, T, T) -> T { return bm::lgamma(x); }>;
  if (function == "trigamma") return each<T, [](T x, T, T) -> T { return bm::trigamma(x); }>;
  if (function == "polygamma 2") return each<T, [](T x, T, T) -> T { return bm::polygamma(2, x); }>;
  if (function == "beta") return each<T, [](T x, T y, T) -> T { return bm::beta(x, y); }>;
  if (function == "ndtr") return each<T, [](T x, T, T) -> T { return T(0.5) * bm::erfc(x * T(-0.70710678118654752)); }>;
  if (function == "ndtri") return each<T, [](T x, T, T) -> T { return T(-1.41421356237309505) * bm::erfc_inv(x + x); }>;
  if (function == "i0") return each<T, [](T x, T, T) -> T { return bm::cyl_bessel_i(0, x); }>;
  if (function == "i1") return each<T, [](T x, T, T) -> T { return bm::cyl_bessel_i(1, x); }>;
  if (function == "riemann zeta") return each<T, [](T x, T, T) -> T { return bm::zeta(x); }>;
  if (function == "igamma") return each<T, [](T x, T y, T) -> T { return bm::gamma_p(x, y); }>;
  if (function == "igammac") return each<T, [](T x, T y, T) -> T { return bm::gamma_q(x, y); }>;
  if (function == "betainc") return each<T, [](T x, T y, T z) -> T { return bm::ibeta(x, y, z); }>;
  return nullptr;
}

std::string boost_version() {
  return std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000);
}

#else

template <class T>
Loop<T> boost_loop(std::string_view) {
  return nullptr;
}

std::string boost_version() { return {}; }

#endif

template Loop<float> boost_loop<float>(std::string_view function);
template Loop<double> boost_loop<double>(std::string_view function);
