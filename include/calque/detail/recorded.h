#pragma once
// How the functions in calque/numpy and calque/nn.h call their type-erased versions.
#include <array>
#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calque/detail/apply.h"
#include "calque/detail/vocabulary.h"

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

/// The mask of `{.where = mask}`, which is a bool array or tracer that lives during the call.
struct Mask {
  Operand operand;
  Mask(const Array<bool>& mask, Loc loc = Loc::current()) : operand(mask.any(loc)) {}
  Mask(const Tracer<bool>& mask) : operand(mask.handle()) {}
};

}  // namespace calque::detail
