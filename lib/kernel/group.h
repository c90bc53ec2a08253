#pragma once
// Builds the kernel of one group of a plan.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kernel/elements.h"
#include "kernel/program.h"
#include "plan/plan.h"

namespace calque::kernel {

/// Where a value of a graph lives.
struct Binding {
  View view;
  Type type;
  Shape::Dims strides;  ///< in elements
  int64_t alignment = 1;
  bool valid = false;
};

/// True when the strides are those of row-major order, dimensions of extent 1 aside.
bool is_dense(const Shape& shape, const Shape::Dims& strides);

/// The memory that a graph's kernels read and write.
struct Memory {
  const Graph& graph;
  const plan::Plan& plan;
  /// By value id; valid for everything that is in memory by the time it is needed.
  const std::vector<Binding>& bindings;
  /// Memory of a captured array.
  std::function<Binding(const AnyArray&)> constant;
  /// Results of dynamic_update_slice and scatter whose place already holds their first operand: only what changes is
  /// written.
  std::vector<Value> updated = {};
  /// Further places that want roots of kernels without a scan, scatter or cumulative operation.
  std::vector<std::pair<Value, Binding>> also = {};
  bool is_updated(Value v) const { return std::find(updated.begin(), updated.end(), v) != updated.end(); }
};

/// A kernel and what its buffers are bound to.
struct BoundKernel {
  Kernel kernel;
  std::vector<View> views;
};

BoundKernel build_group(const Memory& memory, const plan::Group& group);
/// Copies values that are in memory, or literals, to other places.
BoundKernel build_copy(const Memory& memory, std::span<const Value> values, std::span<const Binding> destinations);

}  // namespace calque::kernel
