#pragma once
// What the code of a kernel depends on the kind of target for: a CPU, or a GPU.
#include "codegen/emit/reg.h"
#include "kernel/ir/kernel.h"

namespace calque::codegen {

/// The instructions that KernelEmitter leaves to the target.
class TargetEmitter {
 public:
  virtual ~TargetEmitter() = default;
  virtual Reg load(const kernel::Instruction& i) = 0;
  virtual void store(const kernel::Instruction& i) = 0;
  /// A loop of at least one iteration. Defines its results.
  virtual void loop(const kernel::Instruction& i) = 0;
  /// A matrix product with at least one element.
  virtual void contraction(const kernel::Instruction& i) = 0;
  /// The sum of no floats: 0, or -0, which preserves the sign of a sum of negative zeros.
  virtual double empty_sum() const = 0;
};

}  // namespace calque::codegen
