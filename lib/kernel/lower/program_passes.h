#pragma once
// The passes over a whole program, from the loops and buffers that lowering makes to scheduled kernels and offsets.
#include <functional>
#include <span>
#include <string_view>

#include "kernel/ir/program.h"
#include "kernel/lower/build.h"

namespace calque::kernel {

struct ProgramPass {
  PassInfo info;
  std::function<void(Program&, const BuildOptions&)> run;
};

/// Skipped where no loop of the entry may run on several threads.
inline constexpr std::string_view kRunLoopsOnThreads = "run-loops-on-threads";

/// In order: the passes over kernels, then those over buffers.
std::span<const ProgramPass> program_passes();

}  // namespace calque::kernel
