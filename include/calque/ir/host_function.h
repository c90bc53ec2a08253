#pragma once
// A C++ function called by a graph: the `function` attribute of host_call equations.
#include <span>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/attribute.h"

namespace calque {

/// The function that a host_call equation calls. Compared by identity. May be called from several threads at once;
/// exceptions propagate to the caller of the compiled function.
struct HostFunction : Opaque {
  /// Operands and results are arrays in host memory; the results must have the result types of the equation.
  virtual std::vector<AnyArray> call(std::span<const AnyArray> operands) const = 0;
};

}  // namespace calque
