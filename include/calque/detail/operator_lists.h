#pragma once
// The binary operators of arrays and tracers, as X(operator, function of detail::ops, condition on T, message if the
// condition fails). All overloads are generated from these lists.

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

/// The message of bitwise operators for floating-point operands.
#define CALQUE_BITS_NEED(op) \
  "calque: operator " #op " needs integers or bool; cast the operand, or compare it first, as in x != 0"
/// The message of logical operators for operands that are not bool.
#define CALQUE_LOGIC_NEEDS(op) "calque: operator " #op " needs bool operands; compare them first, as in x != 0"

/// Rejects assignment to a temporary of class Self, as in `x[0] = 5`, which would have no effect.
#define CALQUE_NO_ELEMENT_ASSIGNMENT(Self)                                                                       \
  Self(const Self&) = default;                                                                                   \
  Self(Self&&) noexcept = default;                                                                               \
  Self& operator=(const Self&) & = default;                                                                      \
  Self& operator=(Self&&) & noexcept = default;                                                                  \
  template <class U>                                                                                             \
  void operator=(const U&) && {                                                                                  \
    static_assert(sizeof(U) == 0,                                                                                \
                  "calque: x[i] = y assigns to a copy and would be lost, since arrays do not change; write x = " \
                  "x.set(i, y)");                                                                                \
  }
/// Rejects updates of a temporary, as in `x[0] += 5`.
#define CALQUE_NO_ELEMENT_UPDATE(op)                                                                 \
  template <class U>                                                                                 \
  void operator op## = (const U&) && {                                                               \
    static_assert(sizeof(U) == 0, "calque: x[i] " #op                                                \
                                  "= y changes a copy and would be lost, since arrays do not "       \
                                  "change; write x = x.add(i, y), or x = x.set(i, x[i] " #op " y)"); \
  }
