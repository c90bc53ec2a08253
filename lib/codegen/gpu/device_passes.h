#pragma once
// What the last passes over device code share.
#include <utility>
#include <vector>

#include "codegen/gpu/device_ops.h"

namespace calque::codegen {

/// Of a block's shared memory, in bytes.
constexpr uint64_t kSharedAlignment = 128;

/// The calls of operations of the device, in order.
std::vector<std::pair<llvm::CallInst*, DeviceOp>> device_ops_in(llvm::Function& function);

/// `noalias` says that nobody else writes a buffer while the kernel runs, so LLVM would keep loads across barriers,
/// behind which other threads have written. Kernels with barriers promise it only of buffers that they never write.
void forget_aliases_at_barriers(llvm::Module& module);

/// Removes declarations of operations that nobody calls any more.
void remove_device_ops(llvm::Module& module);

}  // namespace calque::codegen
