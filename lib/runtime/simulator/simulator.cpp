// Blocks run one after the other in one SimulatedBlock, which reuses fibers and the shadow: they are expensive to
// create.
#include "runtime/simulator/simulator.h"

#include "calque/ir/errors.h"

#include "runtime/simulator/simulated_block.h"

namespace calque::runtime {

void launch(const codegen::SimulatedProgram& program, size_t kernel, std::span<void* const> buffers,
            const SimulatedMemory& memory) {
  const codegen::DeviceFunction& function = program.functions()[kernel];
  if (function.threads < kWarp || function.threads > 1024 || function.threads % kWarp != 0)
    throw DeviceError(function.name + ": a block has a multiple of 32 threads, up to 1024, not " +
                      std::to_string(function.threads));
  SimulatedBlock block(program, kernel, buffers, memory);
  for (int64_t b = 0; b < function.blocks; ++b) block.run(b);
}

}  // namespace calque::runtime
