#pragma once
// Bitwise equality of results, except that any NaN equals any other.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "calque/ir/any_array.h"

namespace calque::test {

template <class T>
bool same_element(T a, T b) {
  if constexpr (is_complex(dtype_of<T>)) {
    return same_element(a.real(), b.real()) && same_element(a.imag(), b.imag());
  } else {
    if constexpr (is_floating(dtype_of<T>)) {
      if (a != a && b != b) return true;
    }
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

/// A description of the first difference, or nothing.
inline std::string difference(const AnyArray& a, const AnyArray& b) {
  if (a.type() != b.type()) return to_string(a.type()) + " against " + to_string(b.type());
  return visit_dtype(a.dtype(), [&]<class T>() -> std::string {
    for (int64_t i = 0; i < a.size(); ++i) {
      if (same_element(a.data_as<T>()[i], b.data_as<T>()[i])) continue;
      const auto text = [](T x) {
        if constexpr (is_complex(dtype_of<T>)) {
          return std::to_string(x.real()) + "," + std::to_string(x.imag());
        } else {
          return std::to_string(static_cast<double>(x));
        }
      };
      return "element " + std::to_string(i) + ": " + text(a.data_as<T>()[i]) + " against " + text(b.data_as<T>()[i]);
    }
    return {};
  });
}

inline std::string difference(const std::vector<AnyArray>& a, const std::vector<AnyArray>& b) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " results against " + std::to_string(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string d = difference(a[i], b[i]);
    if (!d.empty()) return "result " + std::to_string(i) + ", " + d;
  }
  return {};
}

}  // namespace calque::test
