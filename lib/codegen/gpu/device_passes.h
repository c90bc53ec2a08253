#pragma once
// Helpers of the last passes over device code.
#include <utility>
#include <vector>

#include "codegen/device/device_ops.h"

namespace calque::codegen {

/// Alignment of a block's shared memory, in bytes.
constexpr uint64_t kSharedAlignment = 128;

/// The calls of operations of the device, in order.
std::vector<std::pair<llvm::CallInst*, DeviceOp>> device_ops_in(llvm::Function& function);

/// `noalias` says that no other pointer writes a buffer while the kernel runs, so LLVM would move loads across barriers
/// although other threads store before them. Kernels with barriers keep it only on buffers that they never write.
void forget_aliases_at_barriers(llvm::Module& module);

/// Removes declarations of operations that are no longer called.
void remove_device_ops(llvm::Module& module);

}  // namespace calque::codegen
