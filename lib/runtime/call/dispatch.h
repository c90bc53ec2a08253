#pragma once
// One call of an entry: argument block on the stack, outputs from the pool, workspace of the thread.
#include <span>

#include "calque/detail/call.h"

#include "compile/executable.h"

namespace calque::runtime {

/// Where an output of the function comes from: most from the executable, some are arguments or captured arrays as they
/// are.
struct OutputSource {
  enum class Kind : uint8_t { computed, argument, constant };
  Kind kind = Kind::computed;
  uint32_t index = 0;
};

/// Memory of donated arguments that takes results.
struct DonatedBuffers {
  std::vector<detail::Storage> outputs;            ///< by output of the executable; empty ones are allocated
  std::vector<std::pair<uint32_t, void*>> inputs;  ///< what the executable reads in place of these leaves
};

/// Runs `executable` on the leaves followed by `hidden` and emplaces the outputs that `sources` describe. Rethrows what
/// a callback threw.
void execute(const Executable& executable, std::span<const detail::LeafRef> leaves, std::span<const AnyArray> hidden,
             std::span<const AnyArray> constants, std::span<const OutputSource> sources, Device device,
             detail::OutputArrays& outputs, const DonatedBuffers& places = {});

/// Runs `executable` on arrays. Returns its outputs.
std::vector<AnyArray> execute(const Executable& executable, std::span<const AnyArray* const> inputs);

/// Runs the entry of `executable` on the inputs and outputs in `block`, which gets the rest of what the entry needs.
/// Rethrows what a callback threw. Throws OutOfMemory.
using Block = detail::StackList<void*, 24>;
void run_entry(const Executable& executable, Block& block);

/// The functions that generated code calls.
const codegen::RuntimeTable& runtime_table();

}  // namespace calque::runtime
