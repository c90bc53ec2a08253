#pragma once
// Elements of a run-time dtype as bytes, so that the code that compiles kernels, runs them and compares their results
// is not a template over the dtypes.
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "calque/ir/dtype.h"

namespace calque::test {

template <class T>
constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool kFloat = std::is_floating_point_v<T> || kHalf<T>;
/// The type in which one operation is computed.
template <class T>
using Wide = std::conditional_t<kHalf<T>, float, T>;

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = values[i];  // of vector<bool> too
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

/// One element as text.
inline std::string show(DType dtype, const uint8_t* element) {
  return visit_dtype(dtype, [&]<class T>() -> std::string {
    T v;
    std::memcpy(&v, element, sizeof(T));
    if constexpr (kFloat<T>) {
      return std::to_string(static_cast<double>(v)) + "/" + std::to_string(std::signbit(static_cast<Wide<T>>(v)));
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(v);
    } else {
      return {};
    }
  });
}

/// Bitwise equal, except that any NaN equals any other.
inline bool same(DType dtype, const uint8_t* a, const uint8_t* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  return visit_dtype(dtype, [&]<class T>() {
    if constexpr (kFloat<T>) {
      T x, y;
      std::memcpy(&x, a, sizeof(T));
      std::memcpy(&y, b, sizeof(T));
      return std::isnan(static_cast<Wide<T>>(x)) && std::isnan(static_cast<Wide<T>>(y));
    } else {
      return false;
    }
  });
}

}  // namespace calque::test
