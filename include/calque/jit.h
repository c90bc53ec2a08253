#pragma once
// jit: a lambda becomes a function that is traced and compiled once for each signature (element types, shapes, layouts,
// device, static values, options); later calls of that signature only run it.
#include <iosfwd>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/call.h"
#include "calque/detail/warm_call.h"
#include "calque/ir/graph.h"

namespace calque {

/// A text listing: plan, LLVM IR, assembly. Prints verbatim.
class Text {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  /// The listing as text.
  const std::string& str() const { return text_; }
  /// Prints the listing verbatim.
  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.text_; }

 private:
  std::string text_;
};

/// Options of `export_object`: the target `triple` and `cpu` (empty: the host's), the file of the `header` (empty:
/// none) and the `symbol` of the entry (empty: the function's name).
struct ExportOptions {
  std::string triple{}, cpu{}, header{}, symbol{};
};

namespace detail {
/// Writes the object file and, when named, the header. Throws CompileError, or CacheError when a file cannot be
/// written.
void export_lowered(const LoweredState& lowered, const std::string& path, const ExportOptions& options);
}  // namespace detail

namespace detail {
/// The base of functions that can be called with tracers.
struct OfCalque {};
}  // namespace detail

/// The result type of calling F with these arguments.
template <class F, class... A>
using call_t = result_t<(holds_tracer<A> || ...), detail::out_of<F, A...>>;

/// A function compiled for one signature.
template <class F, class... A>
class Compiled {
 public:
  explicit Compiled(std::shared_ptr<const detail::LoweredState> state) : state_(std::move(state)) {}
  /// Runs the function. Throws ShapeError or DTypeError when the arguments have another signature than the function was
  /// compiled for.
  template <class... B>
  to_array_t<detail::out_of<F, A...>> operator()(const B&... arguments) const {
    static_assert(std::same_as<std::tuple<to_tracer_t<A>...>, std::tuple<to_tracer_t<B>...>>,
                  "calque: the arguments differ in type from those that the function was compiled for");
    static_assert(!(holds_tracer<B> || ...), "calque: a compiled function cannot be called with tracers");
    const detail::LoweredState& state = detail::held(state_, "compiled");
    detail::CallResult result;
    detail::WarmCall warm(state, detail::tree_tag<B...>);
    if (warm.matches(arguments...)) [[likely]] {
      warm.run(detail::function_of(state), result);
    } else {
      call(state, result, arguments...);
    }
    return detail::arrays_of<detail::out_of<F, A...>>(result);
  }

 private:
  template <class... B>
  [[gnu::noinline]] static void call(const detail::LoweredState& state, detail::CallResult& result,
                                     const B&... arguments) {
    detail::Arguments flat(detail::tree_tag<B...>, arguments...);
    const detail::CallContext<F, B...> context{nullptr, std::tie(arguments...)};
    detail::call_lowered(state, flat, context.site_of_parts(), result);
  }

  std::shared_ptr<const detail::LoweredState> state_;
};

/// A traced function for one signature, whose stages on the way to native code can be shown.
template <class F, class... A>
class Lowered {
 public:
  explicit Lowered(std::shared_ptr<const detail::LoweredState> state) : state_(std::move(state)) {}
  /// The traced graph.
  [[nodiscard]] Graph graph() const { return detail::lowered_graph(state()); }
  /// The fusion plan. It and the later stages throw CompileError when the graph cannot be compiled.
  [[nodiscard]] Text plan() const { return Text(detail::lowered_plan(state())); }
  /// The optimized LLVM IR.
  [[nodiscard]] Text llvm_ir() const { return Text(detail::lowered_llvm_ir(state())); }
  /// The assembly; the PTX for a function on a GPU.
  [[nodiscard]] Text assembly() const { return Text(detail::lowered_assembly(state())); }
  /// The PTX of the kernels, compiled for a GPU. Throws CompileError when the graph cannot be compiled.
  [[nodiscard]] Text ptx() const { return Text(detail::lowered_ptx(state())); }
  /// Compiles the function for this signature. Throws CompileError when the graph cannot be compiled.
  Compiled<F, A...> compile() const {
    detail::compile_lowered(state());
    return Compiled<F, A...>(state_);
  }
  /// Writes an object file that does not need Calque at run time, and a header if one is named. Throws CompileError
  /// when the function cannot be exported, CacheError when a file cannot be written.
  void export_object(const std::string& path, ExportOptions options = {}) const {
    detail::export_lowered(state(), path, options);
  }

