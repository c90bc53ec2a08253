#pragma once
// Array<T> is data: immutable, reference-counted, row-major, on a device. An operation on arrays only runs at once; one
// with a tracer operand is recorded, with the array as a constant of the graph.
#include <array>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "calque/detail/array_data.h"
#include "calque/detail/braces.h"
#include "calque/tracer.h"

namespace calque {

/// A span that keeps its elements alive.
template <class T>
class OwnedElements : public std::span<const T> {
 public:
  OwnedElements(std::span<const T> elements, AnyArray array) : std::span<const T>(elements), array_(std::move(array)) {}

 private:
  AnyArray array_;
};

/// An array of elements T. Copies share the data. A default-constructed array is empty, and using it throws ShapeError.
/// Operators and functions are those of Tracer<T> and return Arrays unless an operand is a Tracer. Operators broadcast
/// and promote; they throw ShapeError when operands do not broadcast, DTypeError when an integer literal does not fit
/// the element type, DeviceError when operands are on different devices.
template <class T>
class Array : public ops::Base, public detail::Members<Array<T>>, public detail::MixedBases<detail::MixedArrays, T> {
  static_assert(Elem<T>, "calque: not an element type");
  using Mask = Array<detail::dependent_bool<T>>;
  template <class L>
  using Promoted = Array<promoted_elem_t<Array, L>>;

 public:
  using value_type = T;

  /// Empty.
  Array() = default;
  CALQUE_NO_ELEMENT_ASSIGNMENT(Array)
  /// An array of rank 0. Throws DTypeError when T is an integer type that cannot hold the value.
  template <detail::BraceElement<T> U>
    requires(!detail::LooksLikeExtent<U, T>)
  Array(U value, Loc loc = Loc::current()) : any_(AnyArray::full<T>(Shape(), detail::checked_element<T>(value, loc))) {}
  /// `Array<double> a = 10` is the number 10. `Array<double> a(10)` is too, but reads like ten elements: it warns.
  template <detail::LooksLikeExtent<T> U>
  Array(U value, Loc loc = Loc::current()) : any_(AnyArray::full<T>(Shape(), detail::checked_element<T>(value, loc))) {}
  template <detail::LooksLikeExtentInParentheses<T> U>
  [[deprecated(
      "Array<double> a(10) is one number: write Array<double>::zeros({10}) for ten elements, "
      "Array<double>(10.0) for a number")]] explicit Array(U value, Loc loc = Loc::current())
      : any_(AnyArray::full<T>(Shape(), detail::checked_element<T>(value, loc))) {}
  /// `{{1, 2, 3}, {4, 5, 6}}`: one dimension for each level of braces. Throws ShapeError for rows of different lengths,
  /// DTypeError for a value that T cannot hold.
  Array(std::initializer_list<Braces<T>> parts, Loc loc = Loc::current()) {
    Braces<T> braces(parts);
    any_ = AnyArray::uninitialized({dtype_of<T>, Shape(braces.shape(loc))});
    braces.copy_to(static_cast<T*>(any_.mutable_data()));
  }
  /// The typed view of an array (or of an empty one). Throws DTypeError when its element type is not T.
  template <std::same_as<AnyArray> A>
  explicit Array(A any) : any_(std::move(any)) {
    if (any_.dtype() != dtype_of<T> && !any_.empty()) [[unlikely]]
      detail::throw_wrong_dtype(any_, dtype_of<T>);
  }

