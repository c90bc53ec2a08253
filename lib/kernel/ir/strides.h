#pragma once
// How indices change with a loop's variable: whether the accesses of neighbouring iterations are contiguous.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

/// The definitions of a kernel's values, from which strides follow. The kernel's instructions must stay where they are.
class Strides {
 public:
  explicit Strides(const Kernel& kernel);

  /// Strides along one variable. Remembers what it has computed.
  class Along {
   public:
    Along(const Strides& strides, Id variable) : defined_(strides.defined_), variable_(variable) {}
    /// The change of `id` per iteration of the variable's loop; nothing if it is not constant.
    std::optional<int64_t> operator()(Id id);

   private:
    std::optional<int64_t> compute(const Instruction& definition);

    const std::vector<const Instruction*>& defined_;
    Id variable_;
    std::unordered_map<Id, std::optional<int64_t>> known_;
  };
  Along along(Id variable) const { return Along(*this, variable); }

  struct Accesses {
    int64_t unit = 0, fixed = 0, other = 0;  ///< stride one (or minus one), zero, any other
  };
  /// Counts the loads and stores of a region by their stride along `variable`.
  Accesses accesses(const Region& region, Id variable) const;

 private:
  std::vector<const Instruction*> defined_;  // by value: the instruction whose result it is
};

}  // namespace calque::kernel
