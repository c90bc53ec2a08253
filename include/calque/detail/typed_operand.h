#pragma once
// The parameters of operators: types that convert from the operands that an operator of an array of T accepts and that
// capture the user's line while converting. Only hidden friends with such parameters know the line of their caller.
#include <concepts>
#include <type_traits>

#include "calque/detail/array_data.h"
#include "calque/detail/ops.h"
#include "calque/detail/promotion.h"

namespace calque::detail {

/// A C++ value that can be an operand of arrays.
template <class L>
concept Number = ArithmeticLike<L> || Elem<L>;
/// Element types that are classes with non-template operators.
template <class T>
concept HasOwnOperators = std::same_as<T, float16> || std::same_as<T, bfloat16>;
/// A C++ value that, as an operand of an array of T, keeps its element type.
template <class L, class T>
concept KeepingLiteral = Number<L> && std::same_as<promoted_elem_t<Array<T>, L>, T>;
/// A C++ value that changes the element type: a float with integers, an integer with bool, a complex with real numbers.
template <class L, class T>
concept WideningLiteral = Number<L> && !std::same_as<promoted_elem_t<Array<T>, L>, T>;
/// U promotes to T.
template <class U, class T>
concept PromotesTo = std::same_as<promote_t<T, U>, T>;

/// Captured data that, as an operand of an array of T, changes the element type.
template <class L, class T>
concept WideningData = CapturedData<L> && !std::same_as<promoted_elem_t<Array<T>, L>, T>;
/// A C++ value or captured data that changes the element type.
template <class L, class T>
concept Widening = WideningLiteral<L, T> || WideningData<L, T>;

/// A copy of captured data.
template <CapturedData X>
AnyArray captured_array(const X& x);

/// An operand of type-erased functions and the line where it was written. Valid during the call.
struct LocatedOperand {
  Operand operand;
  Location location;
};

/// The other operand of an Array<T>: an array that promotes to T.
template <class T>
struct ArrayOperand : LocatedOperand {
  template <PromotesTo<T> U>
  ArrayOperand(const Array<U>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
};
/// Exactly Array<T>.
template <class T>
struct ArrayExact : LocatedOperand {
  ArrayExact(const Array<T>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
};
/// The right side of a compound assignment to an Array<T>.
template <class T>
struct ArrayAssigned : LocatedOperand {
  template <PromotesTo<T> U>
  ArrayAssigned(const Array<U>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
  template <KeepingLiteral<T> L>
  ArrayAssigned(L value, Loc loc = Loc::current()) : LocatedOperand{literal_operand(value), loc} {}
};
/// The other operand of a Tracer<T>: a tracer, array or literal that promotes to T.
template <class T>
struct TracerOperand : LocatedOperand {
  template <PromotesTo<T> U>
  TracerOperand(const Tracer<U>& t, Loc loc = Loc::current()) : LocatedOperand{t.handle(), loc} {}
  template <PromotesTo<T> U>
  TracerOperand(const Array<U>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
  template <KeepingLiteral<T> L>
  TracerOperand(L value, Loc loc = Loc::current()) : LocatedOperand{literal_operand(value), loc} {}
  template <CapturedData X>
    requires PromotesTo<captured_elem_t<X>, T>
  TracerOperand(const X& x, Loc loc = Loc::current()) : LocatedOperand{constant(captured_array(x), loc), loc} {}
};
/// Exactly Tracer<T> or Array<T>.
template <class T>
struct Exact : LocatedOperand {
  Exact(const Tracer<T>& t, Loc loc = Loc::current()) : LocatedOperand{t.handle(), loc} {}
  Exact(const Array<T>& a, Loc loc = Loc::current()) : LocatedOperand{a.any(loc), loc} {}
};
/// The other operand of an Array<T>: a tracer of another type that promotes to T.
template <class T>
struct NarrowerTracer : LocatedOperand {
  template <PromotesTo<T> U>
    requires(!std::same_as<U, T>)
  NarrowerTracer(const Tracer<U>& t, Loc loc = Loc::current()) : LocatedOperand{t.handle(), loc} {}
};

/// The first of the indices of one element, and the line where it was written.
struct ElementIndex {
  int64_t value;
  Location location;
  template <std::integral I>
  ElementIndex(I i, Loc loc = Loc::current()) : value(static_cast<int64_t>(i)), location(loc) {}
};

/// Captured data as an array, everything else as it is: what `operand_of` can refer to.
template <OperandLike X>
decltype(auto) held_operand(const X& x) {
  if constexpr (CapturedData<X>) {
    return Array<captured_elem_t<X>>(captured_array(x));
  } else {
    return (x);
  }
}
/// Any operand but captured data: a tracer, an array (referred to, not owned) or a C++ value. Throws ShapeError for an
/// empty array.
template <OperandLike X>
Operand operand_of(const X& x, const Location& location) {
  static_assert(!CapturedData<X>, "calque: write cq::Array<double>::from(data) to use it as an operand here");
  if constexpr (TracerLike<X>) {
    return Operand(x.handle());
  } else if constexpr (ArrayLike<X>) {
    return Operand(x.any(location));
  } else {
    return literal_operand(x);
  }
}

using UnaryFunction = Handle (*)(const Operand&, Location);
using BinaryFunction = Handle (*)(const Operand&, const Operand&, Location);
/// The other operand of an operator of tracers, of any C++ type that changes the element type.
template <class L>
Operand widening_operand(const L& x, const Location& location) {
  if constexpr (CapturedData<L>) {
    return constant(captured_array(x), location);
  } else {
    return literal_operand(x);
  }
}

/// Runs a type-erased function of arrays and literals at once.
AnyArray run_unary(std::string_view name, UnaryFunction function, const Operand& a, Location location);
AnyArray run_binary(std::string_view name, BinaryFunction function, const Operand& a, const Operand& b,
                    Location location);

}  // namespace calque::detail
