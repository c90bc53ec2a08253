#pragma once
// jit: a lambda becomes a function that is traced and compiled once for each signature (element types, shapes, layouts,
// device, static values, options), then only runs.
#include <iosfwd>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/call.h"
#include "calque/ir/graph.h"

namespace calque {

/// A listing: plan, LLVM IR, assembly. Prints as it is.
class Text {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.text_; }

 private:
  std::string text_;
};

/// What `export_object` writes for.
struct ExportOptions {
  std::string triple{}, cpu{}, header{}, symbol{};
};

namespace detail {
/// Writes the object file and, when named, the header. Throws CompileError, or CacheError when a file cannot be
/// written.
void export_lowered(const LoweredState& lowered, const std::string& path, const ExportOptions& options);
}  // namespace detail

/// What calling F with these arguments gives.
template <class F, class... A>
using call_t = result_t<(holds_tracer<A> || ...), detail::out_of<F, A...>>;

/// A function compiled for one signature.
template <class F, class... A>
class Compiled {
 public:
  explicit Compiled(std::shared_ptr<const detail::LoweredState> state) : state_(std::move(state)) {}
  /// Throws ShapeError or DTypeError when the arguments have another signature than it was compiled for.
  template <class... B>
  to_array_t<detail::out_of<F, A...>> operator()(const B&... arguments) const {
    static_assert(std::same_as<std::tuple<to_tracer_t<A>...>, std::tuple<to_tracer_t<B>...>>,
                  "calque: the arguments differ in type from those that the function was compiled for");
    static_assert(!(holds_tracer<B> || ...), "calque: a compiled function cannot be called with tracers");
    detail::Arguments flat(detail::tree_tag<B...>, arguments...);
    const detail::CallContext<F, B...> context{nullptr, std::tie(arguments...)};
    detail::CallResult result;
    detail::call_lowered(detail::held(state_, "compiled"), flat, context.site_of_paths(), result);
    return detail::arrays_of<detail::out_of<F, A...>>(result);
  }

 private:
  std::shared_ptr<const detail::LoweredState> state_;
};

/// A traced function on its way to native code: each stage can be shown.
template <class F, class... A>
class Lowered {
 public:
  explicit Lowered(std::shared_ptr<const detail::LoweredState> state) : state_(std::move(state)) {}
  Graph graph() const { return detail::lowered_graph(state()); }
  Text plan() const { return Text(detail::lowered_plan(state())); }
  Text llvm_ir() const { return Text(detail::lowered_llvm_ir(state())); }
  Text assembly() const { return Text(detail::lowered_assembly(state())); }
  Text ptx() const { return Text(detail::lowered_ptx(state())); }
  Compiled<F, A...> compile() const {
    detail::compile_lowered(state());
    return Compiled<F, A...>(state_);
  }
  /// Writes an object file that needs no Calque at run time, and a header when one is named.
  void export_object(const std::string& path, ExportOptions options = {}) const {
    detail::export_lowered(state(), path, options);
  }

 private:
  const detail::LoweredState& state() const { return detail::held(state_, "lowered"); }
  std::shared_ptr<const detail::LoweredState> state_;
};

/// A function on trees: called with data it traces (once for each signature), compiles and runs; called with a Tracer
/// among its arguments it becomes part of the running trace. Copies share what is compiled. Thread-safe.
template <class F>
class Callable {
 public:
  Callable(F function, JitOptions options, Location location)
      : function_(std::move(function)),
        state_(detail::make_function_state(std::move(options), shared_key(function_), location)) {}

  /// Exceptions of the lambda propagate. Throws DeviceError when arguments are on different devices, CompileError when
  /// the graph cannot be compiled.
  template <class... A>
  call_t<F, A...> operator()(const A&... arguments) const {
    (detail::check_tree<A>(), ...);
    using R = detail::out_of<F, A...>;
    detail::check_tree<R>();
    const detail::FunctionState& state = detail::held(state_, "jit");
    if constexpr ((holds_tracer<A> || ...)) {
      return detail::inlined(function_, arguments...);
    } else {
      detail::Arguments flat(detail::tree_tag<A...>, arguments...);
      const detail::CallContext<F, A...> context{&function_, std::tie(arguments...)};
      detail::CallResult result;
      detail::call_function(state, flat, context.site(), result);
      return detail::arrays_of<R>(result);
    }
  }

  const F& function() const { return function_; }
  const std::shared_ptr<const detail::FunctionState>& state() const {
    detail::held(state_, "jit");
    return state_;
  }

