#pragma once
// One call of an entry: the argument block is on the stack, outputs come from the pool, the workspace is per thread.
#include <span>

#include "calque/detail/call.h"

#include "compile/executable.h"

namespace calque::runtime {

/// Where an output of the function comes from: computed by the executable, or an argument or captured array returned
/// unchanged.
struct OutputSource {
  enum class Kind : uint8_t { computed, argument, constant };
  Kind kind = Kind::computed;
  uint32_t index = 0;
};

/// Memory of donated arguments that results reuse.
struct DonatedBuffers {
  std::vector<detail::Storage> outputs;            ///< by output of the executable; empty: allocate
  std::vector<std::pair<uint32_t, void*>> inputs;  ///< buffers that the executable reads in place of these leaves
};

/// Runs `executable` on the leaves followed by the lifted constants and emplaces the outputs that `sources` describe.
/// Rethrows an exception thrown by a callback.
void execute(const Executable& executable, std::span<const detail::LeafRef> leaves, std::span<const AnyArray> lifted,
             std::span<const AnyArray> constants, std::span<const OutputSource> sources, Device device,
             detail::OutputArrays& outputs, const DonatedBuffers& donated = {});

/// The same for an executable with results behind those that `sources` describe, which are numbers and are written to
/// `status`.
void execute_with_status(const Executable& executable, std::span<const detail::LeafRef> leaves,
                         std::span<const AnyArray> lifted, std::span<const AnyArray> constants,
                         std::span<const OutputSource> sources, Device device, detail::OutputArrays& outputs,
                         std::span<void* const> status);

/// Runs `executable`, which has an entry for the host, on the inputs at `block`, followed by the lifted constants, and
/// emplaces its outputs, arrays on `device`. Rethrows an exception thrown by a callback.
using Block = detail::StackList<void*, 24>;
void execute_directly(const Executable& executable, Block& block, std::span<const AnyArray> lifted, Device device,
                      detail::OutputArrays& outputs);

/// The same for an executable with one output, which is returned.
AnyArray execute_directly_for_one(const Executable& executable, Block& block, std::span<const AnyArray> lifted,
                                  Device device);

/// Runs `executable` on arrays, which are copied to the device it was compiled for, and returns its outputs.
std::vector<AnyArray> execute(const Executable& executable, std::span<const AnyArray* const> inputs,
                              Device device = {});

/// Runs the entry of `executable` on the inputs and outputs in `block`, to which the constants and the workspace are
/// appended. Rethrows an exception thrown by a callback. Throws OutOfMemory.
void run_entry(const Executable& executable, Block& block);

/// The functions that generated code calls.
const codegen::RuntimeTable& runtime_table();

}  // namespace calque::runtime
