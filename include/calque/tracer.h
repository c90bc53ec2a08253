#pragma once
// Tracer<T> refers to a value of a running trace. Its element type is in its C++ type, so that a mismatch is a compile
// error; its shape is known while tracing, its elements are not.
#include <iosfwd>
#include <ostream>

#include "calque/detail/elements.h"
#include "calque/detail/members.h"
#include "calque/detail/mixed.h"
#include "calque/index.h"

namespace calque {
namespace detail {

/// The truth value of a tracer in an eager trace, or where the trace follows branches. Otherwise throws
/// ConcretizationError; ShapeError unless the tracer has exactly one element. The address that it returns to is that of
/// the question in the user's code.
bool truth_of(Handle handle);
/// The same for the value of an integer.
int64_t number_of(Handle handle);
/// True if a compound assignment of a U to a tracer of T keeps its element type.
template <class T, class U>
constexpr bool keeps_type = std::same_as<promoted_elem_t<Tracer<T>, U>, T>;

}  // namespace detail

/// A value of a running trace, of elements T: wrapped lambdas compute with tracers. Operators broadcast as in NumPy and
/// promote by the lattice; a C++ number takes the tracer's element type if that can hold its kind. Operators record the
/// line where they are written. They throw ShapeError when operands do not broadcast, DTypeError when an integer
/// literal does not fit, LeakedTracerError for a tracer whose trace has ended.
template <class T>
class Tracer : public ops::Base, public detail::Members<Tracer<T>>, public detail::MixedBases<detail::MixedTracers, T> {
  static_assert(Elem<T>, "calque: not an element type");
  using Mask = Tracer<detail::dependent_bool<T>>;

 public:
  using value_type = T;

  /// The scalar 0.
  Tracer() = default;
  CALQUE_NO_ELEMENT_ASSIGNMENT(Tracer)
  explicit Tracer(detail::Handle handle) : handle_(handle) {}
  /// A captured array as a constant of the graph. Throws LeakedTracerError outside a trace, ShapeError for an empty
  /// array.
  Tracer(const Array<T>& array, Loc loc = Loc::current()) : handle_(detail::constant(array.any(loc), loc)) {}
  /// A number: a literal of each graph that uses it, so that a static variable can hold it. Throws DTypeError for an
  /// integer that T cannot hold.
  template <detail::KeepingLiteral<T> L>
  Tracer(L value, Loc loc = Loc::current())
      : handle_(detail::literal_handle(detail::literal_operand(value), dtype_of<T>, loc)) {}
  /// A matrix of tracers as one tracer. Explicit, since otherwise Eigen would accept every such matrix as a scalar.
  /// Throws ShapeError for elements that are not scalars.
  template <class E>
    requires(dense<E>::of_tracers && std::same_as<typename dense<E>::scalar, Tracer>)
  explicit Tracer(const E& matrix, Loc loc = Loc::current()) : handle_(dense<E>::pack(matrix, loc).handle_) {}

  /// The value in its trace, for functions of namespace detail.
  detail::Handle handle() const { return handle_; }
  /// The extents, known while tracing. Throws LeakedTracerError when the trace has ended, as do `rank` and `size`.
  [[nodiscard]] Shape shape(Loc loc = Loc::current()) const { return detail::type_of(handle_, loc).shape; }
  /// The number of dimensions.
  [[nodiscard]] int rank(Loc loc = Loc::current()) const { return detail::type_of(handle_, loc).shape.rank(); }
  /// The number of elements.
  [[nodiscard]] int64_t size(Loc loc = Loc::current()) const {
    return detail::type_of(handle_, loc).shape.num_elements();
  }
  /// The element type, `dtype_of<T>`.
  [[nodiscard]] DType dtype() const { return dtype_of<T>; }

  /// The elements in row-major order with another shape; one extent may be -1 and is inferred. Throws ShapeError when
  /// the numbers of elements differ.
  [[nodiscard("x.reshape(...) leaves x as it is and returns the result: write x = x.reshape(...)")]] Tracer reshape(
      const Counts& shape, Loc loc = Loc::current()) const {
    return Tracer(detail::ops::reshape(handle_, shape.list, loc));
  }

