#pragma once
// The words that identify a call: each leaf and each static value of the arguments contributes some. One visitor of
// argument trees writes them (Arguments), another compares them with those of the previous call (WarmCall).
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>

#include "calque/detail/trees/fields.h"
#include "calque/ir/dtype.h"
#include "calque/tree.h"

namespace calque::detail {

/// The part of a visitor of argument trees (see walk_tree) that encodes static values. `Visitor` has `word(uint64_t)`
/// and `bytes(const void*, size_t)`.
template <class Visitor>
class SignatureWords {
 public:
  template <class V>
  void value(const V& v) {
    if constexpr (std::is_floating_point_v<V> && sizeof(V) <= 8) {
      uint64_t bits = 0;
      std::memcpy(&bits, &v, sizeof(V));
      visitor().word(bits);
    } else if constexpr (std::is_integral_v<V>) {
      visitor().word(static_cast<uint64_t>(v));
    } else if constexpr (std::is_enum_v<V>) {
      visitor().word(static_cast<uint64_t>(static_cast<std::underlying_type_t<V>>(v)));
    } else if constexpr (std::same_as<V, std::string>) {
      visitor().bytes(v.data(), v.size());
    } else if constexpr (std::is_floating_point_v<V> || Elem<V>) {
      visitor().bytes(&v, sizeof(V) > 10 && std::is_floating_point_v<V> ? 10 : sizeof(V));  // x87 pads its ten bytes
    } else if constexpr (is_optional<V>) {
      value(v.has_value());
      if (v) value(*v);
    } else if constexpr (is_map<V>) {
      value(v.size());
      for (const auto& [key, part] : v) {
        value(key);
        value(part);
      }
    } else if constexpr (container_part<V>::value) {
      value(v.size());
      for (const typename V::value_type& part : v) value(part);
    } else if constexpr (is_product<V>) {
      std::apply([this](const auto&... part) { (this->value(part), ...); }, v);
    } else {
      std::apply([this](const auto&... part) { (this->value(part), ...); }, tie_fields(v));
    }
  }
  void enter_index(size_t) {}
  template <class K>
  void enter_key(const K&) {}
  template <class X, size_t I>
  void enter_field() {}
  void leave() {}

 protected:
  /// The first word of a leaf.
  static constexpr uint64_t head(DType dtype, int rank, bool dense_rows) {
    return uint64_t(dtype) | uint64_t(static_cast<uint8_t>(rank)) << 8 | uint64_t(dense_rows) << 16;
  }
  /// The bits of the first word of an array that say on which device it is.
  static constexpr uint64_t head_of_device(Device device) {
    return uint64_t(device.kind) << 32 | uint64_t(device.index) << 40;
  }

 private:
  Visitor& visitor() { return static_cast<Visitor&>(*this); }
};

}  // namespace calque::detail
