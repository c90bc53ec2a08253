#pragma once
// The binary operators of arrays and tracers, as X(operator, function of detail::ops, condition on T, what to say where
// the condition fails). Every list of overloads is made from these.

/// Two operands of one type give that type.
#define CALQUE_ARITHMETIC_OPERATORS(X)                                                                    \
  X(+, add, true, "")                                                                                     \
  X(-, subtract, (!std::same_as<T, bool>), "calque: bool has no operator -; use ^, or cast the operands") \
  X(*, multiply, true, "")                                                                                \
  X(/, divide, (!std::same_as<T, bool>), "calque: bool has no operator /; cast the operands")             \
  X(%, rem, (!std::same_as<T, bool> && !calque::ComplexElem<T>), "calque: operator % needs integers or real numbers")
/// Integers and bool only.
#define CALQUE_BITWISE_OPERATORS(X) \
  X(&, bitwise_and) X(|, bitwise_or) X(^, bitwise_xor) X(<<, left_shift) X(>>, right_shift)
/// Two operands of one type give bool.
#define CALQUE_COMPARISON_OPERATORS(X)                                                       \
  X(<, less, (!calque::ComplexElem<T>), "calque: complex numbers are not ordered")           \
  X(>, greater, (!calque::ComplexElem<T>), "calque: complex numbers are not ordered")        \
  X(<=, less_equal, (!calque::ComplexElem<T>), "calque: complex numbers are not ordered")    \
  X(>=, greater_equal, (!calque::ComplexElem<T>), "calque: complex numbers are not ordered") \
  X(==, equal, true, "")                                                                     \
  X(!=, not_equal, true, "")