  /// x[i] along the leading dimension. `i`: an integer, an integer array or tracer, `all`, `newaxis`, a `range`. Throws
  /// ShapeError for an integer out of bounds.
  [[nodiscard]] Tracer operator[](Index i) const {
    return Tracer(detail::index_at(handle_, std::span(&i.item, 1), i.location));
  }
  /// x[i, j, ...] as in NumPy; out-of-bounds indices of index arrays read a fill value (NaN, the minimum of signed and
  /// the maximum of unsigned integers, true). Throws ShapeError for an integer out of bounds, too many indices or index
  /// arrays that do not broadcast.
  template <class... R>
  [[nodiscard]] Tracer at(Index first, const R&... rest) const {
    return Tracer(detail::index_at(handle_, detail::index_items(first, rest...), first.location));
  }
  /// The element at these indices, one for each dimension: an integer (negative: from the end) or an integer scalar.
  /// Throws ShapeError for another number of indices and for an integer out of bounds.
  template <class... R>
  Tracer operator()(Index first, const R&... rest) const {
    return Tracer(detail::element_at(handle_, detail::index_items(first, rest...), first.location));
  }
  template <class Self = Tracer>
  Self operator()() const {
    static_assert(!std::same_as<Self, Tracer>,
                  "calque: a tracer has no value while tracing, so that x() cannot give it; use x itself, or return it "
                  "and read the result");
    return *this;
  }
  /// `for (auto row : x)`: x[0], x[1], ... along the leading dimension, one after the other, as a C++ loop whose body
  /// is recorded for each. Throws ShapeError for a scalar.
  detail::Elements<Tracer> begin(Loc loc = Loc::current()) const {
    return {*this, detail::leading_extent(shape(loc), loc), loc};
  }
  std::default_sentinel_t end() const { return {}; }
  /// x with x[indices] replaced: `x.set(0, cq::all, value)`. The value broadcasts to the selected shape and promotes to
  /// T; out-of-bounds updates are dropped; for repeated indices the last update in row-major order wins. Throws
  /// ShapeError as `at`, and when the value does not broadcast.
  template <class... R>
  [[nodiscard("x.set(...) leaves x as it is and returns the result: write x = x.set(...)")]] Tracer set(
      Index first, const R&... rest) const {
    detail::Update<T, R...> update(first, rest...);
    return Tracer(detail::index_set(handle_, update.items, update.value, first.location));
  }
  template <class V>
    requires(!std::convertible_to<const V&, Index>)
  Tracer set(const V&) const {
    static_assert(std::convertible_to<const V&, Index>, CALQUE_UPDATE_NEEDS_INDEX(set));
    return *this;
  }
  /// x with the value added to x[indices]; repeated indices accumulate. Otherwise as `set`.
  template <class... R>
  [[nodiscard("x.add(...) leaves x as it is and returns the result: write x = x.add(...)")]] Tracer add(
      Index first, const R&... rest) const {
    detail::Update<T, R...> update(first, rest...);
    return Tracer(detail::index_add(handle_, update.items, update.value, first.location));
  }
  /// x with x[indices] multiplied by the value; repeated indices accumulate. Otherwise as `set`; throws DTypeError for
  /// bools. The derivative in each factor is the product of the others, also at zeros and of repeated indices, which
  /// JAX refuses; it sorts the indices.
  template <class... R>
  [[nodiscard("x.mul(...) leaves x as it is and returns the result: write x = x.mul(...)")]] Tracer mul(
      Index first, const R&... rest) const {
    detail::Update<T, R...> update(first, rest...);
    return Tracer(detail::index_mul(handle_, update.items, update.value, first.location));
  }
  /// x with the lesser of x[indices] and the value there. Otherwise as `set`; throws DTypeError for complex numbers.
  template <class... R>
  [[nodiscard("x.min(...) leaves x as it is and returns the result: write x = x.min(...)")]] Tracer min(
      Index first, const R&... rest) const {
    detail::Update<T, R...> update(first, rest...);
    return Tracer(detail::index_min(handle_, update.items, update.value, first.location));
  }
  /// x with the greater of x[indices] and the value there. Otherwise as `min`.
  template <class... R>
  [[nodiscard("x.max(...) leaves x as it is and returns the result: write x = x.max(...)")]] Tracer max(
      Index first, const R&... rest) const {
    detail::Update<T, R...> update(first, rest...);
    return Tracer(detail::index_max(handle_, update.items, update.value, first.location));
  }

  template <class V>
    requires(!std::convertible_to<const V&, Index>)
  Tracer add(const V&) const {
    static_assert(std::convertible_to<const V&, Index>, CALQUE_UPDATE_NEEDS_INDEX(add));
    return *this;
  }

