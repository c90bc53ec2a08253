#pragma once
// The operands of the library's type-erased functions. Tracer<T>, Array<T> and C++ literals become operands; the public
// templates only compute result types and forward, so that everything else is compiled once.
#include <complex>
#include <concepts>
#include <type_traits>

#include "calque/ir/any_array.h"
#include "calque/ir/graph.h"
#include "calque/ir/location.h"

namespace calque {
template <class T>
class Tracer;
template <class T>
class Array;
}  // namespace calque

namespace calque::detail {

/// The contents of a tracer: a value of a running trace, or a scalar literal, which belongs to no trace, so that a
/// static variable can hold it. Trace 0 means neither. Trace ids are never reused, and never have the literals' bit.
struct Handle {
  uint32_t value = UINT32_MAX;
  uint32_t high = 0;  ///< of a literal: `value` and `high` are its bits, the low half of `trace` its dtype
  uint64_t trace = 0;

  static constexpr uint64_t kLiteral = uint64_t{1} << 63;
  static constexpr Handle zero(DType dtype) { return {0, 0, kLiteral | static_cast<uint64_t>(dtype)}; }
  constexpr bool is_literal() const { return (trace & kLiteral) != 0; }
  friend bool operator==(const Handle&, const Handle&) = default;
};

/// The dtype of a C++ number: of integers that of their width and signedness.
template <class L>
  requires(std::is_arithmetic_v<L> || Elem<L>)
constexpr DType literal_dtype() {
  if constexpr (Elem<L>) {
    return dtype_of<L>;
  } else if constexpr (std::integral<L>) {
    constexpr int width = sizeof(L) == 1 ? 0 : sizeof(L) == 2 ? 1 : sizeof(L) == 4 ? 2 : 3;
    constexpr int first = static_cast<int>(std::is_signed_v<L> ? DType::i8 : DType::u8);
    return static_cast<DType>(first + width);
  } else {
    return DType::f64;  // long double
  }
}

/// A C++ literal among array operands: it takes their dtype if that can hold its kind (promote_weak).
struct WeakLiteral {
  DType dtype = DType::i32;  ///< of the C++ number
  bool is_unsigned = false;
  int64_t integer = 0;  ///< the bits of a uint64_t when is_unsigned
  double real = 0, imaginary = 0;

  bool is_integer() const { return calque::is_integer(dtype); }
  bool is_complex() const { return calque::is_complex(dtype); }
};

/// One operand of a type-erased function. Refers to arrays, does not own them.
class Operand {
 public:
  enum class Kind : uint8_t { tracer, array, weak, scalar };

  Operand(Handle handle) : kind_(Kind::tracer), handle_(handle) {}
  Operand(const AnyArray& array) : kind_(Kind::array), array_(&array) {}
  Operand(WeakLiteral literal) : kind_(Kind::weak), weak_(literal) {}
  /// A strongly typed rank-0 value: bool, and element types that are not C++ arithmetic types.
  Operand(DType dtype, Literal scalar) : kind_(Kind::scalar), dtype_(dtype), scalar_(scalar) {}

  Kind kind() const { return kind_; }
  Handle handle() const { return handle_; }
  const AnyArray& array() const { return *array_; }
  const WeakLiteral& weak() const { return weak_; }
  DType scalar_dtype() const { return dtype_; }
  const Literal& scalar() const { return scalar_; }

 private:
  Kind kind_;
  DType dtype_ = DType::bool_;
  Handle handle_;
  const AnyArray* array_ = nullptr;
  WeakLiteral weak_;
  Literal scalar_;
};

/// The operand of a C++ literal: bool is a strong scalar, other arithmetic types are weak, half types are strong.
template <class L>
  requires(std::is_arithmetic_v<L> || Elem<L>)
Operand literal_operand(L value) {
  WeakLiteral w;
  w.dtype = literal_dtype<L>();
  if constexpr (std::same_as<L, bool>) {
    return Operand(DType::bool_, Literal::of<bool>(value));
  } else if constexpr (std::integral<L>) {
    w.is_unsigned = std::is_unsigned_v<L>;
    w.integer = static_cast<int64_t>(value);
    w.real = static_cast<double>(value);
    return Operand(w);
  } else if constexpr (std::floating_point<L>) {
    w.real = static_cast<double>(value);
    return Operand(w);
  } else if constexpr (std::same_as<L, std::complex<float>> || std::same_as<L, std::complex<double>>) {
    w.real = static_cast<double>(value.real());
    w.imaginary = static_cast<double>(value.imag());
    return Operand(w);
  } else {
    return Operand(dtype_of<L>, Literal::of<L>(value));
  }
}

}  // namespace calque::detail
