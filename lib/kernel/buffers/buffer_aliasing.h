#pragma once
// Buffer aliasing of outputs and donated inputs, of operands and results of collectives, and of the carries of a loop
// of the entry function. A body is built as though each carry had two buffers, one that it is read from and one that
// its next value is written to. Then, from the finished steps alone, the two are merged wherever no read comes after
// the overwriting store; the other carries are double buffered: their two buffers are swapped after every iteration.
// Carries that take the values of each other rotate through their buffers. Only a carry of which the body changes a few
// elements, and reads others after that, is copied.
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"

namespace calque::kernel {

/// Visits the views of the steps and of the steps nested in them.
void for_each_view(std::vector<Step>& steps, const std::function<void(View&)>& visit);

/// Redirects every view of a buffer in `targets` to the slice of another buffer that is given there, or to those that
/// take turns there.
void redirect_views(std::vector<Step>& steps, const std::unordered_map<int32_t, View>& targets);

/// The kernels of the steps, and of those nested in them, rely on no more than this alignment in bytes, or that of the
/// elements, in a buffer that is about to get other memory, and in the carries of loops that end in it.
void limit_alignment(Program& program, const std::vector<Step>& steps, int32_t buffer, int64_t alignment);

/// Gives the results of collectives the memory of their operands, where nothing reads those later and the call allows
/// it. Requires carries without buffers of their own. `alignment`: that of inputs and outputs.
void reuse_operands(Program& program, int64_t alignment);

/// Assigns buffers to the carries of all loops (Step::carries), the innermost first. A carry that is updated
/// (Carry::updates) and read after that is copied before.
void alias_carries(Program& program);

/// Gives outputs the memory of donated inputs of the same size, preferably of the same type, where nothing reads the
/// input after the output is written, and to the result of a collective between the two. `across_dtypes`: also where
/// the types differ.
void reuse_donated(Program& program, bool across_dtypes, int64_t alignment = 1);

/// Adds a remark to Program::copied, once and up to a limit; nothing if it is empty.
void list_copy(Program& program, std::string remark);
/// Lists the copies of whole arrays that are left: their source and destination are not the same memory.
void list_copies(Program& program);

/// Removes buffers, except inputs, outputs and constants, and kernels that no step uses.
void drop_unused(Program& program);

}  // namespace calque::kernel
