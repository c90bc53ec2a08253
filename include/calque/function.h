#pragma once
// compile<R(A...)>: a lambda of C++ scalars as a typed function, traced and compiled once, then called like a function
// pointer, without flattening, signature lookup or allocation.
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calque/detail/trees/convert.h"
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

namespace detail {

/// What a Function holds: a callable by its signature, for data and for tracers.
template <class R, class... A>
struct HeldFunction {
  virtual ~HeldFunction() = default;
  virtual R call(const A&... arguments) const = 0;
  virtual to_tracer_t<R> record(const to_tracer_t<A>&... arguments) const = 0;
};
/// Throws Error for the use of an empty Function, or of one in a trace that holds a function of data.
[[noreturn]] void throw_empty_function();
[[noreturn]] void throw_not_traceable();

template <class F, class R, class... A>
struct HeldCallable final : HeldFunction<R, A...> {
  explicit HeldCallable(F f) : function(std::move(f)) {}
  R call(const A&... arguments) const override {
    if constexpr (std::same_as<std::remove_cvref_t<std::invoke_result_t<const F&, const A&...>>, R>) {
      return function(arguments...);
    } else {
      return convert<R>(function(arguments...), {});
    }
  }
  to_tracer_t<R> record(const to_tracer_t<A>&... arguments) const override {
    if constexpr (std::derived_from<F, OfCalque>) {
      return traced(function(arguments...));
    } else {
      throw_not_traceable();
    }
  }
  F function;
};

/// A callable that a Function of this signature can hold.
template <class F, class Signature>
inline constexpr bool can_hold = false;
template <class F, class R, class... A>
inline constexpr bool can_hold<F, R(A...)> = requires(const F& f, const A&... a) { f(a...); };
template <class F>
concept NotFunction = std::is_class_v<F> || std::is_pointer_v<F>;

template <class F, class R, class... A>
std::shared_ptr<const HeldFunction<R, A...>> hold(F&& function) {
  using D = std::decay_t<F>;
  constexpr bool takes = can_hold<D, R(A...)>;
  static_assert(takes,
                "calque: the function cannot be called with the arguments of this cq::Function's signature; a lambda "
                "on tracers is wrapped first: cq::jit(lambda)");
  if constexpr (takes) {
    constexpr bool returns = fits<R, std::remove_cvref_t<std::invoke_result_t<const D&, const A&...>>>() == Fit::yes;
    static_assert(returns, "calque: the function returns another type than the signature of this cq::Function says");
    if constexpr (returns) return std::make_shared<const HeldCallable<D, R, A...>>(std::forward<F>(function));
  }
  return nullptr;
}

/// Calls of a Function with tracers.
template <class R, class... A>
struct RecordedCall {
  template <class... X>
  static to_tracer_t<R> of(const std::shared_ptr<const HeldFunction<R, A...>>& held, const X&... arguments) {
    if (held == nullptr) throw_empty_function();
    return held->record(convert<to_tracer_t<A>>(traced(arguments), {})...);
  }
};
template <class... X>
inline constexpr bool any_tracer = (holds_tracer<X> || ...);

}  // namespace detail

/// A function by its signature alone, to be a member or to stand in a header: of jit, of a transformation, of compile,
/// or of data. Arguments and results are any trees of data; results convert as by cq::to. With a Tracer among the
/// arguments it becomes part of the running trace if it holds a function of calque's (else throws Error). Copies share
/// what they hold. Calling an empty one throws Error. Thread-safe.
template <class R, class... A>
class Function<R(A...)> : public detail::OfCalque {
 public:
  Function() = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Function> && detail::NotFunction<std::decay_t<F>>)
  Function(F&& function) : held_(detail::hold<F, R, A...>(std::forward<F>(function))) {}
  /// The value. Exceptions of the function propagate.
  R operator()(const A&... arguments) const {
    if (held_ == nullptr) detail::throw_empty_function();
    return held_->call(arguments...);
  }
  template <class... X>
    requires(detail::any_tracer<X...> && sizeof...(X) == sizeof...(A))
  to_tracer_t<R> operator()(const X&... arguments) const {
    return detail::RecordedCall<R, A...>::of(held_, arguments...);
  }
  /// False if the function is empty.
  explicit operator bool() const { return held_ != nullptr; }

 private:
  std::shared_ptr<const detail::HeldFunction<R, A...>> held_;
};

/// A function of C++ scalars. What `compile` returns is called like a C function, with arguments and result in
/// registers; it cannot be called with tracers.
template <class R, class... A>
  requires(detail::ScalarSignature<R(A...)>::value)
