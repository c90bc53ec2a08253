// Conversion of literals to a dtype: integer literals convert exactly or are rejected; floating-point literals round to
// nearest.
#include "trace/literals.h"

#include <cstring>
#include <limits>
#include <vector>

#include "calque/ir/rounding.h"

#include "trace/builder.h"

namespace calque::detail {
namespace {

template <class T>
bool holds(const WeakLiteral& w) {
  if (w.is_unsigned) return static_cast<uint64_t>(w.integer) <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  if constexpr (std::is_unsigned_v<T>) {
    return w.integer >= 0 && static_cast<uint64_t>(w.integer) <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  } else {
    return w.integer >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           w.integer <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }
}

std::string text(const WeakLiteral& w) {
  return w.is_unsigned ? std::to_string(static_cast<uint64_t>(w.integer)) : std::to_string(w.integer);
}

/// The real part as a float of T, rounded once.
template <class T>
T rounded(const WeakLiteral& w) {
  if (!w.is_integer()) return round_once<T>(w.real);
  return w.is_unsigned ? round_once<T>(static_cast<uint64_t>(w.integer)) : round_once<T>(w.integer);
}

}  // namespace

Literal weak_literal(const WeakLiteral& w, DType dtype, Location at, std::string_view operation) {
  return visit_dtype(dtype, [&]<class T>() -> Literal {
    if constexpr (std::same_as<T, bool>) {
      return Literal::of<bool>(w.is_integer() ? w.integer != 0 : w.real != 0 || w.imaginary != 0);
    } else if constexpr (std::integral<T>) {
      if (!w.is_integer()) {
        throw DTypeError(std::string(operation) + ": a floating-point literal cannot be of " +
                         std::string(name(dtype)) + where_text(user_location(at)));
      }
      if (!holds<T>(w)) {
        throw DTypeError(std::string(operation) + ": the literal " + text(w) + " does not fit " +
                         std::string(name(dtype)) + "; cast the array, or write the literal as an Array" +
                         where_text(user_location(at)));
      }
      return Literal::of<T>(static_cast<T>(w.integer));
    } else if constexpr (is_complex(dtype_of<T>)) {
      using R = typename T::value_type;
      return Literal::of<T>(T(rounded<R>(w), static_cast<R>(w.imaginary)));
    } else {
      return Literal::of<T>(rounded<T>(w));
    }
  });
}

Literal number(DType dtype, double value) {
  if (dtype == DType::c64) return Literal::of(std::complex<float>(static_cast<float>(value), 0));
  if (dtype == DType::c128) return Literal::of(std::complex<double>(value, 0));
  if (dtype == DType::bool_) return Literal::of(value != 0);
  return make_literal(dtype, value);
}

Literal literal_of(Handle handle) {
  Literal l;
  std::memcpy(l.bytes, &handle.value, sizeof handle.value);
  std::memcpy(l.bytes + sizeof handle.value, &handle.high, sizeof handle.high);
  return l;
}

const Type& literal_type(Handle handle) {
  static const std::vector<Type> scalars = [] {
    std::vector<Type> types;
    for (int i = 0; i < kDTypeCount; ++i) types.push_back({static_cast<DType>(i), {}});
    return types;
  }();
  return scalars[static_cast<uint32_t>(handle.trace)];
}

Handle literal_handle(const Operand& number, DType dtype, Location location) {
  const bool weak = number.kind() == Operand::Kind::weak;
  const Literal element = weak ? weak_literal(number.weak(), dtype, location) : number.scalar();
  const DType own = weak ? dtype : number.scalar_dtype();
  Handle h = Handle::zero(own);
  std::memcpy(&h.value, element.bytes, sizeof h.value);
  std::memcpy(&h.high, element.bytes + sizeof h.value, sizeof h.high);
  return literal_of(h) == element ? h : literal(element, {own, {}}, location);
}

Literal literal_of(const AnyArray& array) {
  Literal l;
  std::memcpy(l.bytes, array.data(), size_of(array.dtype()));
  return l;
}

}  // namespace calque::detail
