#pragma once
// The parts of a signature with their paths, for messages: which words belong to which leaf or static value.
#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/arguments.h"

namespace calque::detail {

/// One leaf or static value of the arguments: the words from `first` to the next part's.
struct SignaturePart {
  enum class Kind : uint8_t { leaf, size, boolean, signed_integer, unsigned_integer, f32, f64, text, other };
  std::string path;
  Kind kind = Kind::leaf;
  size_t first = 0;
};

/// Visits the arguments of a call in the order of the signature's words.
class SignaturePartCollector : public TreePath {
 public:
  SignaturePartCollector(std::string prefix, Arguments& flat, std::vector<SignaturePart>& parts)
      : TreePath(std::move(prefix)), flat_(flat), parts_(parts) {}
  static constexpr bool kPacks = true;
  template <class To, class X>
  void leaf(const X& x) {
    add(SignaturePart::Kind::leaf);
    flat_.template leaf<To>(x);
  }
  void size(size_t n) {
    add(SignaturePart::Kind::size);
    flat_.value(n);
  }
  /// The parts of a static value, in the order of SignatureWords::value.
  template <class V>
  void value(const V& v) {
    if constexpr (Elem<V> || std::is_arithmetic_v<V> || std::is_enum_v<V> || std::same_as<V, std::string>) {
      add(kind_of<V>());
      flat_.value(v);
    } else if constexpr (is_optional<V>) {
      value(v.has_value());
      if (v) value(*v);
    } else if constexpr (is_map<V>) {
      size(v.size());
      for (const auto& [key, part] : v) {
        value(key);
        enter_key(key);
        value(part);
        leave();
      }
    } else if constexpr (container_part<V>::value) {
      size(v.size());
      size_t i = 0;
      for (const typename V::value_type& part : v) element(i++, part);
    } else if constexpr (is_product<V>) {
      std::apply([&, i = size_t{0}](const auto&... part) mutable { (element(i++, part), ...); }, v);
    } else {
      const auto fields = tie_fields(v);
      [&]<size_t... I>(std::index_sequence<I...>) {
        ((this->template enter_field<V, I>(), value(std::get<I>(fields)), leave()), ...);
      }(std::make_index_sequence<std::tuple_size_v<decltype(fields)>>{});
    }
  }

 private:
  template <class V>
  void element(size_t i, const V& v) {
    enter_index(i);
    value(v);
    leave();
  }
  template <class V>
  static constexpr SignaturePart::Kind kind_of() {
    using Kind = SignaturePart::Kind;
    if constexpr (std::same_as<V, bool>) {
      return Kind::boolean;
    } else if constexpr (std::same_as<V, float>) {
      return Kind::f32;
    } else if constexpr (std::same_as<V, double>) {
      return Kind::f64;
    } else if constexpr (std::is_unsigned_v<V>) {
      return Kind::unsigned_integer;
    } else if constexpr (std::is_integral_v<V> || std::is_enum_v<V>) {
      return Kind::signed_integer;
    } else if constexpr (std::same_as<V, std::string>) {
      return Kind::text;
    } else {
      return Kind::other;  // encoded as its bytes
    }
  }
  void add(SignaturePart::Kind kind) { parts_.push_back({path(), kind, flat_.words().size()}); }

  Arguments& flat_;
  std::vector<SignaturePart>& parts_;
};

}  // namespace calque::detail
