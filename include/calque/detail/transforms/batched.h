#pragma once
// vmap as a function object on trees of tracers.
#include <string>
#include <utility>
#include <vector>

#include "calque/detail/transforms/batch_axes.h"
#include "calque/detail/transforms/gradient.h"

namespace calque::detail {

template <class F>
struct Batched : Transformed<F> {
  VmapOptions options;

  /// Axes are run-time values, so functions with non-default axes are not shareable.
  bool shares_compiled_forms() const {
    return options.in_axes.empty() && options.out_axes.empty() && options.axis_name.empty() &&
           options.processes == nullptr && shareable(this->function);
  }

  template <class... A>
  body_t<F, seen_t<A>...> operator()(const A&... arguments) const {
    return batch<body_t<F, seen_t<A>...>>(seen(arguments)...);
  }

 private:
  template <class R, class... X>
  R batch(const X&... x) const {
    const FlatArguments flat(x...);
    TracedResult<R> result;
    const FunctionBody<R, F, X...> function(this->function, result, x...);
    TreeShape shape;
    const auto body = [&](std::span<const Handle> inputs, std::vector<Handle>& outputs) {
      function(inputs, outputs);
      shape = shape_of(result.tree(), "the result");
    };
    return result.rebuild(
        emit_vmap(body, flat.handles, flat.shapes, shape, options, {"vmap", this->location, flat.paths}));
  }
};

}  // namespace calque::detail
