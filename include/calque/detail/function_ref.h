#pragma once
// A reference to a callable, for parameters: a function that type-erases its argument needs one function of code for
// each type that it is called with, where std::function needs ten.
#include <concepts>
#include <type_traits>

// Warns of a variable that refers to a temporary.
#ifdef __clang__
#define CALQUE_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define CALQUE_LIFETIME_BOUND
#endif

namespace calque::detail {

template <class Signature>
class FunctionRef;

/// Refers to the callable, which must outlive it: for parameters alone, never for variables.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::same_as<F, FunctionRef> && std::is_invocable_r_v<R, const F&, A...>)
  FunctionRef(const F& function CALQUE_LIFETIME_BOUND)  // NOLINT(google-explicit-constructor)
      : function_(&function), call_(&call<F>) {}

  R operator()(A... arguments) const { return call_(function_, static_cast<A&&>(arguments)...); }

 private:
  template <class F>
  static R call(const void* function, A... arguments) {
    return (*static_cast<const F*>(function))(static_cast<A&&>(arguments)...);
  }

  const void* function_;
  R (*call_)(const void*, A...);
};

}  // namespace calque::detail

#undef CALQUE_LIFETIME_BOUND