  /// All elements 0. Throws ShapeError for a negative extent.
  static Array zeros(const Counts& shape, Loc loc = Loc::current()) {
    return full(detail::shape_of("zeros", shape, loc), T(0));
  }
  /// All elements 1. Throws ShapeError for a negative extent.
  static Array ones(const Counts& shape, Loc loc = Loc::current()) {
    return full(detail::shape_of("ones", shape, loc), T(1));
  }
  /// All elements `value`.
  static Array full(const Shape& shape, T value) { return Array(AnyArray::full<T>(shape, value)); }
  /// 0, 1, ..., n - 1, of shape [n]. Throws ShapeError for a negative n, DTypeError when T cannot hold n - 1.
  static Array arange(int64_t n, Loc loc = Loc::current()) { return Array(detail::arange(dtype_of<T>, 0, 1, n, loc)); }
  /// The identity matrix, of shape [n, n]. Throws ShapeError for a negative n.
  static Array eye(int64_t n, Loc loc = Loc::current()) { return Array(detail::eye(dtype_of<T>, n, loc)); }
  /// n evenly spaced values from `low` to `high`, both included, of shape [n]; without `endpoint` as numpy.linspace.
  /// Computed in double. Throws ShapeError for a negative n.
  static Array linspace(double low, double high, int64_t n, bool endpoint = true, Loc loc = Loc::current()) {
    return Array(detail::linspace(dtype_of<T>, low, high, n, endpoint, loc));
  }
  /// Copies a vector or span of elements, to shape [n].
  static Array from(std::span<const T> elements) {
    return Array(AnyArray::from<T>(elements, Shape{static_cast<int64_t>(elements.size())}));
  }
  template <class A>
  static Array from(const std::vector<T, A>& elements) {
    return Array(detail::captured_array(elements));
  }
  template <class U, class A>
    requires(!std::same_as<U, T>)
  static Array from(const std::vector<U, A>&, const Counts& = {}, Location = {}) {
    static_assert(sizeof(U) == 0,
                  "calque: from copies elements of the array's type; write cq::Array<U>::from(...) for a "
                  "std::vector<U>, and cast the array");
    return Array();
  }
  /// Copies row-major elements; one extent may be -1 and is inferred. Throws ShapeError when their number differs from
  /// that of the shape.
  static Array from(std::span<const T> elements, const Counts& shape, Loc loc = Loc::current()) {
    return Array(AnyArray::from<T>(elements, detail::shape_of_elements(elements.size(), shape.list, loc)));
  }
  /// Copies a vector of row-major elements. Throws ShapeError when their number differs from that of the shape.
  static Array from(const std::vector<T>& elements, const Counts& shape, Loc loc = Loc::current())
    requires(!std::same_as<T, bool>)
  {
    return from(std::span<const T>(elements), shape, loc);
  }
  /// Copies a dense Eigen object: shape [n] for vectors, [rows, columns] for matrices.
  template <class E>
    requires(dense<E>::value && std::same_as<typename dense<E>::scalar, T>)
  static Array from(const E& matrix) {
    return Array(dense<E>::copy(matrix));
  }
  /// Borrows row-major elements without a copy. They must not change while an array refers to them; `deleter(data)`
  /// runs when the last such array is destroyed.
  template <std::invocable<T*> D>
  static Array wrap(T* data, const Shape& shape, D deleter) {
    const size_t bytes = static_cast<size_t>(shape.num_elements()) * sizeof(T);
    return Array(AnyArray({dtype_of<T>, shape}, detail::Storage::borrow(data, bytes, [data, deleter]() mutable {
                            std::invoke(deleter, data);
                          })));
  }

  /// False for a default-constructed array, which can only be assigned to.
  bool has_value() const { return !any_.empty(); }
  /// The array without its static type. Throws ShapeError when empty.
  const AnyArray& any(const Location& location = {}) const {
    if (any_.empty()) [[unlikely]]
      detail::throw_empty_array(location);
    return any_;
  }

  /// The extents. Throws ShapeError when empty, as do `rank`, `size` and `device`.
  [[nodiscard]] const Shape& shape(Loc loc = Loc::current()) const& { return any(loc).shape(); }
  [[nodiscard]] Shape shape(Loc loc = Loc::current()) && { return any(loc).shape(); }
  /// The number of dimensions.
  [[nodiscard]] int rank(Loc loc = Loc::current()) const { return any(loc).rank(); }
  /// The number of elements.
  [[nodiscard]] int64_t size(Loc loc = Loc::current()) const { return any(loc).size(); }
  /// The element type, `dtype_of<T>`.
  [[nodiscard]] DType dtype() const { return dtype_of<T>; }
  /// The device that holds the elements.
  [[nodiscard]] Device device(Loc loc = Loc::current()) const { return any(loc).device(); }

