// The routines of complex matrices, by those of real ones. A complex matrix in memory is a real one of twice the
// columns; a product with it is one with real matrices if the other factor has [re, im; -im, re] for each element. A
// triangular matrix with ones on its diagonal becomes a real one of twice the rows, with [re, -im; im, re] for each
// element.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/routines/dense.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

using primitives::RoutineFlag;

/// Divides by one complex number, scaled by a power of two so that its square is a number.
template <class R>
class Divisor {
 public:
  Divisor(R re, R im) {
    const R most = std::max(std::abs(re), std::abs(im));
    if (most > 0 && std::isfinite(most)) {
      constexpr int kFar = std::numeric_limits<R>::max_exponent - 2;
      scale_ = std::ldexp(R(1), -std::clamp(std::ilogb(most), -kFar, kFar));
    }
    re_ = re * scale_, im_ = im * scale_;
    denominator_ = re_ * re_ + im_ * im_;
  }
  /// Replaces z.
  void divide(R* z) const {
    const R a = z[0] * scale_, b = z[1] * scale_;
    z[0] = (a * re_ + b * im_) / denominator_;
    z[1] = (b * re_ - a * im_) / denominator_;
  }

 private:
  R scale_ = 1, re_, im_, denominator_;
};

/// Rows of real parts and rows of imaginary parts in turn, for rows of complex numbers, and back. Strides are numbers
/// of complex elements.
template <class R>
void split_rows(const R* from, int64_t rows, int64_t columns, int64_t stride, R* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) {
      to[2 * i * columns + c] = from[2 * (i * stride + c)];
      to[(2 * i + 1) * columns + c] = from[2 * (i * stride + c) + 1];
    }
}
template <class R>
void join_rows(const R* from, int64_t rows, int64_t columns, R* to, int64_t stride) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t c = 0; c < columns; ++c) {
      to[2 * (i * stride + c)] = from[2 * i * columns + c];
      to[2 * (i * stride + c) + 1] = from[(2 * i + 1) * columns + c];
    }
}

/// Sets the 2 x 2 matrix of element (i, k), for a product with split rows.
template <class R>
void set_block(R* real, int64_t n, int64_t i, int64_t k, R re, R im) {
  R* const upper = real + 2 * i * 2 * n + 2 * k;
  upper[0] = re, upper[1] = -im;
  upper[2 * n] = im, upper[2 * n + 1] = re;
}

/// The real unit triangular matrix of a complex triangular one, whose rows are divided by their diagonal elements
/// unless those are ones.
template <class R>
void embed_triangle(const R* a, int64_t n, int64_t stride, bool lower, bool transpose, bool unit, R* real) {
  const bool forward = lower != transpose;
  for (int64_t i = 0; i < n; ++i) {
    const Divisor<R> divisor(unit ? R(1) : a[2 * (i * stride + i)], unit ? R(0) : a[2 * (i * stride + i) + 1]);
    set_block(real, n, i, i, R(1), R(0));
    for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k) {
      const R* const element = a + 2 * (transpose ? k * stride + i : i * stride + k);
      R z[2] = {element[0], element[1]};
      if (!unit) divisor.divide(z);
      set_block(real, n, i, k, z[0], z[1]);
    }
  }
}

// Columns of a panel and of the strips that are updated by it.
constexpr int64_t kLuPanel = 24, kLuStrip = 128;