  /// The truth value under CALQUE_DISABLE_JIT=1 or where branches are followed (JitOptions::branches); otherwise throws
  /// ConcretizationError that names the line which made the value.
  template <std::same_as<bool> B>
  [[gnu::always_inline]] explicit(!std::same_as<T, bool>) operator B() const {
    return detail::truth_of(handle_);
  }
  /// The same for an integer: `int(k)`, `switch (int(k))`, `v[size_t(k)]`. With `branches::trace` the function is
  /// compiled for each value that is asked for.
  template <std::integral I>
    requires(IntegerElem<T> && !std::same_as<I, bool>)
  [[gnu::always_inline]] explicit operator I() const {
    return static_cast<I>(detail::number_of(handle_));
  }
  /// The elements as an Eigen matrix of tracers. Throws ShapeError when rank or extents do not fit it.
  template <class E>
    requires(dense<E>::owns && dense<E>::of_tracers && std::same_as<typename dense<E>::scalar, Tracer>)
  operator E() const {
    return dense<E>::make(*this);
  }

  // ---- operators
#define CALQUE_X(R, op, f, ok, why)                                                            \
  [[nodiscard]] friend R operator op(detail::TracerOperand<T> a, detail::TracerOperand<T> b) { \
    static_assert(ok, why);                                                                    \
    return R(detail::ops::f(a.operand, b.operand, a.location));                                \
  }
#define CALQUE_WIDENING(R, op, f)                                                             \
  template <detail::Widening<T> L>                                                            \
  [[nodiscard]] friend R operator op(detail::Exact<T> a, const L& b) {                        \
    return R(detail::ops::f(a.operand, detail::widening_operand(b, a.location), a.location)); \
  }                                                                                           \
  template <detail::Widening<T> L>                                                            \
  [[nodiscard]] friend R operator op(const L& a, detail::Exact<T> b) {                        \
    return R(detail::ops::f(detail::widening_operand(a, b.location), b.operand, b.location)); \
  }
#define CALQUE_W Tracer<promoted_elem_t<Array<T>, L>>
#define CALQUE_Y(op, f, ok, why)   \
  CALQUE_X(Tracer, op, f, ok, why) \
  CALQUE_WIDENING(CALQUE_W, op, f)
  /// The sum, difference, product, quotient or remainder of each element, of the promoted type, with broadcasting.
  /// Integers wrap; x / y of integers is truncated towards 0, -1 for y = 0; x % y has the sign of x, and is x for y = 0
  /// of integers. Of bools + is "or" and * is "and". It is recorded with its line. Throws ShapeError when shapes do not
  /// broadcast, DTypeError when an integer literal does not fit; - and / of bools and % of bools and complex numbers do
  /// not compile.
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f, ok, why) \
  CALQUE_X(Mask, op, f, ok, why) \
  CALQUE_WIDENING(Mask, op, f)
  /// Whether the comparison holds of each element, after promotion and with broadcasting: an array of bool, or a
  /// tracer. NaN is unequal to everything. It is recorded with its line. Throws ShapeError when shapes do not
  /// broadcast; <, >, <= and >= of complex numbers do not compile.
  CALQUE_COMPARISON_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f)                                                                             \
  [[nodiscard]] friend Tracer operator op(detail::TracerOperand<T> a, detail::TracerOperand<T> b) { \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));                                            \
    return Tracer(detail::ops::f(a.operand, b.operand, a.location));                                \
  }
  /// Bit by bit "and", "or" and "exclusive or" of integers and bools, and shifts of integers, of the promoted type,
  /// with broadcasting. A shift by the width or more, or by a negative number, gives 0; of >> of negative numbers -1.
  /// Throws ShapeError when shapes do not broadcast, DTypeError for shifts of bools; other element types do not
  /// compile.
  CALQUE_BITWISE_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#undef CALQUE_W
#undef CALQUE_WIDENING
#undef CALQUE_X

  /// The negative of each element; integers wrap. Of bools it does not compile: use !.
  [[nodiscard]] friend Tracer operator-(detail::Exact<T> a) {
    static_assert(!std::same_as<T, bool>, "calque: bool has no operator -; use !");
    return Tracer(detail::ops::negative(a.operand, a.location));
  }
  /// The elements as they are, as `positive`.
  [[nodiscard]] friend Tracer operator+(detail::Exact<T> a) {
    return Tracer(detail::ops::positive(a.operand, a.location));
  }
  /// Each bit inverted, of integers and bools; other element types do not compile.
  [[nodiscard]] friend Tracer operator~(detail::Exact<T> a) {
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(~));
    return Tracer(detail::ops::bitwise_not(a.operand, a.location));
  }

  // Exact parameters, to which nothing converts: others would be ambiguous with the built-in operators. They cannot
  // capture the user's line; the trace replaces a line of this header by the user's last one.
  /// Logical "not" of each element of bool; other element types do not compile (compare first, as in x != 0).
  template <std::same_as<Tracer> A>
  [[nodiscard]] friend Mask operator!(const A& a) {
    static_assert(std::same_as<T, bool>, CALQUE_LOGIC_NEEDS(!));
    return Mask(detail::ops::logical_not(a.handle(), Loc::current()));
  }
