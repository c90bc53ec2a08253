// Comparisons of arrays on the host, for tests and users; NaN is handled as NumPy does.
#include <cmath>
#include <complex>

#include "calque/detail/array_data.h"

namespace calque::detail {
namespace {

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex(dtype_of<T>)) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (is_floating(dtype_of<T>)) {
    return std::isnan(static_cast<double>(x));
  } else {
    return false;
  }
}
template <class T>
bool is_finite(T x) {
  if constexpr (is_complex(dtype_of<T>)) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else if constexpr (is_floating(dtype_of<T>)) {
    return std::isfinite(static_cast<double>(x));
  } else {
    return true;
  }
}
template <class T>
auto widened(T x) {
  if constexpr (is_complex(dtype_of<T>)) {
    return std::complex<double>(x);
  } else if constexpr (sizeof(T) == 8 && !is_floating(dtype_of<T>)) {
    return static_cast<long double>(x);
  } else {
    return static_cast<double>(x);
  }
}

template <class T>
bool close(T a, T b, double rtol, double atol, bool equal_nan) {
  if (is_nan(a) || is_nan(b)) return equal_nan && is_nan(a) && is_nan(b);
  if (!is_finite(a) || !is_finite(b)) return a == b;
  const auto x = widened(a), y = widened(b);
  return std::abs(x - y) <= atol + rtol * std::abs(y);
}

/// The strides of an operand in a shape to which it broadcasts: 0 along broadcast dimensions.
Shape::Dims broadcast_strides(const Shape& from, const Shape& to) {
  const Shape::Dims own = row_major_strides(from);
  Shape::Dims strides;
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t added = to.size() - from.size();
    strides.push_back(i < added || from[i - added] == 1 ? 0 : own[i - added]);
  }
  return strides;
}

}  // namespace

bool allclose(const AnyArray& a, const AnyArray& b, double rtol, double atol, bool equal_nan, Location location) {
  bool ok = false;
  const Shape shape = broadcast_shapes(a.shape(), b.shape(), ok);
  if (!ok) {
    throw ShapeError("allclose: the shapes do not broadcast, got " + to_string(a.type()) + " and " +
                     to_string(b.type()) + where_text(location));
  }
  const Shape::Dims strides = row_major_strides(shape), a_strides = broadcast_strides(a.shape(), shape),
                    b_strides = broadcast_strides(b.shape(), shape);
  const void *x = host_data(a, location), *y = host_data(b, location);
  return visit_dtype(a.dtype(), [&]<class T>() {
    for (int64_t i = 0, n = shape.num_elements(); i < n; ++i) {
      int64_t at_a = 0, at_b = 0;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t k = i / strides[axis] % shape[axis];
        at_a += k * a_strides[axis];
        at_b += k * b_strides[axis];
      }
      if (!close(static_cast<const T*>(x)[at_a], static_cast<const T*>(y)[at_b], rtol, atol, equal_nan)) return false;
    }
    return true;
  });
}

bool array_equal(const AnyArray& a, const AnyArray& b, bool equal_nan, Location location) {
  if (a.shape() != b.shape()) return false;
  const void *x = host_data(a, location), *y = host_data(b, location);
  return visit_dtype(a.dtype(), [&]<class T>() {
    for (int64_t i = 0, n = a.size(); i < n; ++i) {
      const T p = static_cast<const T*>(x)[i], q = static_cast<const T*>(y)[i];
      if (!(p == q) && !(equal_nan && is_nan(p) && is_nan(q))) return false;
    }
    return true;
  });
}

}  // namespace calque::detail
