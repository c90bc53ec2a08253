#pragma once
// Conversion between the trees of control-flow lambdas and the flat lists of leaves of the type-erased core.
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/control/control.h"
#include "calque/detail/trees/traced.h"
#include "calque/detail/typed_operand.h"

namespace calque::detail {

/// Throws LeakedTracerError that names `jit` when no trace is running.
void require_trace(std::string_view operation, Location location);
/// A static part of a tree: the size of a container, a key, or a value that is not a leaf.
struct StaticPart {
  std::string path;
  std::string bytes;  ///< equal for equal values of one type
  std::string text;   ///< for messages
  friend bool operator==(const StaticPart& a, const StaticPart& b) { return a.path == b.path && a.bytes == b.bytes; }
};

/// Throws ShapeError that names the first static part in which two trees of one type differ, if any.
void require_same_structure(std::string_view operation, std::string_view what, const std::vector<StaticPart>& expected,
                            const std::vector<StaticPart>& got, Location location);

/// Collects the static parts of a tree: equal trees of one type have equal ones.
class StructureWriter : public PathCollector {
 public:
  StructureWriter() : PathCollector({}, unused_) {}
  template <class To, class X>
  void leaf(const X&) {}
  void size(size_t n) { put(std::to_string(n), (n == 1 ? "1 element" : std::to_string(n) + " elements")); }
  template <class V>
  void value(const V& v) {
    const auto raw = [&](size_t bytes) { return std::string(reinterpret_cast<const char*>(&v), bytes); };
    if constexpr (std::same_as<V, std::string>) {
      put(v, '"' + v + '"');
    } else if constexpr (std::same_as<V, bool>) {
      put(raw(1), v ? "true" : "false");
    } else if constexpr (std::is_same_v<V, long double>) {
      put(raw(10), std::to_string(v));  // the rest is padding
    } else if constexpr (std::is_arithmetic_v<V>) {
      put(raw(sizeof(V)), std::to_string(v));
    } else if constexpr (std::is_enum_v<V>) {
      put(raw(sizeof(V)), std::to_string(static_cast<long long>(v)));
    } else if constexpr (Elem<V>) {
      put(raw(sizeof(V)), "a value");
    } else {
      walk_parts<V>(v, *this);  // a compound static value
    }
  }
  std::vector<StaticPart> take() { return std::move(parts_); }

 private:
  void put(std::string bytes, std::string text) { parts_.push_back({path(), std::move(bytes), std::move(text)}); }
  std::vector<std::string> unused_;
  std::vector<StaticPart> parts_;
};
template <class X>
std::vector<StaticPart> structure_of(const X& tracers) {
  StructureWriter writer;
  walk_tree<X>(tracers, writer);
  return writer.take();
}

/// The static parts of a lambda's result. Where the lambda is traced once for each path through it, all of them have to
/// return the same.
class PathStructure {
 public:
  /// The static parts where the lambda follows the data, else none. Throws ShapeError when the result of an earlier
  /// path had another structure and all paths are traced.
  template <class X>
  std::vector<StaticPart> check(const X& result) {
    if constexpr (!Leaf<X>) {
      if (followed_branches() == branches::refuse) return {};
      std::vector<StaticPart> structure = structure_of(result);
      if (followed_branches() == branches::trace) return structure;
      if (known_) require_same_structure("jit", "the results of two paths", structure_, structure, {});
      structure_ = std::move(structure);
      known_ = true;
    }
    return {};
  }

 private:
  std::vector<StaticPart> structure_;
  bool known_ = false;
};

/// The result of a lambda in a body: its handles go to the core; its tree is kept to be rebuilt from the core's
/// results.
template <class R>
class ResultTree {
 public:
  ResultTree(std::string_view operation, Location location) : operation_(operation), location_(location) {}

