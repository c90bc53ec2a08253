#pragma once
// Runs device code on the host, thread by thread, and checks what hardware leaves unchecked. A launch touches no state
// but its own, so several may run at once.
#include <span>

#include "codegen/gpu/device_code.h"
#include "runtime/simulator/simulated_memory.h"

namespace calque::runtime {

/// Runs all threads of a kernel; `buffers` are its parameters, addresses of `memory`. Blocks run one after the other,
/// the threads of a block in their order from one meeting to the next, so results are the same from run to run.
///
/// Throws DeviceError, which names kernel, block, thread and operation, for
///  - accesses to global memory outside every allocation or after its release, and to shared memory beyond the block's;
///  - accesses that are not aligned to their size;
///  - reads of shared memory that nobody has written since the block began;
///  - two threads of a block that access the same memory, one of them writing, without a barrier between them (a warp's
///    barrier orders its own threads; atomic operations may meet one another), and two blocks that do so at all (of
///    global memory a few MiB are watched);
///  - shared memory that is touched while an asynchronous copy to it has not been waited for;
///  - barriers at which not all threads of the block arrive, and meetings of a warp (shuffles, its barrier, tensor
///    cores) at which not all 32 do, or not at the same operation.
/// Memory keeps what was stored until then.
void launch(const codegen::SimulatedProgram& program, size_t kernel, std::span<void* const> buffers,
            const SimulatedMemory& memory);

}  // namespace calque::runtime
