#pragma once
// Side effects of graphs: printing and calling back into C++. Effects run in the order in which they were recorded,
// each time the compiled function runs, and are kept even if their results are unused.
#include <tuple>
#include <utility>

#include "calque/detail/apply.h"
#include "calque/tree.h"

namespace calque {

/// A format and the line where it was written.
struct PrintFormat {
  std::string text;
  Location location;

  PrintFormat(const char* format, Loc loc = Loc::current()) : text(format), location(loc) {}
  PrintFormat(std::string format, Loc loc = Loc::current()) : text(std::move(format)), location(loc) {}
};

namespace detail {

/// Records the print in the running trace; outside a trace, where all operands have values, prints at once.
void print_operands(const PrintFormat& format, std::span<const Operand> operands);

/// Type-erases a C++ function of arrays.
template <class F, class Out, class... T>
struct HostFunctionOf final : HostFunction {
  F function;
  explicit HostFunctionOf(F f) : function(std::move(f)) {}
  std::string label() const override { return "host function"; }
  std::vector<AnyArray> call(std::span<const AnyArray> operands) const override {
    return call(operands, std::index_sequence_for<T...>{});
  }

 private:
  template <size_t... I>
  std::vector<AnyArray> call(std::span<const AnyArray> operands, std::index_sequence<I...>) const {
    const auto result = function(Array<T>(operands[I])...);
    std::vector<AnyArray> out;
    if constexpr (ArrayLike<decltype(result)>) {
      out.push_back(result.any());
    } else {
      std::apply([&](const auto&... each) { (out.push_back(each.any()), ...); }, result);
    }
    return out;
  }
};

}  // namespace detail

/// Prints a line each time the compiled function runs; each `{}` of the format is replaced by an operand. Outside a
/// trace it prints at once. Throws CompileError when the numbers of `{}` and operands differ.
template <OperandLike... X>
void debug_print(PrintFormat format, const X&... xs) {
  const std::vector<detail::Operand> operands{detail::operand_of(xs, format.location)...};
  detail::print_operands(format, operands);
}

/// Calls `function` with Arrays when the compiled function runs: `host_call(f, cq::spec<float>({3}), x, y)` calls
/// f(const Array<X>&, const Array<Y>&), which returns an Array<float> of shape [3]. It may be called from another
/// thread and should depend on its arguments only. Its exceptions propagate to the caller of the compiled function,
/// which throws ShapeError or DTypeError when the result is not of the given type. Throws LeakedTracerError outside a
/// trace.
template <class F, Elem U, ArrayLike... X>
Tracer<U> host_call(F function, const Spec<U>& result, const X&... xs) {
  using Callee = detail::HostFunctionOf<F, U, elem_t<X>...>;
  const std::vector<detail::Operand> operands{detail::operand_of(xs, Location())...};
  const Type types[] = {{dtype_of<U>, result.shape}};
  return Tracer<U>(
      detail::ops::host_call(std::make_shared<Callee>(std::move(function)), types, operands, Location())[0]);
}
/// As above, for a function that returns a tuple of arrays: `host_call(f, std::tuple{cq::spec<float>({3}), ...}, x)`.
template <class F, Elem... U, ArrayLike... X>
std::tuple<Tracer<U>...> host_call(F function, const std::tuple<Spec<U>...>& results, const X&... xs) {
  using Callee = detail::HostFunctionOf<F, std::tuple<U...>, elem_t<X>...>;
  const std::vector<detail::Operand> operands{detail::operand_of(xs, Location())...};
  const auto types =
      std::apply([](const auto&... spec) { return std::vector<Type>{Type{dtype_of<U>, spec.shape}...}; }, results);
  const std::vector<detail::Handle> handles =
      detail::ops::host_call(std::make_shared<Callee>(std::move(function)), types, operands, Location());
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::tuple<Tracer<U>...>{Tracer<U>(handles[I])...};
  }(std::index_sequence_for<U...>{});
}

}  // namespace calque
