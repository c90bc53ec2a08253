#pragma once
// The batch axes of the arguments and results of a function.
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calque/index.h"
#include "calque/ir/collectives.h"

namespace calque {

/// The batch axis of a tree: one axis for all its leaves (negative: from the end), `none` if the tree is the same for
/// all examples, or a list with one entry for each part of the tree that holds arrays.
struct AxisSpec {
  std::optional<int> axis;
  std::vector<AxisSpec> sub;
  AxisSpec(int a) : axis(a) {}
  AxisSpec(none_t) {}
  AxisSpec(std::initializer_list<AxisSpec> parts) : sub(parts) {}
};

/// Axes of the arguments and results of `vmap`.
struct VmapOptions {
  /// One entry for each argument; empty: 0 for all. Entries of arguments without arrays are ignored.
  std::vector<AxisSpec> in_axes{};
  /// One entry for the whole result, or one for each of its parts; empty: 0. A leaf with `none` must be the same for
  /// all examples.
  std::vector<AxisSpec> out_axes{};
  /// The name by which collective operations inside the function (`psum` and its kind) find the axis. Empty: they do
  /// not.
  std::string axis_name{};
  /// The processes over which the axis is sharded: each calls the function with as many examples as the others, which
  /// follow one another in order of rank. Collective operations then find the axis by any name, if it has none.
  std::shared_ptr<const ProcessGroup> processes{};
};

}  // namespace calque