  /// The row-major elements on the host, copied from the device if necessary. Valid as long as the array or a copy of
  /// it. Throws ShapeError when empty, DeviceError when the elements cannot be read.
  [[nodiscard]] std::span<const T> host(Loc loc = Loc::current()) const& {
    const AnyArray& a = any(loc);
    return {static_cast<const T*>(detail::host_data(a, loc)), static_cast<size_t>(a.size())};
  }
  /// The same of a temporary, as in `for (double e : f(x).host())`: the elements live as long as the result.
  OwnedElements<T> host(Loc loc = Loc::current()) && {
    const std::span<const T> elements = std::as_const(*this).host(loc);
    return OwnedElements<T>(elements, std::move(any_));
  }
  /// The single element. Throws ShapeError unless the array has exactly one.
  [[nodiscard]] T item(Loc loc = Loc::current()) const {
    return *static_cast<const T*>(detail::only_element(any(loc), loc));
  }
  /// The single element; converts to exactly T. Throws ShapeError unless the array has exactly one.
  template <std::same_as<T> U>
  operator U() const {
    return item(Loc());
  }
  /// The elements as an Eigen matrix or vector. Throws ShapeError when rank or extents do not fit it.
  template <class E>
    requires(dense<E>::owns && std::same_as<typename dense<E>::scalar, T>)
  operator E() const {
    return dense<E>::make(*this);
  }
  /// The elements of an array of rank 1 (`std::vector<T> v = a`; `v{a}` is a vector of one element). Throws ShapeError
  /// for another rank. `cq::to` gives other containers.
  template <class V>
    requires std::same_as<V, std::vector<T>>
  operator V() const {
    const AnyArray& a = any();
    const T* const elements = static_cast<const T*>(detail::list_data(a, {}));
    return V(elements, elements + a.size());
  }
  /// One element, on the host. Throws ShapeError for a wrong number of indices or an index outside [0, extent).
  template <std::integral... I>
  T operator()(detail::ElementIndex first, I... rest) const {
    const std::array<int64_t, 1 + sizeof...(I)> list{first.value, static_cast<int64_t>(rest)...};
    return element(list, first.location);
  }
  /// The element of an array of rank 0. Throws ShapeError for another rank.
  T operator()(Loc loc = Loc::current()) const { return element({}, loc); }
  /// `for (auto row : a)`: a[0], a[1], ... along the leading dimension, as arrays; `a.host()` gives numbers. Throws
  /// ShapeError for a scalar.
  detail::Elements<Array> begin(Loc loc = Loc::current()) const {
    return {*this, detail::leading_extent(shape(loc), loc), loc};
  }
  std::default_sentinel_t end() const { return {}; }
  /// The same elements (not copied) with another shape; one extent may be -1 and is inferred. Throws ShapeError when
  /// the numbers of elements differ.
  [[nodiscard("x.reshape(...) leaves x as it is and returns the result: write x = x.reshape(...)")]] Array reshape(
      const Counts& shape, Loc loc = Loc::current()) const {
    return Array(detail::reshaped(any(loc), shape.list, loc));
  }
  /// The array on another device. Throws DeviceError when the device is not available.
  [[nodiscard]] Array to(Device device, Loc loc = Loc::current()) const {
    return Array(detail::to_device(any(loc), device, loc));
  }