template <class R>
void factor_complex_lu(R* a, int64_t rows, int64_t columns, int32_t* order) {
  const DenseRoutines<R>& dense = dense_routines<R>();
  std::iota(order, order + rows, 0);
  const int64_t steps = std::min(rows, columns), most = std::min(kLuPanel, steps);
  const auto panel = space_of<R>(2 * rows * most), unit = space_of<R>(4 * most * most),
             right_factor = space_of<R>(4 * most * columns);
  std::vector<int32_t> pivots(static_cast<size_t>(most));
  for (int64_t k = 0; k < steps; k += kLuPanel) {
    const int64_t width = std::min(kLuPanel, steps - k), height = rows - k, right = k + width, rest = columns - right;
    R* const corner = a + 2 * (k * columns + k);
    for (int64_t i = 0; i < height; ++i)
      for (int64_t c = 0; c < width; ++c) {
        panel[static_cast<size_t>(2 * c * height + i)] = corner[2 * (i * columns + c)];
        panel[static_cast<size_t>((2 * c + 1) * height + i)] = corner[2 * (i * columns + c) + 1];
      }
    dense.complex_lu_panel(panel.get(), height, width, pivots.data());
    for (int64_t i = 0; i < width; ++i) std::swap(order[k + i], order[k + pivots[static_cast<size_t>(i)]]);
    const auto exchange = [&](int64_t first, int64_t last) {
      for (int64_t i = 0; i < width; ++i) {
        const int64_t other = pivots[static_cast<size_t>(i)];
        if (other == i) continue;
        R* const row = a + 2 * (k + i) * columns;
        std::swap_ranges(row + 2 * first, row + 2 * last, a + 2 * ((k + other) * columns + first));
      }
    };
    exchange(0, k);
    for (int64_t i = 0; i < height; ++i)
      for (int64_t c = 0; c < width; ++c) {
        corner[2 * (i * columns + c)] = panel[static_cast<size_t>(2 * c * height + i)];
        corner[2 * (i * columns + c) + 1] = panel[static_cast<size_t>((2 * c + 1) * height + i)];
      }
    if (rest <= 0) continue;
    std::fill_n(unit.get(), 4 * width * width, R(0));
    embed_triangle(corner, width, columns, true, false, true, unit.get());
    // The rows right of the diagonal block, in place and as the right factor of the product below.
    R* const beside = right_factor.get();
    in_parallel((rest + kLuStrip - 1) / kLuStrip, 1, [&](int64_t first, int64_t last) {
      const auto split = space_of<R>(2 * width * kLuStrip);
      for (int64_t s = first; s < last; ++s) {
        const int64_t column = s * kLuStrip, count = std::min(kLuStrip, rest - column);
        exchange(right + column, right + column + count);
        R* const at = a + 2 * (k * columns + right + column);
        split_rows(at, width, count, columns, split.get());
        dense.solve(unit.get(), 2 * width, 2 * width, split.get(), count, count, true, false, true);
        join_rows(split.get(), width, count, at, columns);
        for (int64_t i = 0; i < width; ++i)
          for (int64_t c = 0; c < count; ++c) {
            const R re = split[static_cast<size_t>(2 * i * count + c)],
                    im = split[static_cast<size_t>((2 * i + 1) * count + c)];
            R* const pair = beside + 2 * (2 * i * rest + column + c);
            pair[0] = re, pair[1] = im;
            pair[2 * rest] = -im, pair[2 * rest + 1] = re;
          }
      }
    });
    const int64_t below = rows - right;
    in_parallel((below + kLuStrip - 1) / kLuStrip, 1, [&](int64_t first, int64_t last) {
      for (int64_t s = first; s < last; ++s) {
        const int64_t row = right + s * kLuStrip, count = std::min(kLuStrip, rows - row);
        dense.subtract_plain_product(a + 2 * (row * columns + right), 2 * columns, a + 2 * (row * columns + k),
                                     2 * columns, beside, 2 * rest, count, 2 * rest, 2 * width);
      }
    });
  }
}

template <class R>
void complex_lu(const RoutineRef& r, void* const* pointers) {
  const Batch batch(r.arguments[0].shape);
  auto* to = static_cast<R*>(pointers[1]);
  auto* order = static_cast<int32_t*>(pointers[2]);
  if (batch.elements() == 0) {
    for (int64_t b = 0; b < batch.count; ++b) std::iota(order + b * batch.rows, order + (b + 1) * batch.rows, 0);
    return;
  }
  std::memcpy(to, pointers[0], static_cast<size_t>(2 * batch.count * batch.elements()) * sizeof(R));
  const double operations =
      4 * static_cast<double>(batch.elements()) * static_cast<double>(std::min(batch.rows, batch.columns));
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      factor_complex_lu(to + 2 * b * batch.elements(), batch.rows, batch.columns, order + b * batch.rows);
  });
}