class Function<R(A...)> : public detail::OfCalque {
 public:
  Function() = default;
  explicit Function(detail::ScalarCode code) : state_(std::move(code.state)) {
    if (code.native != nullptr) entry_ = reinterpret_cast<Entry>(const_cast<void*>(code.native));
  }
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Function> && detail::NotFunction<std::decay_t<F>> &&
             !std::same_as<std::remove_cvref_t<F>, detail::ScalarCode>)
  Function(F&& function)
      : Function(std::make_shared<const Held>(detail::hold<F, R, A...>(std::forward<F>(function)))) {}
  Function(const Function&) = default;
  Function(Function&& o) noexcept
      : state_(std::move(o.state_)), held_(std::move(o.held_)), entry_(std::exchange(o.entry_, &call_by_address)) {}
  Function& operator=(Function o) noexcept {
    state_.swap(o.state_);
    held_.swap(o.held_);
    std::swap(entry_, o.entry_);
    return *this;
  }
  /// The value of the function. Exceptions of callbacks propagate. Throws Error when empty.
  CALQUE_CALLS_NATIVE_CODE R operator()(A... arguments) const {
    return static_cast<R>(entry_(static_cast<canon_t<A>>(arguments)..., state_.get()));
  }
  template <class... X>
    requires(detail::any_tracer<X...> && sizeof...(X) == sizeof...(A))
  to_tracer_t<R> operator()(const X&... arguments) const {
    if (state_ != nullptr && held_ == nullptr) detail::throw_not_traceable();
    return detail::RecordedCall<R, A...>::of(held_, arguments...);
  }
  /// False if the function is empty or moved-from.
  explicit operator bool() const { return state_ != nullptr; }

 private:
  using Entry = canon_t<R> (*)(canon_t<A>... arguments, const void* state);
  /// The state of a function that was not compiled for scalars.
  struct Held : detail::ScalarState {
    std::shared_ptr<const detail::HeldFunction<R, A...>> function;
    explicit Held(std::shared_ptr<const detail::HeldFunction<R, A...>> f) : function(std::move(f)) {
      this->call = [](const detail::ScalarState& self, const void* const* arguments, void* result) {
        [&]<size_t... I>(std::index_sequence<I...>) {
          *static_cast<canon_t<R>*>(result) = static_cast<canon_t<R>>(static_cast<const Held&>(self).function->call(
              static_cast<A>(*static_cast<const canon_t<A>*>(arguments[I]))...));
        }(std::index_sequence_for<A...>{});
      };
    }
  };
  explicit Function(std::shared_ptr<const Held> held) : state_(held), held_(held->function) {}
  static canon_t<R> call_by_address(canon_t<A>... arguments, const void* state) {
    canon_t<R> result{};
    const void* const block[] = {&arguments..., nullptr};
    detail::call_scalar(state, block, &result);
    return result;
  }

  std::shared_ptr<const detail::ScalarState> state_;
  std::shared_ptr<const detail::HeldFunction<R, A...>> held_;
  Entry entry_ = &call_by_address;
};

namespace detail {
template <class M>
struct plain_signature;
template <class C, class R, class... A>
struct plain_signature<R (C::*)(A...) const> {
  using type = to_plain_t<R>(to_plain_t<A>...);
};
}  // namespace detail
/// The signature of a lambda whose parameters are typed; one with `auto` has none.
template <class F>
Function(Jitted<F>) -> Function<typename detail::plain_signature<decltype(&F::operator())>::type>;

#undef CALQUE_CALLS_NATIVE_CODE

/// Traces and compiles the lambda for scalars of these types: `cq::compile<double(double, double)>(f)`. With another
/// signature, as cq::Array<float>(cq::Array<float>), the function is that of jit(f, options), traced when it is called.
/// Exceptions of the lambda propagate. Throws ShapeError when it returns an array that is not a scalar, CompileError
/// when the graph cannot be compiled.
template <class Signature, class F>
[[nodiscard("it returns a function: call it, as in compile<double(double)>(f)(x)")]]
Function<Signature> compile(F&& function, JitOptions options = {}, Loc loc = Loc::current()) {
  using D = std::decay_t<F>;
  constexpr bool scalar = detail::ScalarSignature<Signature>::value;
  if constexpr (scalar) {
    static_assert(detail::ScalarSignature<Signature>::template returns<D>,
                  "calque: the function does not return what the signature says");
  } else {
    return Function<Signature>(jit(std::forward<F>(function), std::move(options), loc));
  }
  if constexpr (scalar)
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
