#pragma once
// Promotion at compile time: which types are operands, and the element type and class of their combination. The types
// must agree with the dtypes that the type-erased functions compute at run time (calque/ir/dtype.h: promote,
// promote_weak).
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "calque/detail/operand.h"
#include "calque/ir/dtype.h"
#include "calque/ir/shape.h"

namespace calque {

/// A base of Array and Tracer, so that argument-dependent lookup finds functions whose names are taken by objects in
/// namespace calque: `all(x)` finds `ops::all`, while `cq::all` is the index and, called, the same reduction.
namespace ops {
/// An empty base.
struct Base {};
}  // namespace ops

/// Classifies a C++ type: `any` is true for arrays and tracers, with `type` their element type, `tracer` for tracers.
template <class X>
struct leaf {
  /// False for types that are neither arrays nor tracers.
  static constexpr bool any = false, tracer = false;
};
template <class T>
struct leaf<Tracer<T>> {
  static constexpr bool any = true, tracer = true;
  using type = T;
};
template <class T>
struct leaf<Array<T>> {
  static constexpr bool any = true, tracer = false;
  using type = T;
};

/// Matrices of another library as leaves of trees. `calque/eigen.h` specializes it for dense Eigen types, with
///   scalar, of_tracers, owns (can be made from an array), borrows (refers to objects that it does not own),
///   over<S> (the owning type of the same extents with elements of type S), and
///   for elements that are numbers   AnyArray copy(const E&), E make(const Array<T>&), and, if the elements can be
///                                   read in place, detail::LeafView view(const E&);
///   for elements that are tracers   Tracer<T> pack(const E&, Location), E make(const Tracer<T>&), E lift(numbers).
template <class E>
struct dense : std::false_type {
  /// The element type of the matrix: a number or a Tracer.
  using scalar = void;
  /// Whether the elements are tracers, whether the object owns its elements, and whether it refers to objects that it
  /// does not own.
  static constexpr bool of_tracers = false, owns = false, borrows = false;
  /// The owning type of the same extents with elements of type S.
  template <class S>
  using over = void;
};

/// Array<T> or Tracer<T>.
template <class X>
concept ArrayLike = leaf<std::remove_cvref_t<X>>::any;
/// Tracer<T>.
template <class X>
concept TracerLike = leaf<std::remove_cvref_t<X>>::tracer;
/// A C++ arithmetic value, which takes the element type of the other operands.
template <class X>
concept ArithmeticLike = std::is_arithmetic_v<X>;

namespace detail {
template <class X>
struct number_list {
  using type = void;
};
template <class T, class A>
struct number_list<std::vector<T, A>> {
  using type = T;
};
template <class T, size_t N>
struct number_list<std::span<T, N>> {
  using type = std::remove_const_t<T>;
};
}  // namespace detail

/// Data of C++ that is an operand beside an array or tracer, of which it is a constant: vectors and spans of numbers,
/// dense Eigen objects of numbers.
template <class X>
concept CapturedData = ArithmeticLike<typename detail::number_list<X>::type> ||
                       Elem<typename detail::number_list<X>::type> || (dense<X>::value && !dense<X>::of_tracers);
/// The operands of functions of arrays: arrays, tracers, arithmetic values, values of element types, captured data.
template <class X>
concept OperandLike = ArrayLike<X> || ArithmeticLike<std::remove_cvref_t<X>> || Elem<std::remove_cvref_t<X>> ||
                      CapturedData<std::remove_cvref_t<X>>;

/// Floating-point and complex element types.
template <class T>
concept InexactElem = Elem<T> && is_inexact(dtype_of<T>);
/// Integer element types; bool counts as an integer, as in C++.
template <class T>
concept IntegerElem = Elem<T> && !is_inexact(dtype_of<T>);
/// Complex element types.
template <class T>
concept ComplexElem = Elem<T> && is_complex(dtype_of<T>);
/// Element types that are not complex.
template <class T>
concept RealElem = Elem<T> && !is_complex(dtype_of<T>);

/// The element type of an Array or a Tracer.
template <ArrayLike X>
using elem_t = typename leaf<std::remove_cvref_t<X>>::type;
/// T if it is floating point or complex, else float: the result type of `exp` and `mean`.
template <Elem T>
using inexact_t = type_of<to_inexact(dtype_of<T>)>;
/// The type of the real part.
template <Elem T>
using real_t = type_of<calque::real_of(dtype_of<T>)>;
/// std::complex<double> of double, else std::complex<float>.
template <Elem T>
using complex_t = type_of<promote_weak(dtype_of<T>, DType::c64)>;
/// The result type of `sum` and `prod`: int32_t for bool, else T.
template <Elem T>
using sum_t = type_of<sum_result(dtype_of<T>)>;

namespace detail {

template <class X>
struct captured_elem {
  using type = typename dense<X>::scalar;
};
template <class X>
  requires(!std::is_void_v<typename number_list<X>::type>)
struct captured_elem<X> {
  using type = calque::type_of<literal_dtype<typename number_list<X>::type>()>;
};
/// The element type of captured data.
template <CapturedData X>
using captured_elem_t = typename captured_elem<X>::type;

/// The contribution of one operand to promotion.
struct Rank {
  DType dtype = DType::bool_;
  bool weak = false;
};
template <class A>
constexpr Rank rank_of() {
  if constexpr (ArrayLike<A>) {
    return {dtype_of<elem_t<A>>};
  } else if constexpr (CapturedData<A>) {
    return {dtype_of<captured_elem_t<A>>};
  } else if constexpr (std::same_as<A, bool>) {
    return {DType::bool_};
  } else {
    static_assert(ArithmeticLike<A> || Elem<A>, "calque: this type cannot be an operand of arrays");
    return {literal_dtype<A>(), ArithmeticLike<A> || ComplexElem<A>};
  }
}
/// Promotes strong types from left to right, then with the literals.
template <class... A>
constexpr DType promote_dtypes() {
  bool strong = false, weak = false;
  DType dtype = DType::bool_, literal = DType::i32;
  for (const Rank r : std::initializer_list<Rank>{rank_of<A>()...}) {
    if (r.weak) {
      literal = weak ? join_literals(literal, r.dtype) : r.dtype;
      weak = true;
    } else {
      dtype = strong ? promote(dtype, r.dtype) : r.dtype;
      strong = true;
    }
  }
  return weak ? promote_weak(dtype, literal) : dtype;
}

}  // namespace detail

/// The element type of the width and signedness of a C++ arithmetic type: `long long` is int64_t, `char` int8_t or
/// uint8_t.
template <class T>
using canon_t = type_of<detail::literal_dtype<T>()>;

/// The element type to which operands promote: arrays, tracers and C++ values in any combination.
template <class... A>
using promoted_elem_t = type_of<detail::promote_dtypes<std::remove_cvref_t<A>...>()>;

/// Tracer<T> if an operand is a Tracer, else Array<T>.
template <class T, class... A>
using out_t = std::conditional_t<(TracerLike<A> || ...), Tracer<T>, Array<T>>;

}  // namespace calque
