#pragma once
// How a call of a wrapped function reaches the runtime: arguments are flattened to leaves and a flat signature, and the
// function state looks up the compiled form of that signature. All of this lives on the calling thread's stack: a warm
// call takes no lock and allocates nothing but its outputs.
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calque/branches.h"
#include "calque/detail/arguments.h"
#include "calque/detail/control/control_trees.h"
#include "calque/detail/loaded_module.h"
#include "calque/detail/nested_call.h"
#include "calque/detail/signature_parts.h"
#include "calque/detail/trees/results.h"
#include "calque/tier.h"

namespace calque {

/// How a function is compiled and called.
struct JitOptions {
  /// The name in messages, graphs and kernels.
  std::string name{};
  /// The device to run on; absent: the device of the arguments.
  std::optional<Device> device{};
  /// Positions of arguments whose buffers the call may reuse. Using an array that was given there again is an error;
  /// copies of it keep their elements.
  std::vector<int> donate{};
  /// Reassociation, reciprocals and approximate functions; no promises about NaN and infinities. Flushes subnormal
  /// numbers too.
  bool fast_math = false;
  /// Bit-identical to the reference evaluator, except for reassociated reductions and contractions.
  bool strict = false;
  /// On a GPU: results do not depend on the order of threads.
  bool deterministic = false;
  /// Branches of C++ on tracers. Of nested functions that of the outermost one counts.
  calque::branches branches = calque::branches::refuse;
  /// Loops of C++ that tracers end, with `branches::trace`.
  calque::loops loops = calque::loops::proved;
  /// Of `branches::trace`.
  TraceLimits limits{};
  /// Subnormal operands and results of arithmetic are flushed to zero (on a GPU: those of f32). The calling thread's
  /// floating-point mode is set for the duration of the call only; host_call runs under the caller's.
  bool flush_subnormals = false;
  /// How much is optimized before the first call runs.
  calque::tier tier = calque::tier::automatic;
};

/// The numbers of calls without and with tracing, and of cached signatures.
struct CacheInfo {
  uint64_t hits = 0, misses = 0;
  size_t entries = 0;
  /// Cached signatures whose calls run quickly made code until optimized code is ready (calque::tier::automatic).
  size_t awaiting_optimization = 0;
};

namespace detail {

/// A result's tree of tracers, which holds its structure and static values, and the function that destroys it.
struct TracedTree {
  using Destroy = void (*)(const void* tree);
  const void* tree = nullptr;
  Destroy destroy = nullptr;
  /// Its static parts, where the lambda follows the data (`branches::trace`).
  std::vector<StaticPart> parts{};
};

/// The callbacks of the calling template: run the lambda, name the leaves. Valid during the call.
struct CallSite {
  const void* context = nullptr;
  /// Runs the lambda on the inputs of a new trace, fills in the outputs and returns the result's tree.
  TracedTree (*trace)(const void* context, std::span<const Handle> inputs, std::vector<Handle>& outputs) = nullptr;
  /// The parts of the signature of the arguments.
  std::vector<SignaturePart> (*parts)(const void* context) = nullptr;
};

/// A list of AnyArrays with inline storage for a few.
class OutputArrays {
 public:
  OutputArrays() = default;
  OutputArrays(const OutputArrays&) = delete;
  OutputArrays& operator=(const OutputArrays&) = delete;
  ~OutputArrays() { clear(); }
  void clear() {
    for (size_t i = 0; i < size_; ++i) data_[i].~AnyArray();
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = inline_data();
    size_ = 0;
  }
  void reserve(size_t count) {
    if (count <= kInline) return;
    data_ = static_cast<AnyArray*>(::operator new(count * sizeof(AnyArray)));
  }
  /// After reserve.
  template <class... A>
  AnyArray& emplace_back(A&&... a) {
    return *new (data_ + size_++) AnyArray(std::forward<A>(a)...);
  }
  size_t size() const { return size_; }
  AnyArray& operator[](size_t i) { return data_[i]; }

 private:
  static constexpr size_t kInline = 3;
  AnyArray* inline_data() { return reinterpret_cast<AnyArray*>(inline_); }
  alignas(AnyArray) std::byte inline_[kInline * sizeof(AnyArray)];
  AnyArray* data_ = inline_data();
  size_t size_ = 0;
};

/// The result of a call: the output leaves and the tree that they belong to, which it keeps alive.
class CallResult {
 public:
  CallResult() = default;
  CallResult(const CallResult&) = delete;
  CallResult& operator=(const CallResult&) = delete;
  ~CallResult() {
    if (pin_) unpin();
  }
  OutputArrays outputs;
  const void* structure = nullptr;

  // ---- for the runtime
  void set_pin(void* pin) { pin_ = pin; }
  void unpin();
  std::shared_ptr<const void> keep;

