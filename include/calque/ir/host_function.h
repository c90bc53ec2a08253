#pragma once
// A C++ function that a graph calls: the `function` attribute of host_call equations.
#include <span>
#include <vector>

#include "calque/ir/any_array.h"
#include "calque/ir/attribute.h"

namespace calque {

/// What host_call runs. Compared by identity. May be called from several threads at once; an exception that it throws
/// reaches the caller of the compiled function.
struct HostFunction : Opaque {
  /// Operands and results are arrays of the host; the results have the types that the equation promises.
  virtual std::vector<AnyArray> call(std::span<const AnyArray> operands) const = 0;
};

}  // namespace calque