 private:
  const detail::LoweredState& state() const { return detail::held(state_, "lowered"); }
  std::shared_ptr<const detail::LoweredState> state_;
};

/// A function on trees. Called with data, it is traced and compiled once for each signature, and run; called with a
/// Tracer among its arguments, it becomes part of the running trace. Copies share the compiled code. Thread-safe.
template <class F>
class Callable : public detail::OfCalque {
 public:
  Callable(F function, JitOptions options, Location location)
      : function_(std::move(function)),
        state_(detail::make_function_state(std::move(options), shared_key(function_), location)) {}

  /// Runs the function. Exceptions of the lambda propagate. Throws DeviceError when arguments are on different devices,
  /// CompileError when the graph cannot be compiled or the function calls itself without end, ShapeError for an empty
  /// array.
  template <class... A>
  call_t<F, A...> operator()(const A&... arguments) const {
    using R = detail::out_of<F, A...>;
    const detail::FunctionState& state = detail::held(state_, "jit");
    if constexpr (!(detail::check_tree<A>() && ...) || !detail::check_tree<R>()) {
      return call_t<F, A...>();  // an assertion has failed
    } else if constexpr ((holds_tracer<A> || ...)) {
      const detail::InlinedCall call(state);
      return detail::inlined(function_, arguments...);
    } else {
      detail::WarmCall warm(state, detail::tree_tag<A...>);
      const bool matches = warm.matches(arguments...);
      if constexpr (ArrayLike<to_array_t<R>>) {
        if (matches) [[likely]]
          return to_array_t<R>(warm.run_for_one(state));
      }
      detail::CallResult result;
      if (matches) [[likely]] {
        warm.run(state, result);
      } else {
        warm.release();
        call(state, result, arguments...);
      }
      return detail::arrays_of<R>(result);
    }
  }

  /// The wrapped function.
  const F& function() const { return function_; }
  /// The compiled signatures, which copies share. Throws Error for a moved-from function.
  const std::shared_ptr<const detail::FunctionState>& state() const {
    detail::held(state_, "jit");
    return state_;
  }

 private:
  /// The key of callables that compute the same: the type of a captureless lambda or of a transformation of one (whose
  /// `shares_compiled_forms()` is true), or the value of a function pointer; null for others.
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

  template <class... A>
  [[gnu::noinline]] void call(const detail::FunctionState& state, detail::CallResult& result,
                              const A&... arguments) const {
    detail::Arguments flat(detail::tree_tag<A...>, arguments...);
    const detail::CallContext<F, A...> context{&function_, std::tie(arguments...)};
    detail::call_function(state, flat, context.site(), result);
  }

  F function_;
  std::shared_ptr<const detail::FunctionState> state_;
};

/// The result of `jit`: a Callable that can be inspected. Arguments of `trace`, `lower` and `explain` may be
/// `cq::spec<T>(shape)` instead of data.
template <class F>
class Jitted : public Callable<F> {
 public:
  using Callable<F>::Callable;
  using Callable<F>::operator();

  /// The graph for these arguments. Exceptions of the lambda propagate.
  template <class... A>
  [[nodiscard]] Graph trace(const A&... arguments) const {
    return with_site([&](auto& flat, const auto& site) { return detail::trace_function(*this->state(), flat, site); },
                     arguments...);
  }
  /// The traced function for these arguments, whose stages can be shown and which can be compiled and exported.
  /// Exceptions of the lambda propagate.
  template <class... A>
  [[nodiscard]] Lowered<F, A...> lower(const A&... arguments) const {
    return Lowered<F, A...>(with_site(
        [&](auto& flat, const auto& site) { return detail::lower_function(this->state(), flat, site); }, arguments...));
  }
  /// A report for these arguments: what was fused, what was not and why, bytes and operations of each kernel, and
  /// whether the cache has the compiled code.
  template <class... A>
  [[nodiscard]] std::string explain(const A&... arguments) const {
    return with_site([&](auto& flat, const auto& site) { return detail::explain_function(*this->state(), flat, site); },
                     arguments...);
  }
  /// The paths through the function that calls with arguments of these types have taken (`branches::trace`): all zero
  /// before the first call, and for a function that asks nothing of its tracers.
  template <class... A>
  [[nodiscard]] BranchInfo branch_info(const A&... arguments) const {
    return with_site([&](auto& flat, const auto&) { return detail::branch_info_of(*this->state(), flat); },
                     arguments...);
  }
  /// Hits, misses and entries of the function's cache.
  [[nodiscard]] CacheInfo cache_info() const { return detail::cache_info_of(*this->state()); }
  /// Drops all compiled signatures of the function.
  void clear_cache() const { detail::clear_cache_of(*this->state()); }

