#pragma once
// Nested braces as array data: `{{1, 2, 3}, {4, 5, 6}}` of any depth is one recursive type, since constructors for each
// depth of std::initializer_list are ambiguous with one another.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "calque/detail/promotion.h"
#include "calque/ir/rounding.h"

namespace calque {
namespace detail {

/// Throws DTypeError for a value (as text) that `dtype` cannot hold.
[[noreturn]] void throw_unrepresentable(const std::string& value, DType dtype, Location location);
/// `value` as an element of T, rounded once. Throws DTypeError when an integer type cannot hold it.
template <Elem T, class U>
T checked_element(U value, Location location) {
  if constexpr (IntegerElem<T> && !std::same_as<T, bool> && std::is_arithmetic_v<U> && !std::same_as<U, bool>) {
    bool fits = false;
    if constexpr (std::floating_point<U>) {
      // Both bounds are powers of two (or zero), hence exact in U.
      constexpr int digits = std::numeric_limits<T>::digits;
      const U limit = static_cast<U>(T(1) << (digits - 1)) * 2;
      fits = value >= (std::is_signed_v<T> ? -limit : U(0)) && value < limit &&
             static_cast<U>(static_cast<T>(value)) == value;
    } else {
      fits = std::in_range<canon_t<T>>(static_cast<canon_t<U>>(value));
    }
    if (!fits) throw_unrepresentable(std::to_string(value), dtype_of<T>, location);
  }
  if constexpr (is_floating(dtype_of<T>) && std::is_arithmetic_v<U>) {
    return round_once<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

/// The values that a braced list of T may hold: T and numbers, but not arrays, although those convert to T.
template <class U, class T>
concept BraceElement = std::same_as<U, T> || ArithmeticLike<U> || (ComplexElem<T> && ComplexElem<U>);

/// An integer given for an element type that is not of integers.
template <class U, class T>
concept LooksLikeExtent = std::integral<U> && !std::same_as<U, bool> && !IntegerElem<T>;
/// The same, but preferred where explicit constructors are considered.
template <class U, class T>
concept LooksLikeExtentInParentheses = LooksLikeExtent<U, T> && std::is_arithmetic_v<U>;

}  // namespace detail

/// One element or a list of any depth. Constructed by the compiler from braces; users do not name it. Its functions are
/// instantiated in the library: a program that is compiled without optimization would hold fifty for each element type.
template <Elem T>
class Braces {
 public:
  template <detail::BraceElement<T> U>
  Braces(U value, Loc loc = Loc::current()) : is_leaf_(true), value_(detail::checked_element<T>(value, loc)) {}
  Braces(std::initializer_list<Braces> parts);
  Braces(const Braces&);
  Braces& operator=(const Braces&) = delete;
  ~Braces();

  /// The extents of the list. Throws ShapeError for a ragged list.
  std::vector<int64_t> shape(Location location) const;
  /// Writes the elements in row-major order and returns the pointer past the last.
  T* copy_to(T* out) const;

 private:
  bool is_leaf_;
  T value_{};
  std::vector<Braces> parts_;
};

#define CALQUE_X(T, D) extern template class Braces<T>;
CALQUE_ELEMENT_TYPES(CALQUE_X)
#undef CALQUE_X

}  // namespace calque
