#pragma once
// Runs device code on the host, thread by thread, with checks that hardware does not make. A launch has no shared
// mutable state, so several may run concurrently.
#include <span>

#include "codegen/gpu/device_code.h"
#include "runtime/simulator/simulated_memory.h"

namespace calque::runtime {

/// Runs all threads of a kernel; `buffers` are its parameters, addresses of `memory`. Blocks run one after the other,
/// the threads of a block in order from one collective to the next, so results are deterministic.
///
/// Throws DeviceError, which names kernel, block, thread and operation, for
///  - accesses to global memory outside every allocation or after its release, and to shared memory beyond the block's;
///  - accesses that are not aligned to their size;
///  - reads of shared memory that no thread has written since the block began;
///  - two threads of a block that access the same memory, one of them writing, without a barrier between them (a warp's
///    barrier orders its own threads; atomic operations do not race with one another), and two blocks that do so at all
///    (for the first few MiB of global memory that a launch accesses);
///  - accesses to shared memory while an asynchronous copy to it has not been waited for;
///  - barriers at which not all threads of the block arrive, and collectives of a warp (shuffles, its barrier, tensor
///    cores) at which not all 32 arrive, or not at the same operation.
/// Stores that were made before the mistake remain in memory.
void launch(const codegen::SimulatedProgram& program, size_t kernel, std::span<void* const> buffers,
            const SimulatedMemory& memory);

}  // namespace calque::runtime