 private:
  /// What decides whether two callables compute the same: the type of a captureless lambda, or of a transformation of
  /// one (which says that it `shares_compiled_forms()`), the value of a pointer.
  static const void* shared_key(const F& function) {
    if constexpr (std::is_empty_v<F>) {
      return &detail::type_tag<F>;
    } else if constexpr (std::is_pointer_v<F>) {
      return reinterpret_cast<const void*>(function);
    } else if constexpr (requires { function.shares_compiled_forms(); }) {
      return function.shares_compiled_forms() ? &detail::type_tag<F> : nullptr;
    } else {
      return nullptr;
    }
  }

  F function_;
  std::shared_ptr<const detail::FunctionState> state_;
};

/// What `jit` returns: a Callable that can be looked into. Arguments of `trace`, `lower` and `explain` may be
/// `cq::spec<T>(shape)` instead of data.
template <class F>
class Jitted : public Callable<F> {
 public:
  using Callable<F>::Callable;
  using Callable<F>::operator();

  /// The graph of these arguments.
  template <class... A>
  Graph trace(const A&... arguments) const {
    return with_site([&](auto& flat, const auto& site) { return detail::trace_function(*this->state(), flat, site); },
                     arguments...);
  }
  template <class... A>
  Lowered<F, A...> lower(const A&... arguments) const {
    return Lowered<F, A...>(with_site(
        [&](auto& flat, const auto& site) { return detail::lower_function(this->state(), flat, site); }, arguments...));
  }
  /// What was fused and what was not and why, bytes and operations of each kernel, and the cache's answer, as text.
  template <class... A>
  std::string explain(const A&... arguments) const {
    return with_site([&](auto& flat, const auto& site) { return detail::explain_function(*this->state(), flat, site); },
                     arguments...);
  }
  CacheInfo cache_info() const { return detail::cache_info_of(*this->state()); }
  void clear_cache() const { detail::clear_cache_of(*this->state()); }

 private:
  template <class Do, class... A>
  auto with_site(const Do& action, const A&... arguments) const {
    (detail::check_tree<A>(), ...);
    static_assert(!(holds_tracer<A> || ...), "calque: trace, lower and explain take data or cq::spec, not tracers");
    detail::check_tree<detail::out_of<F, A...>>();
    detail::Arguments flat(detail::tree_tag<A...>, arguments...);
    const detail::CallContext<F, A...> context{&this->function(), std::tie(arguments...)};
    return action(flat, context.site());
  }
};

/// Wraps a lambda. It is called as const with a Tracer for every array, scalar and matrix of its arguments; it must
/// depend on nothing but these and what it captures, which is fixed when it is traced.
template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Graph>)
[[nodiscard("it returns a function: call it, as in jit(f)(x)")]]
auto jit(F&& function, JitOptions options = {}, Loc loc = Loc::current()) {
  return Jitted<std::decay_t<F>>(std::forward<F>(function), std::move(options), loc);
}

/// A graph as a function of its inputs, in order. Trees are flattened.
class GraphFunction {
 public:
  GraphFunction(Graph graph, JitOptions options, Location location);
  /// Throws ShapeError when the number or the shapes of the leaves, DTypeError when their types are not those of the
  /// graph's inputs.
  template <class... A>
  std::vector<AnyArray> operator()(const A&... arguments) const {
    static_assert(!(holds_tracer<A> || ...), "calque: a Graph is called with data, not with tracers");
    (detail::check_tree<std::conditional_t<std::same_as<A, AnyArray>, int, A>>(), ...);
    detail::Arguments flat(nullptr);
    (add(flat, arguments), ...);
    return run(flat);
  }
  /// The same with arguments whose number is known at run time.
  std::vector<AnyArray> call(std::span<const AnyArray* const> arguments) const {
    detail::Arguments flat(nullptr);
    for (const AnyArray* argument : arguments) flat.add_any(*argument);
    return run(flat);
  }
  const Graph& graph() const;
  CacheInfo cache_info() const;
  void clear_cache() const;

 private:
  template <class A>
  static void add(detail::Arguments& flat, const A& argument) {
    if constexpr (std::same_as<A, AnyArray>) {
      flat.add_any(argument);
    } else {
      flat.add(argument);
    }
  }
  std::vector<AnyArray> run(detail::Arguments& arguments) const;
  struct State;
  std::shared_ptr<const State> state_;
};
[[nodiscard("it returns a function: call it, as in jit(f)(x)")]]
inline GraphFunction jit(Graph graph, JitOptions options = {}, Loc loc = Loc::current()) {
  return GraphFunction(std::move(graph), std::move(options), loc);
}

}  // namespace calque
