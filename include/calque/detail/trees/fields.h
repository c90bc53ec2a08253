#pragma once
// The members of an aggregate: their number, references to them, and their names. An aggregate must have no base
// classes or C arrays and at most 32 members; any other is rejected with a message before a structured binding fails.
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace calque::detail {

inline constexpr size_t kMaxFields = 32;

/// Converts to any type of a member of X, except X itself and its bases. Only volatile objects convert: no `const T&`
/// binds to them, so converting constructors of a member (such as std::optional's, with an unconstrained constructor of
/// Eigen) are not considered. Never called; defined because clang warns when such constructors use an undefined
/// function.
template <class X>
struct AnyField {
  template <class T>
    requires(!std::is_base_of_v<T, X>)
  operator T&() const volatile&& noexcept {
    __builtin_unreachable();
  }
};

template <class X, size_t>
using AnyFieldAt = AnyField<X>;

template <class X, size_t... I>
constexpr bool takes_braced(std::index_sequence<I...>) {
  return requires { X{std::declval<volatile AnyFieldAt<X, I>>()...}; };
}
/// Parenthesized initialization has no brace elision: a C array or a base class counts as one member that AnyField
/// cannot initialize.
template <class X, size_t... I>
constexpr bool takes_parenthesized(std::index_sequence<I...>) {
  return requires { X(std::declval<volatile AnyFieldAt<X, I>>()...); };
}

template <class X, size_t N = 1, bool Started = false>
constexpr size_t count_fields() {
  if constexpr (takes_braced<X>(std::make_index_sequence<N>{})) {
    if constexpr (N > kMaxFields) {
      return N;
    } else {
      return count_fields<X, N + 1, true>();
    }
  } else if constexpr (Started || N > kMaxFields) {
    return Started ? N - 1 : 0;
  } else {
    return count_fields<X, N + 1, false>();  // members without default values: all must be initialized
  }
}

/// The number of members of the aggregate X. A static_assert explains why an unsupported X is rejected.
template <class X>
constexpr size_t field_count() {
  if constexpr (std::is_empty_v<X>) {
    return 0;
  } else {
    constexpr size_t count = count_fields<X>();
    static_assert(count <= kMaxFields, "calque: an aggregate may have at most 32 members");
    static_assert(
        count < 2 || takes_parenthesized<X>(std::make_index_sequence<count>{}),
        "calque: an aggregate with base classes or C arrays cannot be an argument or a result; use members and "
        "std::array");
    return count < 2 || takes_parenthesized<X>(std::make_index_sequence<count>{}) ? count : 0;
  }
}

#define CALQUE_F1 f1
#define CALQUE_F2 CALQUE_F1, f2
#define CALQUE_F3 CALQUE_F2, f3
#define CALQUE_F4 CALQUE_F3, f4
#define CALQUE_F5 CALQUE_F4, f5
#define CALQUE_F6 CALQUE_F5, f6
#define CALQUE_F7 CALQUE_F6, f7
#define CALQUE_F8 CALQUE_F7, f8
#define CALQUE_F9 CALQUE_F8, f9
#define CALQUE_F10 CALQUE_F9, f10
#define CALQUE_F11 CALQUE_F10, f11
#define CALQUE_F12 CALQUE_F11, f12
#define CALQUE_F13 CALQUE_F12, f13
#define CALQUE_F14 CALQUE_F13, f14
#define CALQUE_F15 CALQUE_F14, f15
#define CALQUE_F16 CALQUE_F15, f16
#define CALQUE_F17 CALQUE_F16, f17
#define CALQUE_F18 CALQUE_F17, f18
#define CALQUE_F19 CALQUE_F18, f19
#define CALQUE_F20 CALQUE_F19, f20
#define CALQUE_F21 CALQUE_F20, f21
#define CALQUE_F22 CALQUE_F21, f22
#define CALQUE_F23 CALQUE_F22, f23
#define CALQUE_F24 CALQUE_F23, f24
#define CALQUE_F25 CALQUE_F24, f25
#define CALQUE_F26 CALQUE_F25, f26
#define CALQUE_F27 CALQUE_F26, f27
#define CALQUE_F28 CALQUE_F27, f28
#define CALQUE_F29 CALQUE_F28, f29
#define CALQUE_F30 CALQUE_F29, f30
#define CALQUE_F31 CALQUE_F30, f31
#define CALQUE_F32 CALQUE_F31, f32
#define CALQUE_TIE(n)              \
  else if constexpr (count == n) { \
    auto& [CALQUE_F##n] = x;       \
    return std::tie(CALQUE_F##n);  \
  }

/// References to the members, in order.
template <class X>
constexpr auto tie_fields(X& x) {
  constexpr size_t count = field_count<std::remove_cv_t<X>>();
  if constexpr (count == 0 || count > kMaxFields) {
    (void)x;
    return std::tuple<>{};
  }
  // clang-format off
  CALQUE_TIE(1) CALQUE_TIE(2) CALQUE_TIE(3) CALQUE_TIE(4) CALQUE_TIE(5) CALQUE_TIE(6) CALQUE_TIE(7) CALQUE_TIE(8)
  CALQUE_TIE(9) CALQUE_TIE(10) CALQUE_TIE(11) CALQUE_TIE(12) CALQUE_TIE(13) CALQUE_TIE(14) CALQUE_TIE(15) CALQUE_TIE(16)
  CALQUE_TIE(17) CALQUE_TIE(18) CALQUE_TIE(19) CALQUE_TIE(20) CALQUE_TIE(21) CALQUE_TIE(22) CALQUE_TIE(23) CALQUE_TIE(24)
  CALQUE_TIE(25) CALQUE_TIE(26) CALQUE_TIE(27) CALQUE_TIE(28) CALQUE_TIE(29) CALQUE_TIE(30) CALQUE_TIE(31) CALQUE_TIE(32)
  // clang-format on
}
#undef CALQUE_TIE
#undef CALQUE_F1
#undef CALQUE_F2
#undef CALQUE_F3
#undef CALQUE_F4
#undef CALQUE_F5
#undef CALQUE_F6
#undef CALQUE_F7
#undef CALQUE_F8
#undef CALQUE_F9
#undef CALQUE_F10
#undef CALQUE_F11
#undef CALQUE_F12
#undef CALQUE_F13
#undef CALQUE_F14
#undef CALQUE_F15
#undef CALQUE_F16
#undef CALQUE_F17
#undef CALQUE_F18
#undef CALQUE_F19
#undef CALQUE_F20
#undef CALQUE_F21
#undef CALQUE_F22
#undef CALQUE_F23
#undef CALQUE_F24
#undef CALQUE_F25
#undef CALQUE_F26
#undef CALQUE_F27
#undef CALQUE_F28
#undef CALQUE_F29
#undef CALQUE_F30
#undef CALQUE_F31
#undef CALQUE_F32

/// A tuple of references to the members of X.
template <class X>
using fields_t = decltype(tie_fields(std::declval<X&>()));
/// The type of member I.
template <class X, size_t I>
using field_t = std::remove_cvref_t<std::tuple_element_t<I, fields_t<X>>>;

// ---- names: from the compiler's spelling of the address of a member of an object that is declared, never defined
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class X>
struct Unmade {
  X value;
};
template <class X>
extern Unmade<X> unmade;
template <class T>
struct FieldAddress {
  T* address;
};
template <auto Address>
constexpr std::string_view spell() {
  return __PRETTY_FUNCTION__;
}

/// The name of member I of X, as spelled in its declaration.
template <class X, size_t I>
constexpr std::string_view field_name() {
  std::string_view text = spell<FieldAddress{&std::get<I>(tie_fields(unmade<X>.value))}>();
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (const size_t other = text.find("; "); other != text.npos) text = text.substr(0, other);  // g++ adds aliases
  const size_t last = text.find_last_of(letters);
  text = text.substr(0, last + 1);
  return text.substr(text.find_last_not_of(letters) + 1);
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

}  // namespace calque::detail