 private:
  void* pin_ = nullptr;
};

class FunctionState;
class LoweredState;

/// The state of one wrapped function: options and the table of its compiled forms. Callables with equal non-null `key`
/// compute the same and share a table while the module that contains this address is loaded (a tag of a captureless
/// lambda's type, the value of a function pointer); with null the table is not shared.
std::shared_ptr<const FunctionState> make_function_state(JitOptions options, const void* key, Location location);

/// The call of a wrapped function with tracers, during which it becomes part of the running trace.
class InlinedCall {
 public:
  /// Throws CompileError for calls that are nested deeper than the stack allows.
  explicit InlinedCall(const FunctionState& function);

 private:
  NestedCall call_;
};

/// Runs the function on data.
void call_function(const FunctionState& function, Arguments& arguments, const CallSite& site, CallResult& result);
/// Traces the function and keeps the graph for inspection or compilation.
std::shared_ptr<const LoweredState> lower_function(const std::shared_ptr<const FunctionState>& function,
                                                   Arguments& arguments, const CallSite& site);
Graph trace_function(const FunctionState& function, Arguments& arguments, const CallSite& site);
std::string explain_function(const FunctionState& function, Arguments& arguments, const CallSite& site);
BranchInfo branch_info_of(const FunctionState& function, Arguments& arguments);
CacheInfo cache_info_of(const FunctionState& function);
void clear_cache_of(const FunctionState& function);

// ---- a lowered function
const FunctionState& function_of(const LoweredState& lowered);
const Graph& lowered_graph(const LoweredState& lowered);
std::string lowered_plan(const LoweredState& lowered);
std::string lowered_llvm_ir(const LoweredState& lowered);
std::string lowered_assembly(const LoweredState& lowered);
std::string lowered_ptx(const LoweredState& lowered);
/// Compiles now.
void compile_lowered(const LoweredState& lowered);
/// Runs the compiled form. Throws ShapeError or DTypeError when the arguments have another signature; only the site's
/// `parts` is called.
void call_lowered(const LoweredState& lowered, Arguments& arguments, const CallSite& site, CallResult& result);

/// Throws the error for the use of a moved-from function object.
[[noreturn]] void throw_moved_from(const char* what);
/// The state of a function object. Throws if the object was moved from.
template <class T>
const T& held(const std::shared_ptr<T>& state, const char* what) {
  if (state == nullptr) [[unlikely]]
    throw_moved_from(what);
  return *state;
}

template <class T>
inline constexpr char type_tag = 0;

/// The context behind CallSite for a lambda and its arguments.
template <class F, class... A>
struct CallContext {
  using Result = out_of<F, A...>;
  const F* function;
  std::tuple<const A&...> arguments;
  mutable PathStructure structure{};

  static TracedTree trace(const void* context, std::span<const Handle> inputs, std::vector<Handle>& outputs) {
    const auto& self = *static_cast<const CallContext*>(context);
    using Inputs = std::tuple<to_tracer_t<A>...>;
    Inputs seen = [&]<size_t... I>(std::index_sequence<I...>) {
      return Inputs{rebuild_inputs(std::get<I>(self.arguments), inputs)...};  // braces: left to right
    }(std::index_sequence_for<A...>{});
    auto result =
        traced(std::apply([&](auto&... part) { return call_traced(*self.function, std::move(part)...); }, seen));
    append_outputs<to_array_t<Result>>(result, outputs);
    std::vector<StaticPart> parts = self.structure.check(result);
    using Tree = decltype(result);
    return {new Tree(std::move(result)), [](const void* tree) { delete static_cast<const Tree*>(tree); },
            std::move(parts)};
  }
  static std::vector<SignaturePart> parts(const void* context) {
    const auto& self = *static_cast<const CallContext*>(context);
    Arguments flat(nullptr);
    std::vector<SignaturePart> all;
    const auto add = [&]<class X>(const X& argument, size_t i) {
      SignaturePartCollector collector("argument " + std::to_string(i), flat, all);
      walk_tree<to_tracer_t<X>>(argument, collector);
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (add(std::get<I>(self.arguments), I), ...);
    }(std::index_sequence_for<A...>{});
    return all;
  }
  CallSite site() const { return {this, &CallContext::trace, &CallContext::parts}; }
  /// The site of a call of a function that is compiled already.
  CallSite site_of_parts() const { return {this, nullptr, &CallContext::parts}; }
};

/// The result of a call as a tree of arrays.
template <class R>
to_array_t<R> arrays_of(CallResult& result) {
  FromOutputs<OutputArrays> leaf{result.outputs};
  return map_leaves<to_array_t<R>>(*static_cast<const to_tracer_t<R>*>(result.structure), leaf);
}

/// A unique address for argument trees of these types.
template <class... A>
inline constexpr const char* tree_tag = &type_tag<std::tuple<to_tracer_t<A>...>>;

}  // namespace detail
}  // namespace calque
