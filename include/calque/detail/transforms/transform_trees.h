#pragma once
// Conversion between the trees of a transformed function and the flat lists of the core. Callable calls a transformed
// function on trees of tracers only, so an argument without tracers is a static value.
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/detail/control/control_trees.h"
#include "calque/detail/transforms/transform.h"
#include "calque/jit.h"

namespace calque::detail {

/// An argument as the wrapped function receives it: a tree of tracers, or a static value in its wrapper.
template <class A>
using seen_t = std::conditional_t<holds_tracer<A>, A, Static<A>>;
template <class A>
decltype(auto) seen(const A& argument) {
  if constexpr (holds_tracer<A>) {
    return (argument);
  } else {
    return Static<A>{argument};
  }
}

/// The argument with other handles; `handles` advances. Static values are copied.
template <class A>
A rebuild_seen(const A& argument, std::span<const Handle>& handles) {
  if constexpr (holds_tracer<A>) {
    return rebuild_handles(argument, handles);
  } else {
    return argument;
  }
}

/// Callables whose behaviour is determined by their type share compiled forms: true for captureless lambdas and for
/// transformations of them.
template <class F>
bool shareable(const F& function) {
  if constexpr (std::is_empty_v<F>) {
    return true;
  } else if constexpr (requires { function.shares_compiled_forms(); }) {
    return function.shares_compiled_forms();
  } else if constexpr (requires { shareable(function.function()); }) {
    return shareable(function.function());
  } else {
    return false;
  }
}

/// Walks trees of tracers and collects what the core needs: handles, paths, structure.
class ArgumentWalk : public PathCollector {
 public:
  ArgumentWalk(std::string prefix, std::vector<Handle>& handles, std::vector<std::string>& paths)
      : PathCollector(std::move(prefix), paths), handles_(handles) {
    root_.path = path();
    open_.push_back(&root_);
  }
  template <class To, class X>
  void leaf(const X& x) {
    PathCollector::leaf<To>(x);
    handles_.push_back(leaf_handle(x));
    open_.back()->leaf = true;
    for (TreeShape* part : open_) ++part->leaves;
  }
  void enter_index(size_t i) {
    enter([&] { PathCollector::enter_index(i); });
  }
  template <class K>
  void enter_key(const K& key) {
    enter([&] { PathCollector::enter_key(key); });
  }
  template <class X, size_t I>
  void enter_field() {
    enter([&] { PathCollector::enter_field<X, I>(); });
  }
  void leave() {
    PathCollector::leave();
    open_.pop_back();
  }
  TreeShape take() { return std::move(root_); }

 private:
  template <class Enter>
  void enter(const Enter& enter_path) {
    enter_path();
    open_.push_back(&open_.back()->parts.emplace_back());
    open_.back()->path = path();
  }
  std::vector<Handle>& handles_;
  TreeShape root_;
  std::vector<TreeShape*> open_;
};

/// The flattened arguments of a transformed function.
struct FlatArguments {
  std::vector<Handle> handles;
  std::vector<std::string> paths;
  std::vector<size_t> ends;  ///< one past the last leaf of each argument
  std::vector<TreeShape> shapes;

  template <class... X>
  explicit FlatArguments(const X&... arguments) {
    (add(arguments), ...);
  }
  template <class X>
  void add(const X& argument) {
    ArgumentWalk walk("argument " + std::to_string(ends.size()), handles, paths);
    walk_tree<to_tracer_t<X>>(argument, walk);
    ends.push_back(handles.size());
    shapes.push_back(walk.take());
  }
  /// The numbers of the leaves of these arguments.
  std::vector<uint32_t> leaves_of(std::initializer_list<int> arguments) const {
    std::vector<uint32_t> leaves;
    for (int a : arguments) {
      const size_t i = static_cast<size_t>(a);
      for (size_t leaf = i == 0 ? 0 : ends[i - 1]; leaf < ends[i]; ++leaf)
        leaves.push_back(static_cast<uint32_t>(leaf));
    }
    return leaves;
  }
};

template <class R>
TreeShape shape_of(const R& tree, std::string prefix) {
  std::vector<Handle> handles;
  std::vector<std::string> paths;
  ArgumentWalk walk(std::move(prefix), handles, paths);
  walk_tree<to_tracer_t<R>>(tree, walk);
  return walk.take();
}

/// The result of a traced function: a tree with the structure and static values of the core's results.
template <class R>
class TracedResult {
 public:
  void put(R result, std::vector<Handle>& outputs) {
    append_handles(result, outputs);
    structure_.check(result);
    tree_ = std::make_unique<const R>(std::move(result));
  }
  const R& tree() const { return *tree_; }
  /// The tree with other tracers; `handles` advances.
  R rebuild(std::span<const Handle>& handles) const { return rebuild_handles(*tree_, handles); }
  R rebuild(const std::vector<Handle>& handles) const { return rebuild_from(*tree_, handles); }

 private:
  std::unique_ptr<const R> tree_;
  PathStructure structure_;
};

/// A function of these arguments as a trace body: called with handles as the arguments' leaves.
template <class R, class F, class... X>
class FunctionBody {
 public:
  FunctionBody(const F& function, TracedResult<R>& result, const X&... arguments)
      : function_(function), result_(result), arguments_(arguments...) {}
  void operator()(std::span<const Handle> inputs, std::vector<Handle>& outputs) const {
    result_.put(call_with_handles(function_, arguments_, inputs), outputs);
  }

 private:
  const F& function_;
  TracedResult<R>& result_;
  std::tuple<const X&...> arguments_;
};

/// Base of the transformations: the function F and the line of the call that made the transformation.
template <class F>
struct Transformed {
  F function;
  Location location;

  /// For Callable: see `shareable`.
  bool shares_compiled_forms() const { return shareable(function); }
};

/// Throws ShapeError when two trees of one type differ in their static parts.
template <class A, class B>
void require_like(std::string_view name, std::string_view what, const A& expected, const B& got, Location location) {
  require_same_structure(name, what, structure_of(expected), structure_of(got), location);
}

}  // namespace calque::detail
