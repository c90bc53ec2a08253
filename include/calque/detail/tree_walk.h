#pragma once
// Trees at run time: one function rebuilds a tree with other leaves, one visits leaves and static values. Their order
// is that of signatures, graph inputs and outputs.
#include <span>
#include <string>
#include <vector>

#include "calque/array.h"
#include "calque/detail/trace.h"
#include "calque/tracer.h"
#include "calque/tree.h"

namespace calque::detail {

/// The tree `x` mapped to the type To: `leaf.template operator()<T>(part)` returns each leaf of type T, in order;
/// static values are copied. A tracer may be mapped to a whole tree.
template <class To, class X, class F>
To map_leaves(const X& x, F& leaf) {
  if constexpr (is_leaf<X, To> || TracerLike<X>) {
    return leaf.template operator()<To>(x);
  } else if constexpr (is_static_wrapper<X>::value) {
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
  if constexpr (is_leaf<X, To>) {
    visitor.template leaf<To>(x);
  } else if constexpr (is_static_wrapper<X>::value) {
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

// ---- trees of tracers

/// Any leaf as a Tracer of the innermost trace: arrays, scalars and matrices of numbers become its constants.
template <class To, class X>
To trace_leaf(const X& x, Location location) {
  if constexpr (TracerLike<X>) {
    return x;
  } else if constexpr (ArrayLike<X>) {
    return To(constant(x.any(), location));
  } else if constexpr (ScalarLeaf<X>) {
    using T = elem_t<To>;
    return To(literal(calque::Literal::of<T>(static_cast<T>(x)), Type{dtype_of<T>, Shape{}}, location));
  } else if constexpr (dense<X>::value) {
    if constexpr (dense<X>::of_tracers) {
      return dense<X>::pack(x);
    } else {
      return To(constant(dense<X>::copy(x), location));
    }
  } else {
    static_assert(is_spec<X>::value && sizeof(X) == 0, "calque: spec<T>(shape) serves trace and lower only");
  }
}

/// The tree with every leaf a Tracer of the innermost trace.
template <class X>
to_tracer_t<X> traced(const X& x, Location location = {}) {
  check_tree<X>();
  if constexpr (std::same_as<X, to_tracer_t<X>> && TracerLike<X>) {
    return x;
  } else {
    auto leaf = [&]<class To>(const auto& part) { return trace_leaf<To>(part, location); };
    return map_leaves<to_tracer_t<X>>(x, leaf);
  }
}

/// Collects the handles of the visited tracers.
struct HandleCollector {
  std::vector<Handle>& handles;
  template <class To>
  void leaf(const To& tracer) {
    handles.push_back(tracer.handle());
  }
  template <class V>
  void value(const V&) {}
  void enter_index(size_t) {}
  template <class K>
  void enter_key(const K&) {}
  template <class V, size_t I>
  void enter_field() {}
  void leave() {}
};

/// The handles of a tree of tracers, in order.
template <class X>
void append_handles(const X& x, std::vector<Handle>& handles) {
  HandleCollector collector{handles};
  walk_tree<X>(x, collector);
}
template <class X>
std::vector<Handle> flatten_handles(const X& x) {
  std::vector<Handle> handles;
  append_handles(x, handles);
  return handles;
}

/// A tree of tracers with the structure and static values of `x` and the given handles; `handles` advances.
template <class X>
to_tracer_t<X> rebuild_handles(const X& x, std::span<const Handle>& handles) {
  auto leaf = [&]<class To>(const auto&) {
    const Handle handle = handles.front();
    handles = handles.subspan(1);
    return To(handle);
  };
  return map_leaves<to_tracer_t<X>>(x, leaf);
}
template <class X>
to_tracer_t<X> rebuild_from(const X& x, const std::vector<Handle>& handles) {
  std::span<const Handle> rest(handles);
  return rebuild_handles(x, rest);
}

/// Calls the lambda as const, with prvalues. Checks its result at compile time.
template <class F, class... A>
auto call_traced(const F& f, A&&... arguments) {
  static_assert(std::invocable<const F&, A...>,
                "calque: the function cannot be called with tracers of these arguments");
  using R = std::invoke_result_t<const F&, A...>;
  static_assert(!std::is_void_v<R>, "calque: the function returns nothing; return the values it computes");
  constexpr bool evaluated = !holds_borrowed<std::remove_cvref_t<R>>();
  static_assert(evaluated,
                "calque: the function returns an Eigen expression that refers to objects which are gone when it is "
                "read; write .eval()");
  constexpr bool owned = !holds_span<std::remove_cvref_t<R>>();
  static_assert(owned,
                "calque: the function returns a std::span, whose elements may be gone when they are read; return a "
                "std::vector");
  return std::invoke(f, std::forward<A>(arguments)...);
}
/// The lambda's result type for arguments of these types, before its leaves become tracers.
template <class F, class... A>
using out_of = std::remove_cvref_t<decltype(call_traced(std::declval<const F&>(), std::declval<to_tracer_t<A>>()...))>;

/// Runs the lambda inside the running trace; the result is a tree of tracers.
template <class F, class... A>
auto inlined(const F& f, const A&... arguments) {
  return traced(call_traced(f, traced(arguments)...));
}

}  // namespace calque::detail
