#pragma once
// Builds the kernels of one fusion group.
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernel/ir/dense.h"
#include "kernel/ir/program.h"
#include "kernel/lower/lower_elements.h"
#include "plan/plan.h"

namespace calque::kernel {

/// The memory of a graph value.
struct Binding {
  View view;
  Type type;
  Shape::Dims strides;  ///< in elements
  int64_t alignment = 1;
  bool valid = false;
};

/// A tiled product, or what is computed of its elements, that is stored directly where an update writes it.
struct StoredWindow {
  Value value;   ///< the root of the product's group
  Value result;  ///< of the update
  Shape::Dims starts;
};

/// The memory that a graph's kernels read and write.
struct Memory {
  const Graph& graph;
  const plan::Plan& plan;
  /// By value id; valid for every value that is materialized before it is needed.
  const std::vector<Binding>& bindings;
  /// The memory of a captured array.
  std::function<Binding(const AnyArray&)> constant;
  /// Ids of the results of dynamic_update_slice and scatter whose buffer already holds their first operand: only the
  /// changed elements are written. May be null.
  const std::unordered_set<uint32_t>* updated = nullptr;
  /// By value id: additional buffers to which roots of groups without an anchor op are stored. May be null.
  const std::unordered_multimap<uint32_t, Binding>* also = nullptr;
  const StoredWindow* window = nullptr;
  bool is_updated(Value v) const { return updated && updated->count(v.id()) != 0; }
};

/// A kernel and the views that its buffers are bound to.
struct BoundKernel {
  Kernel kernel;
  std::vector<View> views;
};

/// The limit of copies per kernel.
inline constexpr size_t kMostCopies = 64;

/// One kernel, or several that write disjoint parts of the roots where one kernel would have too many buffers: compile
/// time, here and in LLVM, is quadratic in the number of buffers of a kernel.
std::vector<BoundKernel> build_group(const Memory& memory, const plan::FusionGroup& group);
/// Copies materialized values or literals to other buffers.
std::vector<BoundKernel> build_copy(const Memory& memory, std::span<const Value> values,
                                    std::span<const Binding> destinations);

}  // namespace calque::kernel