 private:
  template <class Do, class... A>
  auto with_site(const Do& action, const A&... arguments) const {
    (detail::check_tree<A>(), ...);
    static_assert(!(holds_tracer<A> || ...),
                  "calque: trace, lower, explain and branch_info take data or cq::spec, not tracers");
    detail::check_tree<detail::out_of<F, A...>>();
    detail::Arguments flat(detail::tree_tag<A...>, arguments...);
    const detail::CallContext<F, A...> context{&this->function(), std::tie(arguments...)};
    return action(flat, context.site());
  }
};

/// Wraps a lambda as a function that is compiled for each signature. The lambda is called as const with a Tracer for
/// every array, scalar and matrix of its arguments; it must depend only on these and its captures, whose values are
/// fixed when it is traced.
template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Graph>)
[[nodiscard("it returns a function: call it, as in jit(f)(x)")]]
auto jit(F&& function, JitOptions options = {}, Loc loc = Loc::current()) {
  return Jitted<std::decay_t<F>>(std::forward<F>(function), std::move(options), loc);
}

/// A graph as a function of its inputs, in order. Arguments that are trees are flattened.
class GraphFunction : public detail::OfCalque {
 public:
  GraphFunction(Graph graph, JitOptions options, Location location);
  /// The graph's outputs. Throws ShapeError when the number or the shapes of the leaves differ from those of the
  /// graph's inputs, DTypeError when their element types do.
  template <class... A>
  std::vector<std::conditional_t<(holds_tracer<A> || ...), AnyTracer, AnyArray>> operator()(
      const A&... arguments) const {
    if constexpr ((holds_tracer<A> || ...)) {
      return graph()(arguments...);
    } else {
      (detail::check_tree<std::conditional_t<std::same_as<A, AnyArray>, int, A>>(), ...);
      detail::Arguments flat(nullptr);
      (add(flat, arguments), ...);
      return run(flat);
    }
  }
  /// The same for a number of arguments known at run time.
  std::vector<AnyArray> call(std::span<const AnyArray* const> arguments) const {
    detail::Arguments flat(nullptr);
    for (const AnyArray* argument : arguments) flat.add_any(*argument);
    return run(flat);
  }
  /// The wrapped graph.
  const Graph& graph() const;
  /// Hits, misses and entries of the function's cache.
  [[nodiscard]] CacheInfo cache_info() const;
  /// Drops the compiled code.
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
/// Wraps a graph as a function of its inputs.
[[nodiscard("it returns a function: call it, as in jit(f)(x)")]]
inline GraphFunction jit(Graph graph, JitOptions options = {}, Loc loc = Loc::current()) {
  return GraphFunction(std::move(graph), std::move(options), loc);
}

namespace detail {
/// Records a graph with these values as its inputs. Throws ShapeError or DTypeError when they do not fit.
std::vector<Handle> inline_graph(const Graph& graph, std::span<const Handle> inputs);
}  // namespace detail

template <class... A>
auto Graph::operator()(const A&... arguments) const {
  if constexpr ((holds_tracer<A> || ...)) {
    std::vector<detail::Handle> inputs;
    (detail::append_handles(detail::traced(arguments), inputs), ...);
    std::vector<AnyTracer> outputs;
    for (const detail::Handle output : detail::inline_graph(*this, inputs)) outputs.emplace_back(output);
    return outputs;
  } else {
    return jit(*this)(arguments...);
  }
}

}  // namespace calque
