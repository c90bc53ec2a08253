#pragma once
// Builds the kernels of one group of a plan.
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernel/ir/program.h"
#include "kernel/lower/lower_elements.h"
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
  /// Ids of the results of dynamic_update_slice and scatter whose buffer already holds their first operand: only what
  /// changes is written. May be null.
  const std::unordered_set<uint32_t>* updated = nullptr;
  /// By value id: further buffers that roots of kernels without a scan, scatter or cumulative operation are stored to.
  /// May be null.
  const std::unordered_multimap<uint32_t, Binding>* also = nullptr;
  bool is_updated(Value v) const { return updated && updated->count(v.id()) != 0; }
};

/// A kernel and what its buffers are bound to.
struct BoundKernel {
  Kernel kernel;
  std::vector<View> views;
};

/// One kernel, or several that write disjoint parts of the roots where one would have very many buffers: what is done
/// to a kernel, here and in LLVM, takes time quadratic in their number.
std::vector<BoundKernel> build_group(const Memory& memory, const plan::Group& group);
/// Copies values that are in memory, or literals, to other buffers.
std::vector<BoundKernel> build_copy(const Memory& memory, std::span<const Value> values,
                                    std::span<const Binding> destinations);

}  // namespace calque::kernel
