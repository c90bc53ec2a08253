#pragma once
// compile<R(A...)>: a lambda of C++ scalars as a typed function, traced and compiled once, then called like a function
// pointer, without flattening, signature lookup or allocation.
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calque/jit.h"

namespace calque {

template <class Signature>
class Function;

namespace detail {

/// The state passed to a compiled scalar function with its arguments. Native code reads `data`; see
/// codegen::ScalarData.
struct ScalarState {
  const void* const* data = nullptr;
  /// Reads the arguments, writes the result; rethrows exceptions of callbacks.
  void (*call)(const ScalarState& self, const void* const* arguments, void* result) = nullptr;
};

/// The code of a scalar function.
struct ScalarCode {
  std::shared_ptr<const ScalarState> state;
  /// A function of the arguments by value followed by `state`; null if the function must be called through
  /// `ScalarState::call`.
  const void* native = nullptr;
};
ScalarCode compile_scalar(const std::shared_ptr<const FunctionState>& function, Arguments& arguments,
                          const CallSite& site, const Type& result);
/// Calls through `ScalarState::call`. Throws Error for an empty function, whose state is null.
void call_scalar(const void* state, const void* const* arguments, void* result);

template <class Signature>
struct ScalarSignature {
  static constexpr bool value = false;
};
template <class R, class... A>
struct ScalarSignature<R(A...)> {
  static constexpr bool value = ScalarLeaf<R> && (ScalarLeaf<A> && ...);
  template <class F>
  static constexpr bool returns = std::same_as<to_array_t<out_of<F, A...>>, Array<canon_t<R>>>;
};

}  // namespace detail

// Generated code has no function signature that clang's sanitizer could read.
#ifdef __clang__
#define CALQUE_CALLS_NATIVE_CODE [[clang::no_sanitize("function")]]
#else
#define CALQUE_CALLS_NATIVE_CODE
#endif

/// A compiled function of C++ scalars, called like a C function, with arguments and result in registers. Copies share
/// the code. Calling an empty or moved-from one throws Error. Thread-safe.
template <class R, class... A>
class Function<R(A...)> {
 public:
  Function() = default;
  explicit Function(detail::ScalarCode code) : state_(std::move(code.state)) {
    if (code.native != nullptr) entry_ = reinterpret_cast<Entry>(const_cast<void*>(code.native));
  }
  Function(const Function&) = default;
  Function(Function&& o) noexcept : state_(std::move(o.state_)), entry_(std::exchange(o.entry_, &call_by_address)) {}
  Function& operator=(Function o) noexcept {
    state_.swap(o.state_);
    std::swap(entry_, o.entry_);
    return *this;
  }
  /// The value of the compiled function. Exceptions of callbacks propagate. Throws Error when empty.
  CALQUE_CALLS_NATIVE_CODE R operator()(A... arguments) const {
    return static_cast<R>(entry_(static_cast<canon_t<A>>(arguments)..., state_.get()));
  }
  /// False if the function is empty or moved-from.
  explicit operator bool() const { return state_ != nullptr; }

 private:
  using Entry = canon_t<R> (*)(canon_t<A>... arguments, const void* state);
  static canon_t<R> call_by_address(canon_t<A>... arguments, const void* state) {
    canon_t<R> result{};
    const void* const block[] = {&arguments..., nullptr};
    detail::call_scalar(state, block, &result);
    return result;
  }

  std::shared_ptr<const detail::ScalarState> state_;
  Entry entry_ = &call_by_address;
};

#undef CALQUE_CALLS_NATIVE_CODE

/// Traces and compiles the lambda for scalars of these types: `cq::compile<double(double, double)>(f)`. Exceptions of
/// the lambda propagate. Throws ShapeError when it returns an array that is not a scalar, CompileError when the graph
/// cannot be compiled.
template <class Signature, class F>
[[nodiscard("it returns a function: call it, as in compile<double(double)>(f)(x)")]]
Function<Signature> compile(F&& function, JitOptions options = {}, Loc loc = Loc::current()) {
  using D = std::decay_t<F>;
  static_assert(detail::ScalarSignature<Signature>::value,
                "calque: compile takes a signature of C++ scalars, as compile<double(double, float)>");
  static_assert(detail::ScalarSignature<Signature>::template returns<D>,
                "calque: the function does not return what the signature says");
  return [&]<class R, class... A>(std::type_identity<R(A...)>) {
    const D f(std::forward<F>(function));
    const auto state = detail::make_function_state(std::move(options), nullptr, loc);
    return [&](const A&... samples) {
      detail::Arguments flat(detail::tree_tag<A...>, samples...);
      const detail::CallContext<D, A...> context{&f, std::tie(samples...)};
      return Function<Signature>(
          detail::compile_scalar(state, flat, context.site(), Type{dtype_of<canon_t<R>>, Shape()}));
    }(A{}...);
  }(std::type_identity<Signature>{});
}

}  // namespace calque
