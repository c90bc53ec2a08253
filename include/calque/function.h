#pragma once
// compile<R(A...)>: a lambda of C++ scalars as a typed function, traced and compiled once, then called like a function
// pointer: no flattening, no signature, no allocation.
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calque/jit.h"

namespace calque {

template <class Signature>
class Function;

namespace detail {

/// Throws: the code of a function that has none.
void call_nothing(const void* owner, const void* const* arguments, void* result);

/// The entry of a compiled scalar function and what it needs. Arguments and result are single elements.
struct ScalarCode {
  using Call = void (*)(const void* owner, const void* const* arguments, void* result);
  std::shared_ptr<const void> owner;
  /// Reads the arguments, writes the result; throws what a callback threw.
  Call call = &call_nothing;

  ScalarCode() = default;
  ScalarCode(std::shared_ptr<const void> o, Call c) : owner(std::move(o)), call(c) {}
  ScalarCode(const ScalarCode&) = default;
  ScalarCode(ScalarCode&& o) noexcept : owner(std::move(o.owner)), call(std::exchange(o.call, &call_nothing)) {}
  ScalarCode& operator=(ScalarCode o) noexcept {
    owner.swap(o.owner);
    std::swap(call, o.call);
    return *this;
  }
};
ScalarCode compile_scalar(const std::shared_ptr<const FunctionState>& function, Arguments& arguments,
                          const CallSite& site, const Type& result);

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

/// A compiled function of C++ scalars. Copies share the code; an empty or moved-from one throws Error when it is
/// called. Thread-safe.
template <class R, class... A>
class Function<R(A...)> {
 public:
  Function() = default;
  explicit Function(detail::ScalarCode code) : code_(std::move(code)) {}
  R operator()(A... arguments) const {
    R result;
    const void* block[sizeof...(A) + 1] = {&arguments..., nullptr};
    code_.call(code_.owner.get(), block, &result);
    return result;
  }
  explicit operator bool() const { return code_.owner != nullptr; }

 private:
  detail::ScalarCode code_;
};

/// Traces and compiles the lambda for scalars of these types: `cq::compile<double(double, double)>(f)`.
/// Throws what the lambda throws, ShapeError when it returns an array, CompileError.
template <class Signature, class F>
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
