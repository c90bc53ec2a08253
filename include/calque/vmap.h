#pragma once
// vmap: a function of one example becomes a function of a batch.
#include <type_traits>
#include <utility>

#include "calque/detail/transforms/batch_axes.h"
#include "calque/detail/transforms/batched.h"

namespace calque {

/// f applied to all examples of a batch at once, without a loop: arguments have the batch dimension at `in_axes`,
/// results at `out_axes`. Inside f shapes are those of one example. Throws ShapeError when the batch extents of two
/// leaves differ (naming both), an axis is out of range, the entries do not fit the arguments, no argument is batched,
/// or a result with `none` depends on the example.
///     vmap([](auto a, auto b) { return dot(a, b); })(D{{1, 2}, {3, 4}}, D{{1, 1}, {10, 10}})  // [ 3. 70.]
template <class F>
[[nodiscard("it returns a function: call it, as in vmap(f)(x)")]]
auto vmap(F&& function, VmapOptions options = {}, Loc loc = Loc::current()) {
  return detail::make_transformation(
      detail::Batched<std::decay_t<F>>{{std::forward<F>(function), loc}, std::move(options)}, "vmap");
}

}  // namespace calque