#define CALQUE_Y(op, f)                                                  \
  template <std::same_as<Tracer> A>                                      \
  [[nodiscard]] friend Mask operator op(const A& a, const A& b) {        \
    static_assert(std::same_as<T, bool>, CALQUE_LOGIC_NEEDS(op));        \
    return Mask(detail::ops::f(a.handle(), b.handle(), Loc::current())); \
  }                                                                      \
  template <std::same_as<Tracer> A, std::same_as<Array<T>> B>            \
    requires std::same_as<T, bool>                                       \
  [[nodiscard]] friend Tracer operator op(const A& a, const B& b) {      \
    return Tracer(detail::ops::f(a.handle(), b.any(), Loc::current()));  \
  }                                                                      \
  template <std::same_as<Tracer> A, std::same_as<Array<T>> B>            \
    requires std::same_as<T, bool>                                       \
  [[nodiscard]] friend Tracer operator op(const B& a, const A& b) {      \
    return Tracer(detail::ops::f(a.any(), b.handle(), Loc::current()));  \
  }
  /// Logical "and" of bools, with broadcasting. Both sides are computed, unlike those of C++'s operator. Throws
  /// ShapeError when shapes do not broadcast; other element types do not compile.
  CALQUE_Y(&&, logical_and)
  /// Logical "or" of bools; otherwise as &&.
  CALQUE_Y(||, logical_or)
#undef CALQUE_Y

#define CALQUE_Y(op, f, ok, why)                                                                               \
  CALQUE_NO_ELEMENT_UPDATE(op)                                                                                 \
  Tracer& operator op## = (detail::TracerOperand<T> b) & {                                                     \
    static_assert(ok, why);                                                                                    \
    handle_ = detail::ops::f(handle_, b.operand, b.location);                                                  \
    return *this;                                                                                              \
  }                                                                                                            \
  template <OperandLike U>                                                                                     \
    requires(!detail::keeps_type<T, U>)                                                                        \
  Tracer& operator op## = (const U&)& {                                                                        \
    static_assert(detail::keeps_type<T, U>, "calque: " #op "= would change the element type, as float " #op    \
                                            "= double would; cast the right side: x " #op "= cast<float>(y)"); \
    return *this;                                                                                              \
  }                                                                                                            \
  template <ArithmeticLike S>                                                                                  \
  friend S& operator op## = (S & s, const Tracer&) {                                                           \
    static_assert(sizeof(S) == 0,                                                                              \
                  "calque: a C++ number cannot hold a Tracer; start the accumulator as a tracer, as in "       \
                  "cq::zeros<float>({})");                                                                     \
    return s;                                                                                                  \
  }
  /// Replaces this Tracer by the result of the operator without =, whose type must be its own (compile error; cast the
  /// right side). Otherwise as that operator. Other copies of the Tracer keep their value.
  CALQUE_ARITHMETIC_OPERATORS(CALQUE_Y)
#undef CALQUE_Y
#define CALQUE_Y(op, f)                                       \
  CALQUE_NO_ELEMENT_UPDATE(op)                                \
  Tracer& operator op## = (detail::TracerOperand<T> b) & {    \
    static_assert(IntegerElem<T>, CALQUE_BITS_NEED(op));      \
    handle_ = detail::ops::f(handle_, b.operand, b.location); \
    return *this;                                             \
  }
  /// Replaces this Tracer by the result of the operator without =, which has its type. Otherwise as that operator.
  CALQUE_BITWISE_OPERATORS(CALQUE_Y)
#undef CALQUE_Y

  /// Prints type and name, `f32[3,4] %7`; under CALQUE_DISABLE_JIT=1 also the value.
  friend std::ostream& operator<<(std::ostream& out, const Tracer& x) { return out << detail::describe(x.handle_); }

 private:
  detail::Handle handle_ = detail::Handle::zero(dtype_of<T>);
};

}  // namespace calque
