#pragma once
// The passes over one kernel, from the loops that lowering makes to loops with schedule attributes.
#include <span>
#include <string_view>
#include <vector>

#include "ir/pass_log.h"
#include "kernel/ir/program.h"

namespace calque::kernel {

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
/// Runs a pass over the program's kernels of the origins that it is for.
void run_over_kernels(const KernelPass& pass, Program& program);

}  // namespace calque::kernel