  /// x[i] along the leading dimension, as `Tracer<T>::operator[]`; a Tracer if the index is one. Throws ShapeError for
  /// an index out of bounds.
  [[nodiscard]] Array operator[](detail::ArrayIndex i) const {
    return Array(detail::run_index_at(any(i.location), std::span(&i.item, 1), i.location));
  }
  [[nodiscard]] Tracer<T> operator[](detail::TracerIndex i) const {
    return Tracer<T>(detail::index_at(any(i.location), std::span(&i.item, 1), i.location));
  }
  /// x[i, j, ...] as `Tracer<T>::at`; a Tracer if an index is one. Throws ShapeError for a static index out of bounds
  /// or too many indices.
  template <class... R>
  [[nodiscard]] out_t<T, R...> at(detail::ArrayIndex first, const R&... rest) const {
    return index<out_t<T, R...>>(first, rest...);
  }
  template <class... R>
  [[nodiscard]] Tracer<T> at(detail::TracerIndex first, const R&... rest) const {
    return index<Tracer<T>>(first, rest...);
  }
  /// x with x[indices] replaced by the last argument, as `Tracer<T>::set`; a Tracer if an argument is one. Throws
  /// ShapeError when the value does not broadcast to the selection.
  template <class... R>
  [[nodiscard("x.set(...) leaves x as it is and returns the result: write x = x.set(...)")]] out_t<T, R...> set(
      detail::ArrayIndex first, const R&... rest) const {
    return update<out_t<T, R...>>(&detail::index_set, &detail::run_index_set, first, rest...);
  }
  template <class... R>
  [[nodiscard("x.set(...) leaves x as it is and returns the result: write x = x.set(...)")]] Tracer<T> set(
      detail::TracerIndex first, const R&... rest) const {
    return update<Tracer<T>>(&detail::index_set, &detail::run_index_set, first, rest...);
  }
  /// x with the last argument added to x[indices], as `Tracer<T>::add`; a Tracer if an argument is one. Throws
  /// ShapeError when the value does not broadcast to the selection.
  template <class... R>
  [[nodiscard("x.add(...) leaves x as it is and returns the result: write x = x.add(...)")]] out_t<T, R...> add(
      detail::ArrayIndex first, const R&... rest) const {
    return update<out_t<T, R...>>(&detail::index_add, &detail::run_index_add, first, rest...);
  }
  template <class... R>
  [[nodiscard("x.add(...) leaves x as it is and returns the result: write x = x.add(...)")]] Tracer<T> add(
      detail::TracerIndex first, const R&... rest) const {
    return update<Tracer<T>>(&detail::index_add, &detail::run_index_add, first, rest...);
  }
  /// x with x[indices] multiplied by the last argument, as `Tracer<T>::mul`; a Tracer if an argument is one.
  template <class... R>
  [[nodiscard("x.mul(...) leaves x as it is and returns the result: write x = x.mul(...)")]] out_t<T, R...> mul(
      detail::ArrayIndex first, const R&... rest) const {
    return update<out_t<T, R...>>(&detail::index_mul, &detail::run_index_mul, first, rest...);
  }
  template <class... R>
  [[nodiscard("x.mul(...) leaves x as it is and returns the result: write x = x.mul(...)")]] Tracer<T> mul(
      detail::TracerIndex first, const R&... rest) const {
    return update<Tracer<T>>(&detail::index_mul, &detail::run_index_mul, first, rest...);
  }
  /// x with x[indices] replaced by the lesser of it and the last argument, as `Tracer<T>::min`; a Tracer if an argument
  /// is one.
  template <class... R>
  [[nodiscard("x.min(...) leaves x as it is and returns the result: write x = x.min(...)")]] out_t<T, R...> min(
      detail::ArrayIndex first, const R&... rest) const {
    return update<out_t<T, R...>>(&detail::index_min, &detail::run_index_min, first, rest...);
  }
  template <class... R>
  [[nodiscard("x.min(...) leaves x as it is and returns the result: write x = x.min(...)")]] Tracer<T> min(
      detail::TracerIndex first, const R&... rest) const {
    return update<Tracer<T>>(&detail::index_min, &detail::run_index_min, first, rest...);
  }
  /// x with x[indices] replaced by the greater of it and the last argument, as `Tracer<T>::max`; a Tracer if an
  /// argument is one.
  template <class... R>
  [[nodiscard("x.max(...) leaves x as it is and returns the result: write x = x.max(...)")]] out_t<T, R...> max(
      detail::ArrayIndex first, const R&... rest) const {
    return update<out_t<T, R...>>(&detail::index_max, &detail::run_index_max, first, rest...);
  }
  template <class... R>
  [[nodiscard("x.max(...) leaves x as it is and returns the result: write x = x.max(...)")]] Tracer<T> max(
      detail::TracerIndex first, const R&... rest) const {
    return update<Tracer<T>>(&detail::index_max, &detail::run_index_max, first, rest...);
  }

