#pragma once
// Schedules the kernels of a program for a CPU: the decisions that depend on its vectors and registers. The passes
// change attributes alone, so a program that is scheduled again gets the attributes of the second target.
#include <span>
#include <string_view>

#include "ir/pass_log.h"
#include "kernel/ir/program.h"
#include "kernel/schedule_cpu/target_limits.h"
#include "kernel/schedule_cpu/vector_loops.h"

namespace calque::kernel {

struct CpuPass {
  PassInfo info;
  void (*run)(const CpuKernel& kernel) = nullptr;
};

/// In order.
std::span<const CpuPass> cpu_passes();
/// Null if there is none of that name.
const CpuPass* find_cpu_pass(std::string_view name);
/// Runs one pass over a kernel whose buffers do not overlap.
void run_cpu_pass(const CpuPass& pass, Kernel& kernel, const TargetLimits& target);
/// Runs one pass over all kernels.
void run_cpu_pass(const CpuPass& pass, Program& program, const TargetLimits& target);

/// Runs the passes that come after `after`, of which the program has the schedule, or all when it is empty. `log` may
/// be null. Throws CompileError if there is no pass `after`.
Program schedule_for_cpu(const Program& program, const TargetLimits& target, PassLog* log, std::string_view after = {});

}  // namespace calque::kernel
