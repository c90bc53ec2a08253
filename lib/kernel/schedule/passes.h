#pragma once
// The passes over one kernel, from the loops that lowering makes to loops with schedule attributes.
#include <span>
#include <string_view>
#include <vector>

#include "ir/pass_log.h"
#include "kernel/ir/program.h"

namespace calque::kernel {

/// What a kernel was lowered from. Copies have no reductions, and the loops of an anchor op are not fused with others.
enum class KernelOrigin : uint8_t { pointwise = 1, anchor_op = 2, copy = 4 };

struct KernelPass {
  PassInfo info;
  unsigned origins = 0;  ///< a set of KernelOrigin
  /// `views`: what the kernel's buffers are bound to.
  void (*run)(Kernel& kernel, const std::vector<View>& views) = nullptr;
};

/// In order.
std::span<const KernelPass> kernel_passes();
/// Throws CompileError, which lists the names, if there is none of that name.
const KernelPass& find_kernel_pass(std::string_view name);
/// Runs the passes for kernels of this origin.
void run_kernel_passes(Kernel& kernel, const std::vector<View>& views, KernelOrigin origin, PassLog* log);

}  // namespace calque::kernel
