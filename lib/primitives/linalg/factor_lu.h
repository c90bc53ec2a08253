#pragma once
// The textbook's factorization with partial pivoting, for the reference.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "primitives/linalg/matrix.h"

namespace calque::primitives {

/// By which pivots are chosen: |x|, of complex numbers |re| + |im|; NaN is less than any number.
template <class W>
auto pivot_size(const W& x) {
  using R = decltype(real_part(x));
  const R size = [&] {
    if constexpr (is_wide_complex<W>) {
      return std::abs(x.real()) + std::abs(x.imag());
    } else {
      return std::abs(x);
    }
  }();
  return std::isnan(size) ? R(-1) : size;
}

/// Replaces a, rows x columns, by its packed factors; gives the order of its rows.
template <class W>
std::vector<int32_t> factor_lu(std::vector<W>& a, size_t rows, size_t columns) {
  std::vector<int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = 0; k < std::min(rows, columns); ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < rows; ++i) {
      if (pivot_size(a[i * columns + k]) > pivot_size(a[best * columns + k])) best = i;
    }
    std::swap(order[k], order[best]);
    for (size_t c = 0; c < columns && best != k; ++c) std::swap(a[k * columns + c], a[best * columns + c]);
    const W pivot = a[k * columns + k];
    for (size_t i = k + 1; i < rows; ++i) {
      if (pivot != W(0)) a[i * columns + k] /= pivot;
      for (size_t c = k + 1; c < columns; ++c) a[i * columns + c] -= a[i * columns + k] * a[k * columns + c];
    }
  }
  return order;
}

/// Whether the order is an odd number of swaps away from 0, 1, 2 ...
inline bool is_odd(std::vector<int32_t> order) {
  bool odd = false;
  for (size_t i = 0; i < order.size(); ++i) {
    while (order[i] != static_cast<int32_t>(i)) {
      std::swap(order[i], order[static_cast<size_t>(order[i])]);
      odd = !odd;
    }
  }
  return odd;
}

}  // namespace calque::primitives
