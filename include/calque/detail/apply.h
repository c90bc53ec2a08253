#pragma once
// How named functions forward to their type-erased versions: recorded if an argument is a tracer, else run at once. The
// public templates only compute result types.
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/array.h"
#include "calque/detail/function_ref.h"
#include "calque/tracer.h"

namespace calque::detail {

/// A type-erased function of some operands.
using Erased = FunctionRef<Handle(std::span<const Operand>)>;
using ErasedMany = FunctionRef<std::vector<Handle>(std::span<const Operand>)>;

/// Runs a function of arrays and literals at once (run_arrays). Throws ConcretizationError for a tracer operand.
AnyArray run_operands(std::string_view name, std::span<const Operand> operands, Erased function, Location at);
std::vector<AnyArray> run_operands_many(std::string_view name, std::span<const Operand> operands, ErasedMany function,
                                        Location at);

/// Applies the function to operands. Out is Tracer<R>, which records, or Array<R>, which runs at once.
template <class Out, class F>
Out apply_to(std::string_view name, Location at, std::span<const Operand> operands, const F& function) {
  if constexpr (TracerLike<Out>) {
    return Out(function(operands));
  } else {
    return Out(run_operands(name, operands, function, at));
  }
}

/// As `apply_to`, for arguments of any operand types.
template <class Out, class F, class... A>
Out apply(std::string_view name, Location at, const F& function, const A&... arguments) {
  return [&](const auto&... held) {
    const Operand operands[] = {operand_of(held, at)...};
    return apply_to<Out>(name, at, operands, function);
  }(held_operand(arguments)...);
}

/// For functions with any number of results of one type.
template <class Out, class F>
std::vector<Out> apply_many(std::string_view name, Location at, std::span<const Operand> operands, const F& function) {
  std::vector<Out> out;
  if constexpr (TracerLike<Out>) {
    for (Handle h : function(operands)) out.push_back(Out(h));
  } else {
    for (AnyArray& a : run_operands_many(name, operands, function, at)) out.push_back(Out(std::move(a)));
  }
  return out;
}

/// For functions with results of several types, which are all tracers or all arrays.
template <class... Out, class F, class... A>
std::tuple<Out...> apply_tuple(std::string_view name, Location at, const F& function, const A&... arguments) {
  const auto unpack = [](auto results) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Out...>(Out(std::move(results[I]))...);
    }(std::index_sequence_for<Out...>{});
  };
  return [&](const auto&... held) {
    const Operand operands[] = {operand_of(held, at)...};
    if constexpr ((TracerLike<Out> && ...)) {
      return unpack(function(std::span<const Operand>(operands)));
    } else {
      return unpack(run_operands_many(name, operands, function, at));
    }
  }(held_operand(arguments)...);
}

/// A function of one operand without parameters.
template <class Out, class X>
Out apply_unary(std::string_view name, UnaryFunction function, const X& x, Location at) {
  if constexpr (TracerLike<Out>) {
    return Out(function(x.handle(), at));
  } else {
    return Out(run_unary(name, function, operand_of(x, at), at));
  }
}

/// A function of two operands without parameters.
template <class Out, class X, class Y>
Out apply_binary(std::string_view name, BinaryFunction function, const X& x, const Y& y, Location at) {
  const auto& held_x = held_operand(x);
  const auto& held_y = held_operand(y);
  const Operand a = operand_of(held_x, at), b = operand_of(held_y, at);
  if constexpr (TracerLike<Out>) {
    return Out(function(a, b, at));
  } else {
    return Out(run_binary(name, function, a, b, at));
  }
}

}  // namespace calque::detail
