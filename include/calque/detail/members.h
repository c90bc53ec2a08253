#pragma once
// Members of Array and Tracer that are named functions elsewhere: x.T(), and Eigen's names where Eigen and NumPy agree.
// Where they do not, an error says what to write.
#include <string_view>

#include "calque/detail/promotion.h"
#include "calque/ir/location.h"

namespace calque::detail {

/// Throws ShapeError, which starts with the member's name, unless both arrays are vectors of one extent.
void require_vectors(std::string_view member, const Shape& a, const Shape& b, Location location);
/// Throws ShapeError for an array of rank 1, whose transpose is a row in Eigen and itself in NumPy.
void require_transposable(const Shape& shape, Location location);
/// The extents as a matrix: of a vector [n] n and 1, of a scalar 1 and 1. Throws ShapeError for higher ranks.
int64_t rows_of(const Shape& shape, Location location);
int64_t columns_of(const Shape& shape, Location location);

// The functions behind members of the same names, found by argument-dependent lookup.
template <class X>
auto sum_of(const X& x, Loc loc) {
  return sum(x, {}, {}, loc);
}
template <class X>
auto norm_of(const X& x, Loc loc) {
  return norm(x, {}, {}, loc);
}
template <class X, class Y>
auto dot_of(const X& x, const Y& y, Loc loc) {
  return dot(x, y, loc);
}
template <class X>
auto transpose_of(const X& x, Loc loc) {
  return transpose(x, loc);
}
template <class X>
auto squared_norm_of(const X& x, Loc loc) {
  if constexpr (ComplexElem<elem_t<X>>) {
    return sum_of(square(real(x, loc), loc) + square(imag(x, loc), loc), loc);
  } else {
    return sum_of(square(x, loc), loc);
  }
}

/// Members of both Array<T> and Tracer<T>, whose base it is. (No member of Array<T> itself could be called T.)
template <class Self>
struct Members {
  /// The dimensions in reverse order.
  [[nodiscard]] Self T(Loc loc = Loc::current()) const { return transpose_of(self(), loc); }
  /// Of a matrix, as T(). Throws ShapeError for a vector, whose transpose is a row in Eigen and itself in NumPy.
  [[nodiscard]] Self transpose(Loc loc = Loc::current()) const {
    require_transposable(self().shape(loc), loc);
    return transpose_of(self(), loc);
  }
  /// The number of rows of a matrix; a vector is a column, a scalar has one. Throws ShapeError for higher ranks.
  [[nodiscard]] int64_t rows(Loc loc = Loc::current()) const { return rows_of(self().shape(loc), loc); }
  /// The number of columns of a matrix; 1 for a vector or a scalar. Throws ShapeError for higher ranks.
  [[nodiscard]] int64_t cols(Loc loc = Loc::current()) const { return columns_of(self().shape(loc), loc); }
  /// The sum of all elements, a scalar, as `sum`.
  [[nodiscard]] auto sum(Loc loc = Loc::current()) const { return sum_of(self(), loc); }
  /// The root of the sum of squared magnitudes of all elements, a real scalar, as `norm`.
  [[nodiscard]] auto norm(Loc loc = Loc::current()) const { return norm_of(self(), loc); }
  /// The sum of squared magnitudes of all elements, a real scalar.
  [[nodiscard]] auto squaredNorm(Loc loc = Loc::current()) const {
    static_assert(!std::same_as<elem_t<Self>, bool>,
                  "calque: x.squaredNorm() of bool; write count_nonzero(x) or cast x");
    return squared_norm_of(self(), loc);
  }
  /// The sum of the products of two vectors' elements, a scalar, as `dot`. Throws ShapeError unless both are vectors of
  /// one extent.
  template <OperandLike Y>
  [[nodiscard]] auto dot(const Y& y, Loc loc = Loc::current()) const {
    constexpr bool real = !ComplexElem<promoted_elem_t<Self, Y>>;
    static_assert(real,
                  "calque: x.dot(y) of complex numbers conjugates x in Eigen but not in NumPy; write vdot(x, y), which "
                  "conjugates x, or dot(x, y), which does not");
    const auto& other = held_operand(y);
    require_vectors("dot", self().shape(loc), other.shape(loc), loc);
    return dot_of(self(), other, loc);
  }

#define CALQUE_X(f, call)                                                                    \
  template <class S = Self>                                                                  \
  S f(Loc = Loc::current()) const {                                                          \
    static_assert(!std::same_as<S, Self>, "calque: arrays have no x." #f "(); write " call); \
    return self();                                                                           \
  }
  CALQUE_X(mean, "mean(x)")
  CALQUE_X(prod, "prod(x)")
  CALQUE_X(minCoeff, "amin(x)")
  CALQUE_X(maxCoeff, "amax(x)")
  CALQUE_X(normalized, "x / norm(x), or normalized(x) of calque/eigen.h, which is safe at 0")
  CALQUE_X(array, "x itself: operators of arrays are elementwise")
  CALQUE_X(eval, "x itself")
#undef CALQUE_X
  template <class Y, class S = Self>
  S cross(const Y&) const {
    static_assert(!std::same_as<S, Self>, "calque: arrays have no x.cross(y); write cross(x, y)");
    return self();
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace calque::detail