  // ---- operators. Those with a C++ number have exact parameters: a converting parameter would be ambiguous with the
  // built-in operator of the number and the array's element, as also for element types that are classes with operators
  // (the 16-bit floats).
#define CALQUE_X(R, L_result, op, f, ok, why)                                                                  \
  [[nodiscard]] friend R operator op(detail::ArrayOperand<T> a, detail::ArrayOperand<T> b) {                   \
    static_assert(ok, why);                                                                                    \
    return R(detail::run_binary(#f, &detail::ops::f, a.operand, b.operand, a.location));                       \
  }                                                                                                            \
  template <std::same_as<Array> A, detail::PromotesTo<T> U>                                                    \
    requires detail::HasOwnOperators<T>                                                                        \
  [[nodiscard]] friend R operator op(const A& a, const Array<U>& b) {                                          \
    return R(detail::run_binary(#f, &detail::ops::f, a.any(), b.any(), Location()));                           \
  }                                                                                                            \
  template <std::same_as<Array> A, detail::PromotesTo<T> U>                                                    \
    requires(detail::HasOwnOperators<T> && !std::same_as<T, U>)                                                \
  [[nodiscard]] friend R operator op(const Array<U>& a, const A& b) {                                          \
    return R(detail::run_binary(#f, &detail::ops::f, a.any(), b.any(), Location()));                           \
  }                                                                                                            \
  template <detail::Number L>                                                                                  \
  [[nodiscard]] friend L_result operator op(const Array& a, L b) {                                             \
    static_assert(detail::WideningLiteral<L, T> || (ok), why);                                                 \
    return L_result(detail::run_binary(#f, &detail::ops::f, a.any(), detail::literal_operand(b), Location())); \
  }                                                                                                            \
  template <detail::Number L>                                                                                  \
  [[nodiscard]] friend L_result operator op(L a, const Array& b) {                                             \
    static_assert(detail::WideningLiteral<L, T> || (ok), why);                                                 \
    return L_result(detail::run_binary(#f, &detail::ops::f, detail::literal_operand(a), b.any(), Location())); \
  }                                                                                                            \
  [[nodiscard]] friend Tracer<typename R::value_type> operator op(detail::ArrayExact<T> a,                     \
                                                                  detail::NarrowerTracer<T> b) {               \
    static_assert(ok, why);                                                                                    \
    return Tracer<typename R::value_type>(detail::ops::f(a.operand, b.operand, a.location));                   \
  }                                                                                                            \
  [[nodiscard]] friend Tracer<typename R::value_type> operator op(detail::NarrowerTracer<T> a,                 \
                                                                  detail::ArrayExact<T> b) {                   \
    static_assert(ok, why);                                                                                    \
    return Tracer<typename R::value_type>(detail::ops::f(a.operand, b.operand, a.location));                   \
  }
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Array, Promoted<L>, op, f, ok, why)
  /// The sum, difference, product, quotient or remainder of each element, of the promoted type, with broadcasting.
  /// Integers wrap; x / y of integers is truncated towards 0, -1 for y = 0; x % y has the sign of x, and is x for y = 0
  /// of integers. Of bools + is "or" and * is "and". Runs at once; beside a Tracer it is recorded. Throws ShapeError
  /// when shapes do not broadcast, DTypeError when an integer literal does not fit; - and / of bools and % of bools and
  /// complex numbers do not compile.
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f, ok, why) CALQUE_X(Mask, Mask, op, f, ok, why)
  /// Whether the comparison holds of each element, after promotion and with broadcasting: an array of bool, or a
  /// tracer. NaN is unequal to everything. Runs at once; beside a Tracer it is recorded. Throws ShapeError when shapes
  /// do not broadcast; <, >, <= and >= of complex numbers do not compile.
  CALQUE_COMPARISON_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#undef CALQUE_X
#define CALQUE_Y(op, f)                                                                                           \
  [[nodiscard]] friend Array operator op(detail::ArrayOperand<T> a, detail::ArrayOperand<T> b) {                  \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));                                                          \
    return Array(detail::run_binary(#f, &detail::ops::f, a.operand, b.operand, a.location));                      \
  }                                                                                                               \
  template <std::integral L>                                                                                      \
  [[nodiscard]] friend Promoted<L> operator op(const Array& a, L b) {                                             \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));                                                          \
    return Promoted<L>(detail::run_binary(#f, &detail::ops::f, a.any(), detail::literal_operand(b), Location())); \
  }                                                                                                               \
  template <std::integral L>                                                                                      \
  [[nodiscard]] friend Promoted<L> operator op(L a, const Array& b) {                                             \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));                                                          \
    return Promoted<L>(detail::run_binary(#f, &detail::ops::f, detail::literal_operand(a), b.any(), Location())); \
  }
  /// Bit by bit "and", "or" and "exclusive or" of integers and bools, and shifts of integers, of the promoted type,
  /// with broadcasting. A shift by the width or more, or by a negative number, gives 0; of >> of negative numbers -1.
  /// Throws ShapeError when shapes do not broadcast, DTypeError for shifts of bools; other element types do not
  /// compile.
  CALQUE_BITWISE_OPERATORS(CALQUE_Y)
#undef CALQUE_Y

  /// The negative of each element; integers wrap. Of bools it does not compile: use !.
  [[nodiscard]] friend Array operator-(detail::ArrayExact<T> a) {
    static_assert(!std::same_as<T, bool>, "calque: bool has no operator -; use !");
    return Array(detail::run_unary("negative", &detail::ops::negative, a.operand, a.location));
  }
  template <std::same_as<Array> A>
    requires detail::HasOwnOperators<T>
  [[nodiscard]] friend Array operator-(const A& a) {
    return Array(detail::run_unary("negative", &detail::ops::negative, a.any(), Location()));
  }
  /// The elements as they are, as `positive`.
  [[nodiscard]] friend Array operator+(detail::ArrayExact<T> a) {
    return Array(detail::run_unary("positive", &detail::ops::positive, a.operand, a.location));
  }
  /// Each bit inverted, of integers and bools; other element types do not compile.
  [[nodiscard]] friend Array operator~(detail::ArrayExact<T> a) {
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(~));
    return Array(detail::run_unary("bitwise_not", &detail::ops::bitwise_not, a.operand, a.location));
  }
  /// Logical "not" of each element of bool; other element types do not compile (compare first, as in x != 0).
  template <std::same_as<Array> A>
  [[nodiscard]] friend Mask operator!(const A& a) {
    static_assert(std::same_as<T, bool>, CALQUE_LOGIC_NEEDS(!));
    return Mask(detail::run_unary("logical_not", &detail::ops::logical_not, a.any(), Location()));
  }
#define CALQUE_Y(op, f)                                                                 \
  template <std::same_as<Array> A>                                                      \
  [[nodiscard]] friend Mask operator op(const A& a, const A& b) {                       \
    static_assert(std::same_as<T, bool>, CALQUE_LOGIC_NEEDS(op));                       \
    return Mask(detail::run_binary(#f, &detail::ops::f, a.any(), b.any(), Location())); \
  }
  /// Logical "and" of bools, with broadcasting. Both sides are computed, unlike those of C++'s operator. Throws
  /// ShapeError when shapes do not broadcast; other element types do not compile.
  CALQUE_Y(&&, logical_and)
  /// Logical "or" of bools; otherwise as &&.
  CALQUE_Y(||, logical_or)
#undef CALQUE_Y

#define CALQUE_X(op, f)                                                                                    \
  CALQUE_NO_ELEMENT_UPDATE(op)                                                                             \
  Array& operator op## = (detail::ArrayAssigned<T> b) & {                                                  \
    any_ = detail::run_binary(#f, &detail::ops::f, any(b.location), b.operand, b.location);                \
    return *this;                                                                                          \
  }                                                                                                        \
  template <OperandLike U>                                                                                 \
    requires(TracerLike<U> || !detail::keeps_type<T, U>)                                                   \
  Array& operator op## = (const U&)& {                                                                     \
    static_assert(!TracerLike<U>,                                                                          \
                  "calque: an Array cannot hold a Tracer; start the accumulator as a tracer, as in "       \
                  "cq::zeros<float>(shape)");                                                              \
    static_assert(TracerLike<U> || detail::keeps_type<T, U>,                                               \
                  "calque: " #op "= would change the element type, as float " #op                          \
                  "= double would; cast the right side: x " #op "= cast<float>(y)");                       \
    return *this;                                                                                          \
  }                                                                                                        \
  template <ArithmeticLike S>                                                                              \
  friend S& operator op## = (S & s, const Array&) {                                                        \
    static_assert(sizeof(S) == 0, "calque: add the array's element to a C++ number, s " #op "= a.item()"); \
    return s;                                                                                              \
  }
#define CALQUE_Y(op, f, ok, why) CALQUE_X(op, f)
  /// Replaces this Array by the result of the operator without =, whose type must be its own (compile error; cast the
  /// right side). Otherwise as that operator. Other copies of the Array keep their value.
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#undef CALQUE_X
#define CALQUE_Y(op, f)                                                                     \
  CALQUE_NO_ELEMENT_UPDATE(op)                                                              \
  Array& operator op## = (detail::ArrayAssigned<T> b) & {                                   \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));                                    \
    any_ = detail::run_binary(#f, &detail::ops::f, any(b.location), b.operand, b.location); \
    return *this;                                                                           \
  }
  /// Replaces this Array by the result of the operator without =, which has its type. Otherwise as that operator.
  CALQUE_BITWISE_OPERATORS(CALQUE_Y)
#undef CALQUE_Y

  /// Prints like NumPy: nested brackets, long arrays summarised.
  friend std::ostream& operator<<(std::ostream& out, const Array& array) { return out << array.any_; }

 private:
  friend class AnyArray;

  T element(std::span<const int64_t> indices, const Location& location) const {
    const AnyArray& a = any(location);
    return static_cast<const T*>(detail::host_data(a, location))[detail::element_offset(a.type(), indices, location)];
  }
  template <class Out, class... R>
  Out index(const Index& first, const R&... rest) const {
    const std::vector<detail::IndexItem> items = detail::index_items(first, rest...);
    if constexpr (TracerLike<Out>) {
      return Out(detail::index_at(any(first.location), items, first.location));
    } else {
      return Out(detail::run_index_at(any(first.location), items, first.location));
    }
  }
  template <class Out, class Record, class Run, class... R>
  Out update(Record record, Run run, const Index& first, const R&... rest) const {
    detail::Update<T, R...> u(first, rest...);
    if constexpr (TracerLike<Out>) {
      return Out(record(any(first.location), u.items, u.value, first.location));
    } else {
      return Out(run(any(first.location), u.items, u.value, first.location));
    }
  }

  AnyArray any_{};
};

// What a struct over an element type with a cq::Array<T> member would be re-bound to. A complete type, so that
// check_tree can say what is wrong with the struct.
template <class T>
class Array<Tracer<T>> {
 public:
  template <class... X>
  Array(const X&...) {
    static_assert(sizeof(T) == 0, "calque: an array has no tracers as elements; write cq::Tracer<T>");
  }
};

template <Elem T>
AnyArray::AnyArray(const Array<T>& array) : AnyArray(array.any_) {}

template <Elem T>
Array<T> AnyArray::as() const {
  return Array<T>(*this);
}

/// True if |a - b| <= atol + rtol * |b| for all elements after broadcasting. Infinities are close only to themselves;
/// NaN is close to NaN if `equal_nan`, else to nothing. Throws ShapeError when the shapes do not broadcast.
template <Elem T>
bool allclose(const Array<T>& a, const Array<T>& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
              Loc loc = Loc::current()) {
  return detail::allclose(a.any(loc), b.any(loc), rtol, atol, equal_nan, loc);
}
/// True if the shapes and all elements are equal. NaN equals NaN if `equal_nan`, else nothing.
template <Elem T>
bool array_equal(const Array<T>& a, const Array<T>& b, bool equal_nan = false, Loc loc = Loc::current()) {
  return detail::array_equal(a.any(loc), b.any(loc), equal_nan, loc);
}

/// Writes a file of NumPy's format 1.0 (numpy.lib.format; bf16 as 2-byte void, since NumPy has no bf16). Throws Error
/// when the file cannot be written.
template <Elem T>
void save_npy(const std::string& path, const Array<T>& array, Loc loc = Loc::current()) {
  detail::save_npy(path, array.any(loc), loc);
}
/// Reads a file of NumPy's formats 1.0, 2.0 and 3.0, in either byte order and element order. Throws Error when the file
/// cannot be read, ParseError when it is damaged, DTypeError when its elements are not T.
template <Elem T>
Array<T> load_npy(const std::string& path, Loc loc = Loc::current()) {
  return Array<T>(detail::load_npy(path, dtype_of<T>, loc));
}

}  // namespace calque
