#pragma once
// Element types and the promotion lattice. One constexpr function implements the lattice, both for the C++ types of
// tracers and for the run-time dtypes of graphs.
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>

#include <Eigen/Core>

namespace calque {

/// IEEE 754 binary16.
using float16 = Eigen::half;
/// The upper 16 bits of a binary32.
using bfloat16 = Eigen::bfloat16;

/// An element type at run time. Prints as its name: `f32`, `bool`, `c64` ...
enum class DType : uint8_t { bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };

/// Number of element types.
inline constexpr int kDTypeCount = 15;

/// Exactly `bool`.
constexpr bool is_bool(DType d) { return d == DType::bool_; }
/// `i8` to `i64`.
constexpr bool is_signed_integer(DType d) { return d >= DType::i8 && d <= DType::i64; }
/// `u8` to `u64`.
constexpr bool is_unsigned_integer(DType d) { return d >= DType::u8 && d <= DType::u64; }
/// Signed and unsigned integers, without bool.
constexpr bool is_integer(DType d) { return d >= DType::i8 && d <= DType::u64; }
/// `f16`, `bf16`, `f32`, `f64`.
constexpr bool is_floating(DType d) { return d >= DType::f16 && d <= DType::f64; }
/// `c64`, `c128`.
constexpr bool is_complex(DType d) { return d >= DType::c64; }
/// Floating point or complex.
constexpr bool is_inexact(DType d) { return d >= DType::f16; }

/// Size of one element in bytes.
constexpr size_t size_of(DType d) {
  constexpr uint8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kSizes[static_cast<int>(d)];
}

/// The name of a dtype: `bool`, `i8`, ... `c128`.
std::string_view name(DType d);
/// The dtype of that name, or nullopt.
std::optional<DType> dtype_from_name(std::string_view name);
/// Prints the name.
std::ostream& operator<<(std::ostream& out, DType d);

/// The least upper bound of two element types in the promotion lattice (docs/semantics.md).
constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) {
    DType t = a;
    a = b;
    b = t;
  }
  if (is_bool(a)) return b;
  if (is_signed_integer(a) && is_signed_integer(b)) return b;
  if (is_unsigned_integer(a) && is_unsigned_integer(b)) return b;
  if (is_signed_integer(a) && is_unsigned_integer(b)) {
    const int s = static_cast<int>(a) - static_cast<int>(DType::i8);
    const int u = static_cast<int>(b) - static_cast<int>(DType::u8);
    if (u < s) return a;
    return u == 3 ? DType::f32 : static_cast<DType>(static_cast<int>(DType::i8) + u + 1);
  }
  if (is_integer(a)) return b;
  if (is_floating(a) && is_floating(b)) return a == DType::f16 && b == DType::bf16 ? DType::f32 : b;
  if (a == DType::f64 && is_complex(b)) return DType::c128;
  return b;
}

/// The result type of functions such as `exp` or `mean`: inexact types are kept, bool and integers become f32.
constexpr DType to_inexact(DType d) { return is_inexact(d) ? d : DType::f32; }
/// The type of the real part: f32 for c64, f64 for c128, else `d`.
constexpr DType real_of(DType d) { return d == DType::c64 ? DType::f32 : d == DType::c128 ? DType::f64 : d; }
/// The result type of `sum` and `prod`: i32 for bool, else `d`.
constexpr DType sum_result(DType d) { return is_bool(d) ? DType::i32 : d; }

/// The dtype to which an operand of type `d` and a C++ literal of type `literal` promote: the literal never widens an
/// operand of its own kind (integer, floating, complex) or above, and is complex of the width of a floating operand.
/// Else it has its own type: of bool and 2 (int) i32, of i64 and 0.1 (double) f64, of i64 and 0.1f f32.
constexpr DType promote_weak(DType d, DType literal) {
  if (is_complex(literal)) {
    return is_complex(d) ? d : !is_floating(d) ? literal : d == DType::f64 ? DType::c128 : DType::c64;
  }
  if (is_floating(literal)) return is_inexact(d) ? d : literal;
  return is_bool(d) ? literal : d;
}
/// The dtype that stands for two literals among the operands: of integers that of C++'s arithmetic, else `promote`.
constexpr DType join_literals(DType a, DType b) {
  if (is_inexact(a) || is_inexact(b)) return promote(a, b);
  const bool is_wider = size_of(b) > size_of(a) || (size_of(b) == size_of(a) && is_unsigned_integer(b));
  return is_wider ? b : a;
}

namespace detail {
template <class T>
struct DTypeOf {
  static constexpr bool known = false;
};
template <DType D>
struct TypeOf;
// clang-format off
#define CALQUE_ELEMENT_TYPES(X)                                                                                   \
  X(bool, bool_)                                                                                                  \
  X(int8_t, i8) X(int16_t, i16) X(int32_t, i32) X(int64_t, i64)                                                   \
  X(uint8_t, u8) X(uint16_t, u16) X(uint32_t, u32) X(uint64_t, u64)                                               \
  X(::calque::float16, f16) X(::calque::bfloat16, bf16) X(float, f32) X(double, f64)                              \
  X(std::complex<float>, c64) X(std::complex<double>, c128)
// clang-format on
#define CALQUE_X(T, D)                       \
  template <>                                \
  struct DTypeOf<T> {                        \
    static constexpr bool known = true;      \
    static constexpr DType value = DType::D; \
  };                                         \
  template <>                                \
  struct TypeOf<DType::D> {                  \
    using type = T;                          \
  };
CALQUE_ELEMENT_TYPES(CALQUE_X)
#undef CALQUE_X
}  // namespace detail

/// The C++ types that are element types of arrays.
template <class T>
concept Elem = detail::DTypeOf<T>::known;
/// The dtype of the C++ type T.
template <Elem T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;
/// The C++ type of dtype D.
template <DType D>
using type_of = typename detail::TypeOf<D>::type;

/// The C++ type of `promote(dtype_of<T>, dtype_of<U>)`.
template <Elem T, Elem U>
using promote_t = type_of<promote(dtype_of<T>, dtype_of<U>)>;

/// Calls `f.template operator()<T>()` with the C++ type of `d`.
template <class F>
decltype(auto) visit_dtype(DType d, F&& f) {
  switch (d) {
#define CALQUE_X(T, D) \
  case DType::D:       \
    return f.template operator()<T>();
    CALQUE_ELEMENT_TYPES(CALQUE_X)
#undef CALQUE_X
  }
  __builtin_unreachable();
}

}  // namespace calque