template <class R>
void complex_triangular_solve(const RoutineRef& r, void* const* pointers) {
  const Batch matrices(r.arguments[0].shape), sides(r.arguments[1].shape);
  const int64_t n = matrices.rows, columns = sides.columns;
  if (n == 0 || columns == 0) return;
  const auto* a = static_cast<const R*>(pointers[0]);
  const auto* b = static_cast<const R*>(pointers[1]);
  auto* x = static_cast<R*>(pointers[2]);
  const bool lower = (r.flags & RoutineFlag::lower) != 0, transpose = (r.flags & RoutineFlag::transpose) != 0,
             unit = (r.flags & RoutineFlag::unit_diagonal) != 0;
  const DenseRoutines<R>& dense = dense_routines<R>();
  const int64_t strips = (columns + kPanel - 1) / kPanel;
  const double operations =
      4 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(std::min(columns, kPanel));
  in_parallel(matrices.count, grain_of(operations), [&](int64_t first, int64_t last) {
    const auto real = space_of<R>(4 * n * n);
    for (int64_t m = first; m < last; ++m) {
      const R* const matrix = a + 2 * m * n * n;
      embed_triangle(matrix, n, n, lower, transpose, unit, real.get());
      in_parallel(strips, grain_of(operations), [&](int64_t begin, int64_t end) {
        const auto split = space_of<R>(2 * n * kPanel);
        for (int64_t s = begin; s < end; ++s) {
          const int64_t column = s * kPanel, count = std::min(kPanel, columns - column);
          R* const to = x + 2 * (m * n * columns + column);
          const R* const from = b + 2 * (m * n * columns + column);
          for (int64_t i = 0; i < n; ++i) {
            R* const row = to + 2 * i * columns;
            std::memcpy(row, from + 2 * i * columns, static_cast<size_t>(2 * count) * sizeof(R));
            if (unit) continue;
            const Divisor<R> divisor(matrix[2 * (i * n + i)], matrix[2 * (i * n + i) + 1]);
            for (int64_t c = 0; c < count; ++c) divisor.divide(row + 2 * c);
          }
          split_rows(to, n, count, columns, split.get());
          dense.solve(real.get(), 2 * n, 2 * n, split.get(), count, count, lower != transpose, false, true);
          join_rows(split.get(), n, count, to, columns);
        }
      });
    }
  });
}

/// The factor of the real symmetric matrix of twice the rows is the one of the complex factor: both are unique.
template <class R>
void complex_cholesky(const RoutineRef& r, void* const* pointers) {
  const Batch batch(r.arguments[0].shape);
  const int64_t n = batch.rows;
  const auto* a = static_cast<const R*>(pointers[0]);
  auto* l = static_cast<R*>(pointers[1]);
  const double operations = 8 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3;
  in_parallel(batch.count, grain_of(operations), [&](int64_t first, int64_t last) {
    const auto real = space_of<R>(4 * n * n);
    for (int64_t b = first; b < last; ++b) {
      const R* const from = a + 2 * b * n * n;
      R* const to = l + 2 * b * n * n;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < i; ++k)
          set_block(real.get(), n, i, k, from[2 * (i * n + k)], from[2 * (i * n + k) + 1]);
        set_block(real.get(), n, i, i, from[2 * (i * n + i)], R(0));
      }
      const bool is_definite = factor_cholesky(real.get(), 2 * n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k) {
          R* const element = to + 2 * (i * n + k);
          const R* const block = real.get() + 2 * i * 2 * n + 2 * k;
          element[0] = k > i ? R(0) : is_definite ? block[0] : std::numeric_limits<R>::quiet_NaN();
          element[1] = k >= i || !is_definite ? R(0) : block[2 * n];
        }
    }
  });
}

}  // namespace

template <class R>
void run_complex(const RoutineRef& r, void* const* pointers) {
  switch (r.routine) {
    case primitives::Routine::cholesky:
      return complex_cholesky<R>(r, pointers);
    case primitives::Routine::triangular_solve:
      return complex_triangular_solve<R>(r, pointers);
    case primitives::Routine::lu:
      return complex_lu<R>(r, pointers);
    case primitives::Routine::eigh:
      return eigh<std::complex<R>>(r, pointers);
    case primitives::Routine::svd:
      return svd<std::complex<R>>(r, pointers);
    case primitives::Routine::eig:
      return eig<std::complex<R>>(r, pointers);
    case primitives::Routine::qr:    // by the reference evaluator
    case primitives::Routine::sort:  // complex numbers have no order
    case primitives::Routine::fft:   // has pairs of real numbers
      break;
  }
}

template void run_complex<float>(const RoutineRef&, void* const*);
template void run_complex<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
