#pragma once
// How the functions in calque/numpy and calque/nn.h call their type-erased versions.
#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/vocabulary.h"

/// The message of a function whose result's extent depends on values, called with a tracer alone.
#define CALQUE_NEEDS_SIZE(f, example)                                                                              \
  "calque: the extent of " #f "(x) depends on values, and shapes are known while tracing: give it, as in " example \
  "; of "                                                                                                          \
  "an array outside a trace it is not needed"

namespace calque::detail {

using Operands = std::span<const Operand>;

/// The result, of elements R, of a function of these arguments.
template <class R, class F, class... A>
out_t<R, A...> recorded(std::string_view name, Location at, const F& function, const A&... arguments) {
  return apply<out_t<R, A...>>(name, at, function, arguments...);
}
/// The results, of elements R, of a function of one argument.
template <class R, class F, class A>
std::vector<out_t<R, A>> recorded_many(std::string_view name, Location at, const F& function, const A& argument) {
  const Operand operand = operand_of(argument, at);
  return apply_many<out_t<R, A>>(name, at, std::span(&operand, 1), function);
}

/// A list of arrays of one type as operands.
template <class X>
std::vector<Operand> operands_of(const X* first, size_t count, Location at) {
  std::vector<Operand> operands;
  operands.reserve(count);
  for (size_t i = 0; i < count; ++i) operands.push_back(operand_of(first[i], at));
  return operands;
}

/// A fill value as an operand, if there is one.
template <class T>
std::optional<Operand> fill_of(const std::optional<T>& fill) {
  if (!fill) return std::nullopt;
  return literal_operand(*fill);
}
inline const Operand* get(const std::optional<Operand>& fill) { return fill ? &*fill : nullptr; }
/// The first n elements of a vector, on its device.
template <class T>
Array<T> first_elements(const Array<T>& v, int64_t n, Loc loc) {
  return Array<T>::from(v.host(loc).first(static_cast<size_t>(n))).to(v.device(loc), loc);
}

/// The mask of `{.where = mask}`, a bool array that lives during the call, or `cq::all`: every element.
struct Mask {
  Operand operand;
  Mask(const Array<bool>& mask, Loc loc = Loc::current()) : operand(mask.any(loc)) {}
  Mask(const all_t&) : operand(literal_operand(true)) {}
};
/// A mask that is a tracer: a reduction of an array under it is a tracer, too.
struct TracerMask {
  Operand operand;
  TracerMask(const Tracer<bool>& mask) : operand(mask.handle()) {}
};

/// The weights of `{.aweights = w}`, an array or tracer that lives during the call, or none.
struct Weights {
  std::optional<Operand> operand{};
  Weights() = default;
  template <Elem T>
  Weights(const Array<T>& weights, Loc loc = Loc::current()) : operand(weights.any(loc)) {}
  template <Elem T>
  Weights(const Tracer<T>& weights) : operand(weights.handle()) {}
};

}  // namespace calque::detail
