#pragma once
// Between the trees that control-flow lambdas see and the flat lists of leaves that the type-erased core works on.
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/control.h"
#include "calque/detail/tree_walk.h"
#include "calque/detail/typed_operand.h"

namespace calque::detail {

/// Throws LeakedTracerError that names `jit` when no trace runs.
void require_trace(std::string_view operation, Location location);
/// Throws ShapeError: static parts of two trees that have to be equal (sizes of vectors, keys, values) differ.
void require_same_structure(std::string_view operation, std::string_view what, const std::string& expected,
                            const std::string& got, Location location);

/// The static parts of a tree as bytes: equal trees of one type give equal bytes.
class StructureWriter {
 public:
  template <class To, class X>
  void leaf(const X&) {
    bytes_ += '.';
  }
  template <class V>
  void value(const V& v) {
    if constexpr (std::same_as<V, std::string>) {
      bytes_ += std::to_string(v.size()) + ':' + v;
    } else if constexpr (std::is_same_v<V, long double>) {
      bytes_.append(reinterpret_cast<const char*>(&v), 10);  // the rest is padding
    } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V> || Elem<V>) {
      bytes_.append(reinterpret_cast<const char*>(&v), sizeof(V));
    } else {
      walk_tree<V>(v, *this);
    }
  }
  void enter_index(size_t) {}
  template <class K>
  void enter_key(const K&) {}
  template <class X, size_t I>
  void enter_field() {}
  void leave() {}
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};
template <class X>
std::string structure_of(const X& tracers) {
  StructureWriter writer;
  walk_tree<X>(tracers, writer);
  return writer.take();
}

/// The result of a lambda in a body: its handles go to the core, its tree waits for what the core returns.
template <class R>
class ResultTree {
 public:
  ResultTree(std::string_view operation, Location location) : operation_(operation), location_(location) {}

  /// Keeps the structure; a later result must have the same, `what` says which of them differ.
  void put(R result, std::string_view what, std::vector<Handle>& outputs) {
    append_handles(result, outputs);
    std::string structure = structure_of(result);
    if (tree_) require_same_structure(operation_, what, structure_, structure, location_);
    structure_ = std::move(structure);
    tree_.reset();
    tree_.emplace(std::move(result));
  }
  bool has_value() const { return tree_.has_value(); }
  const std::string& structure() const { return structure_; }
  /// The tree with other tracers; `handles` advances.
  R rebuild(std::span<const Handle>& handles) const {
    auto leaf = [&]<class To>(const auto&) {
      const Handle handle = handles.front();
      handles = handles.subspan(1);
      return To(handle);
    };
    return map_leaves<R>(*tree_, leaf);
  }
  R rebuild(const std::vector<Handle>& handles) const {
    std::span<const Handle> rest(handles);
    return rebuild(rest);
  }

 private:
  std::string_view operation_;
  Location location_;
  std::optional<R> tree_;
  std::string structure_;
};

/// The handles of the arguments of a control-flow function: tracers of the innermost trace, in order.
template <class... X>
std::vector<Handle> operand_handles(Location location, const X&... x) {
  std::vector<Handle> handles;
  (append_handles(traced(x, location), handles), ...);
  return handles;
}

/// Calls the lambda with `first...`, then the trees of `originals` with other handles in place of their leaves. The
/// result is a tree of tracers.
template <class F, class... X, class... First>
auto call_with_handles(const F& f, const std::tuple<const X&...>& originals, std::span<const Handle> handles,
                       First... first) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    std::tuple<to_tracer_t<X>...> seen{rebuild_handles(std::get<I>(originals), handles)...};  // left to right
    return traced(call_traced(f, std::move(first)..., std::move(std::get<I>(seen))...));
  }(std::index_sequence_for<X...>{});
}

/// What a lambda gives for these arguments, as a tree of tracers.
template <class F, class... X>
using body_t = to_tracer_t<out_of<F, X...>>;

template <class R>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class A, class B>
struct loop_index {
  using type = join_t<A, B>;
};
template <class A, class B>
  requires(!ArrayLike<A> && !ArrayLike<B>)
struct loop_index<A, B> {
  using type = int32_t;
};

}  // namespace calque::detail
