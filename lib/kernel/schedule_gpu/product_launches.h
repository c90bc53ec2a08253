#pragma once
// The launches of a product that a library is to compute: its computed factors, the product alone, what follows it.
#include <map>
#include <utility>
#include <vector>

#include "kernel/schedule_gpu/launch_builder.h"
#include "kernel/schedule_gpu/stages.h"

namespace calque::kernel {

class ProductLaunches {
 public:
  /// Factors and products that pass from launch to launch are added to `scratch`.
  ProductLaunches(const Kernel& kernel, const Stages& stages, std::vector<Type>& scratch)
      : k_(kernel), stages_(stages), scratch_(scratch) {}
  /// One launch, of a phase that the stages have for the outermost instruction.
  void emit(LaunchBuilder& b, const Instruction& outermost, Phase phase);

 private:
  struct Arrays;
  int32_t scratch_of(const Arrays& own, Phase what);
  Instruction computed_factor(const Arrays& own, Phase what);
  Instruction product_alone(const Arrays& own);
  Instruction epilogue(const Arrays& own);

  const Kernel& k_;
  const Stages& stages_;
  std::vector<Type>& scratch_;
  std::map<std::pair<const Instruction*, Phase>, int32_t> arrays_;
};

}  // namespace calque::kernel
