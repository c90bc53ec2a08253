#pragma once
// Trees at run time: one function rebuilds a tree with other leaves, one visits leaves and static values. Their order
// is that of signatures, graph inputs and outputs.
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/tree.h"

namespace calque::detail {

/// True for visitors at the boundary of a call, to which a vector of numbers that is a vector of tracers inside is one
/// leaf; to others each of its elements is one.
template <class V>
inline constexpr bool packs = requires { requires V::kPacks; };

/// The tree `x` mapped to the type To: `leaf.template operator()<T>(part)` returns each leaf of type T, in order;
/// static values are copied. A tracer may be mapped to a whole tree.
template <class To, class X, class F>
To map_leaves(const X& x, F& leaf) {
  if constexpr (is_leaf<X, To> || TracerLike<X> || (is_packed<X, To> && packs<F>)) {
    return leaf.template operator()<To>(x);
  } else if constexpr (is_static_wrapper<X>) {
    return x.value;
  } else if constexpr (is_static<X, To>) {
    return x;
  } else if constexpr (is_optional<X>) {
    return x ? To(map_leaves<typename To::value_type>(*x, leaf)) : To(std::nullopt);
  } else if constexpr (is_vector<X>) {
    To to;
    to.reserve(x.size());
    for (const typename X::value_type& part : x) to.push_back(map_leaves<typename To::value_type>(part, leaf));
    return to;
  } else if constexpr (is_map<X>) {
    To to;
    for (const auto& [key, part] : x) {
      to.emplace_hint(to.end(), key, map_leaves<typename To::mapped_type>(part, leaf));
    }
    return to;
  } else if constexpr (is_std_array<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{{map_leaves<typename To::value_type>(x[I], leaf)...}};  // braces: left to right
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else if constexpr (is_product<X>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{map_leaves<std::tuple_element_t<I, To>>(std::get<I>(x), leaf)...};
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else {
    const auto fields = tie_fields(x);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return To{map_leaves<field_t<To, I>>(std::get<I>(fields), leaf)...};
    }(std::make_index_sequence<std::tuple_size_v<decltype(fields)>>{});
  }
}

/// Visits the number of parts of a container: `visitor.size(n)` if the visitor has it, else `visitor.value(n)`.
template <class V>
void walk_size(size_t n, V& visitor) {
  if constexpr (requires { visitor.size(n); }) {
    visitor.size(n);
  } else {
    visitor.value(n);
  }
}

template <class To, class X, class V>
void walk_tree(const X& x, V& visitor);

/// Visits the parts of `x`, a container, product or struct with target type To, as walk_tree does.
template <class To, class X, class V>
void walk_parts(const X& x, V& visitor) {
  if constexpr (is_optional<X>) {
    visitor.value(x.has_value());
    if (x) walk_tree<typename To::value_type>(*x, visitor);
  } else if constexpr (is_vector<X>) {
    walk_size(x.size(), visitor);
    size_t i = 0;
    for (const typename X::value_type& part : x) {
      visitor.enter_index(i++);
      walk_tree<typename To::value_type>(part, visitor);
      visitor.leave();
    }
  } else if constexpr (is_map<X>) {
    walk_size(x.size(), visitor);
    for (const auto& [key, part] : x) {
      visitor.value(key);
      visitor.enter_key(key);
      walk_tree<typename To::mapped_type>(part, visitor);
      visitor.leave();
    }
  } else if constexpr (is_std_array<X>) {
    for (size_t i = 0; i < x.size(); ++i) {
      visitor.enter_index(i);
      walk_tree<typename To::value_type>(x[i], visitor);
      visitor.leave();
    }
  } else if constexpr (is_product<X>) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((visitor.enter_index(I), walk_tree<std::tuple_element_t<I, To>>(std::get<I>(x), visitor), visitor.leave()), ...);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else {
    const auto fields = tie_fields(x);
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((visitor.template enter_field<X, I>(), walk_tree<field_t<To, I>>(std::get<I>(fields), visitor), visitor.leave()),
       ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(fields)>>{});
  }
}

/// Visits the leaves and static values of `x`, with target type To: `visitor.template leaf<T>(part)` for leaves,
/// `visitor.value(v)` for static values, sizes, keys and presence; before a part `visitor.enter_index(i)`,
/// `enter_key(k)` or `template enter_field<X, I>()`, after it `leave()`.
template <class To, class X, class V>
void walk_tree(const X& x, V& visitor) {
  if constexpr (is_leaf<X, To> || (is_packed<X, To> && packs<V>)) {
    visitor.template leaf<To>(x);
  } else if constexpr (is_static_wrapper<X>) {
    visitor.value(x.value);
  } else if constexpr (is_static<X, To>) {
    visitor.value(x);
  } else {
    walk_parts<To>(x, visitor);
  }
}

// ---- paths, for messages

/// The path of the part that a visitor is at: `[0].w["key"]`.
class TreePath {
 public:
  explicit TreePath(std::string prefix) : path_(std::move(prefix)) {}
  void enter_index(size_t i) { enter("[" + std::to_string(i) + "]"); }
  void enter_key(const std::string& key) { enter("[\"" + key + "\"]"); }
  template <class K>
  void enter_key(const K& key) {
    if constexpr (std::is_arithmetic_v<K>) {
      enter("[" + std::to_string(key) + "]");
    } else {
      enter("[...]");
    }
  }
  template <class X, size_t I>
  void enter_field() {
    enter("." + std::string(field_name<X, I>()));
  }
  void leave() {
    path_.resize(starts_.back());
    starts_.pop_back();
  }
  const std::string& path() const { return path_; }

 private:
  void enter(const std::string& part) {
    starts_.push_back(path_.size());
    path_ += part;
  }
  std::string path_;
  std::vector<size_t> starts_;
};

/// Collects the path of every leaf.
class PathCollector : public TreePath {
 public:
  PathCollector(std::string prefix, std::vector<std::string>& paths) : TreePath(std::move(prefix)), paths_(paths) {}
  template <class To, class X>
  void leaf(const X&) {
    paths_.push_back(path());
  }
  template <class X>
  void value(const X&) {}

 private:
  std::vector<std::string>& paths_;
};

/// The path of every leaf of `x`, starting with `prefix`.
template <class X>
std::vector<std::string> leaf_paths(const X& x, std::string prefix = {}) {
  std::vector<std::string> paths;
  PathCollector collector(std::move(prefix), paths);
  walk_tree<to_tracer_t<X>>(x, collector);
  return paths;
}

}  // namespace calque::detail