  /// Keeps the result's structure. Throws ShapeError that names `what` when a later result has another structure.
  void put(R result, std::string_view what, std::vector<Handle>& outputs) {
    append_handles(result, outputs);
    std::vector<StaticPart> structure = structure_of(result);
    if (tree_) require_same_structure(operation_, what, structure_, structure, location_);
    structure_ = std::move(structure);
    tree_ = std::make_unique<const R>(std::move(result));
  }
  bool has_value() const { return tree_ != nullptr; }
  /// The tree with other tracers; `handles` advances.
  R rebuild(std::span<const Handle>& handles) const { return rebuild_as<R>(*tree_, handles); }
  R rebuild(const std::vector<Handle>& handles) const {
    std::span<const Handle> rest(handles);
    return rebuild(rest);
  }

 private:
  std::string_view operation_;
  Location location_;
  /// Not a std::optional: g++ 12 warns that one with a map inside may be read uninitialized.
  std::unique_ptr<const R> tree_;
  std::vector<StaticPart> structure_;
};

/// The handles of the arguments of a control-flow function: tracers of the innermost trace, in order.
template <class... X>
std::vector<Handle> operand_handles(Location location, const X&... x) {
  std::vector<Handle> handles;
  (append_handles(traced(x, location), handles), ...);
  return handles;
}

/// Calls the lambda with `first...`, then trees of the types Seen like `originals` with `handles` as their leaves.
template <class... Seen, class F, class... X, class... First>
auto call_seeing(const F& f, const std::tuple<const X&...>& originals, std::span<const Handle> handles,
                 First... first) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    std::tuple<Seen...> seen{rebuild_as<Seen>(std::get<I>(originals), handles)...};  // left to right
    return call_traced(f, std::move(first)..., std::move(std::get<I>(seen))...);
  }(std::index_sequence_for<X...>{});
}
/// The same with trees of tracers; so is the result.
template <class F, class... X, class... First>
auto call_with_handles(const F& f, const std::tuple<const X&...>& originals, std::span<const Handle> handles,
                       First... first) {
  return traced(call_seeing<to_tracer_t<X>...>(f, originals, handles, std::move(first)...));
}
/// The same for bodies of control flow, which see carries and return one.
template <class F, class... X, class... First>
auto call_with_carries(const F& f, const std::tuple<const X&...>& originals, std::span<const Handle> handles,
                       First... first) {
  return carried(call_seeing<to_carry_t<X>...>(f, originals, handles, std::move(first)...));
}

/// The result type of a lambda for these arguments, as a tree of tracers.
template <class F, class... X>
using body_t = to_tracer_t<out_of<F, X...>>;

/// The result type of a body that receives Seen, as a carry.
template <class F, class... Seen>
using carry_from_t = to_carry_t<decltype(call_traced(std::declval<const F&>(), std::declval<Seen>()...))>;
template <class F, class... X>
constexpr auto carry_type() {
  if constexpr ((check_tree<X>() && ...)) {
    return std::type_identity<carry_from_t<F, to_carry_t<X>...>>{};
  } else {
    return std::type_identity<Array<float>>{};
  }
}
/// The result type of a body for these operands, as a carry.
template <class F, class... X>
using carry_body_t = typename decltype(carry_type<F, X...>())::type;

/// Checks that a tree can be cut along its first axis, or stacked along a new one: its leaves become arrays.
template <class X>
constexpr bool check_rows() {
  constexpr bool rows = !fixed_shapes<X>();
  static_assert(rows,
                "calque: a struct with Eigen members has no first axis to go along; go along its members in a "
                "std::tuple, or along an array that cq::ravel makes of each struct");
  return rows;
}

/// The type of `scan`'s body: it sees slices of the arrays that xs holds.
template <class F, class S, class X>
constexpr auto scan_type() {
  if constexpr (check_tree<S>() && check_tree<X>() && check_rows<X>()) {
    return std::type_identity<carry_from_t<F, to_carry_t<S>, to_tracer_t<X>>>{};
  } else {
    return std::type_identity<std::pair<to_carry_t<S>, Tracer<float>>>{};
  }
}
template <class F, class S, class X>
using scan_body_t = typename decltype(scan_type<F, S, X>())::type;

template <class R>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class A, class B>
struct loop_index {
  using type = promoted_elem_t<A, B>;
};
template <class A, class B>
  requires(!ArrayLike<A> && !ArrayLike<B>)
struct loop_index<A, B> {
  using type = int32_t;
};

}  // namespace calque::detail
